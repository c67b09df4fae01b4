"""Books as they come: a reader for each kind of file, which takes the text out of it and says where its chapters are.

The readers need the extra `books`; each imports its package when it is called.
"""
