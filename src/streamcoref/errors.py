"""Errors that are the user's to mend: each is one sentence saying what was wrong, where, and what to do."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from streamcoref._wording import escaped


class Remedy(Enum):
    """What a caller can do about an error where that is an argument, said for Python.

    Whoever speaks otherwise has a table of its own, with one sentence a member: for the command line `cli/remedies.py`.
    """

    # files to write
    REPLACE = "give force=True to replace it"
    WRITE_INTO = "give force=True to write into it"
    # texts to read
    ENCODING = 'name the encoding it has, as in encoding="cp1252"'
    UTF_16 = 'give encoding="utf-16"'
    UTF_16_LE = 'give encoding="utf-16-le"'
    UTF_16_BE = 'give encoding="utf-16-be"'
    BAD_BYTES = 'name the encoding it has, or give errors="replace" to go on'
    KNOWN_ENCODING = 'give an encoding of text, such as "utf-8", "utf-16", "latin-1" or "cp1252"'
    FORMAT = "name its format with format="
    READ_AS = "say with format= what the text to be resolved is written in"
    # stores
    MAKE_STORE = "make one with streamcoref.resolve_file(text, store)"
    ANOTHER_STORE = "name another file, or give force=True to replace it"
    MAKE_ANEW = "give force=True to make it anew"
    OTHER_RELEASE = "give force=True to make it anew, or use the release that made it"
    START_OVER = "give force=True to start over"
    AS_BEFORE = "give what was given before, name another store, or give force=True to start over"
    FROM_THE_BEGINNING = "give the text from its beginning, or force=True to start over"
    LET_FINISH = "let it be finished and give force=True to start over"
    ONE_BY_ONE = "resolve them one by one with Resolver.resolve(document=...)"
    GO_ON = "call the same again to go on"
    MEND_AND_GO_ON = "mend that and call the same again: it goes on from what is stored"
    MAKE_ROOM = "make room and call the same again: it goes on from what is stored"
    # training, scoring, converting
    RESUME = "give resume=True to go on with it, or choose another run.folder"
    ALLOW_MISSING = "add what is missing, or give allow_missing=True to count it against the score"
    ENCODER = "give the folder of one as encoder"
    NO_ENCODER = "leave out encoder"
    TOKENIZER = "give the folder of the right one as tokenizer; all published models use that of bert-base-cased"
    NO_PRESET = "leave out preset, which is for encoders without a model"
    KIND = 'give kind="incremental" or kind="baseline"'
    # serving
    KEYS_OR_OPEN = "give keys, or open=True to let everybody in"


class StreamcorefError(Exception):
    """Base of every error we raise on purpose. The command line prints it and exits with status 2.

    `problem` says what was wrong and where, `remedy`, if there is one, which argument would mend it. Names of files may
    hold anything; control characters are escaped, so that a message is one line and no terminal obeys it.
    """

    def __init__(self, problem: str, remedy: Remedy | None = None) -> None:
        problem = escaped(problem)
        super().__init__(problem if remedy is None else f"{problem}; {remedy.value}")
        self.problem, self.remedy = problem, remedy


class LanguageWarning(UserWarning):
    """A text that is not English, by its first words: said once for each text, which is read all the same."""

    def __init__(self) -> None:
        super().__init__("this does not look like English, the only language that the models know; expect no sense")


class StoppedError(StreamcorefError):
    """Stopped because somebody asked for it; everything read so far is saved."""


class InputError(StreamcorefError):
    """Something wrong in a file: `path:line: message`."""

    def __init__(
        self,
        message: str,
        path: str | Path | None = None,
        line: int | None = None,
        remedy: Remedy | None = None,
    ) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(f"{place}{message}", remedy)
        self.message, self.path, self.line = message, path, line
