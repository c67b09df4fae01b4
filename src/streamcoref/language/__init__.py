"""What the package knows of English: words, names, who says what, labels of entities, names for pronouns.

`english.py` holds the lists of words. What trained features read of a text (`names.py`, `voices.py`) is given a version
of them; `labels.py`, `running_name.py` and `resolved.py` are for people. Only `resolved.py` and its parts are not among
the names here: they need `Document`, which needs labels.
"""

from streamcoref.language.labels import clean_name, is_pronoun, readable_name
from streamcoref.language.lexicon import Gender, Lexicon
from streamcoref.language.names import MentionWords, is_name, read_mention, without_possessive
from streamcoref.language.quotations import Quotations
from streamcoref.language.running_name import RunningName
from streamcoref.language.trackers import WordTracker
from streamcoref.language.versions import LATEST, LEXICONS, lexicon
from streamcoref.language.voices import NARRATOR, Voices

__all__ = [
    "LATEST",
    "LEXICONS",
    "NARRATOR",
    "Gender",
    "Lexicon",
    "MentionWords",
    "Quotations",
    "RunningName",
    "Voices",
    "WordTracker",
    "clean_name",
    "is_name",
    "is_pronoun",
    "lexicon",
    "read_mention",
    "readable_name",
    "without_possessive",
]
