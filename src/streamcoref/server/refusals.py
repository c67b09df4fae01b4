"""What a server says no with: a status, a sentence, and when to come again. What the library tells a Python caller to
do is said here as a caller over HTTP can do it."""

from __future__ import annotations

import sqlite3

from starlette.exceptions import HTTPException

from streamcoref.errors import Remedy, StreamcorefError

SENTENCES = {
    Remedy.ENCODING: "name the encoding it has, as in ?encoding=cp1252",
    Remedy.UTF_16: "add ?encoding=utf-16",
    Remedy.UTF_16_LE: "add ?encoding=utf-16-le",
    Remedy.UTF_16_BE: "add ?encoding=utf-16-be",
    Remedy.BAD_BYTES: "name the encoding with ?encoding=, or go on with ?errors=replace",
    Remedy.KNOWN_ENCODING: "give an encoding of text, such as utf-8, utf-16, latin-1 or cp1252",
    Remedy.READ_AS: "say what it is with ?format=",
    Remedy.ONE_BY_ONE: "send them one by one",
    Remedy.MAKE_ROOM: "it goes on by itself when there is room",
    Remedy.MEND_AND_GO_ON: "it goes on by itself when that is mended",
}
UNAVAILABLE, NO_ROOM = 503, 507


class Refusal(HTTPException):
    """A request that is not done, and why."""

    def __init__(self, status: int, sentence: str, retry_after: int | None = None) -> None:
        headers = None if retry_after is None else {"Retry-After": str(retry_after)}
        super().__init__(status, sentence, headers)


def sentence(error: StreamcorefError) -> str:
    """The error as a caller can act on it."""
    if error.remedy is None or error.remedy not in SENTENCES:
        return error.problem
    return f"{error.problem}; {SENTENCES[error.remedy]}"


def unknown(what: str) -> Refusal:
    """Also for what is there and somebody else's: nobody learns of it."""
    return Refusal(404, f"there is no such {what}")


def cannot_save(error: sqlite3.Error | OSError) -> Refusal:
    """The disk is full, or worse."""
    said = getattr(error, "strerror", None) or str(error)
    return Refusal(NO_ROOM, f"the server cannot save just now: {said}", 30)
