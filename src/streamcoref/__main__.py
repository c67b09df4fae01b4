"""`python -m streamcoref` is the command `streamcoref`."""

from streamcoref.cli import main

if __name__ == "__main__":
    main()
