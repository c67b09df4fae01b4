"""Answers as they look, for the page that describes the server: those of the bundled model to three sentences."""

from __future__ import annotations

from typing import Any

Values = dict[str, Any]
_STREAM = "0f5a3c0e9d7b4b0c8a1e2f3d4c5b6a79"
_JOB = "5b1e7c2a90d84f6eb3a2c1d0e9f87654"


def _mention(text: str, characters: tuple[int, int], words: tuple[int, int], sentence: int, score: float) -> Values:
    place: Values = {"text": text, "start": characters[0], "end": characters[1]}
    return place | {"word_start": words[0], "word_end": words[1], "sentence": sentence, "score": score}


_ANNA = _mention("Anna", (0, 4), (0, 1), 0, 1.0)
_HER = _mention("her", (46, 49), (13, 14), 1, 0.9963)
_SHE = _mention("She", (51, 54), (15, 16), 2, 0.9996)
_CAPTAIN = _mention("the captain", (9, 20), (2, 4), 0, 0.9674)
_HE = _mention("he", (35, 37), (10, 11), 1, 0.9909)
_PERSON: Values = {"type": "person", "type_score": 0.9988}
_TEXT = 'Anna saw the captain. "Stay here," he said to her. She laughed.'

ERROR: Values = {"error": "there is no such stream"}
MENTION = _ANNA
ENTITY: Values = {"id": 0, "name": "Anna", "size": 3, **_PERSON, "mentions": [_ANNA, _HER, _SHE]}
SECTION: Values = {"title": "Chapter 1", "level": 1, "start": 0, "end": 5210}
QUOTATION: Values = {
    "word_start": 5,
    "word_end": 10,
    "start": 22,
    "end": 34,
    "speaker": 1,
    "addressee": None,
    "kind": "pronoun",
    "score": 0.84,
}
DOCUMENT: Values = {
    "key": "text",
    "genre": None,
    "text": _TEXT,
    "words": 18,
    "sentences": 3,
    "sections": [],
    "entities": [
        ENTITY,
        {
            "id": 1,
            "name": "the captain",
            "size": 2,
            "type": "person",
            "type_score": 0.9997,
            "mentions": [_CAPTAIN, _HE],
        },
    ],
    "quotations": [QUOTATION],
}
SPLIT: Values = {
    "doc_key": "text",
    "sentences": [["Anna", "left", "."]],
    "clusters": [],
    "text": "Anna left.",
    "offsets": [[0, 4], [5, 9], [9, 10]],
}
STARTED: Values = {"document": _STREAM, "event": "entity_started", "entity": 0, "mention": _ANNA}
FINISHED: Values = {"document": _STREAM, "event": "entity_finished", "entity": 0, "name": "Anna", "size": 3} | _PERSON
FINISHED |= {"first": _ANNA, "last": _SHE}
STREAM: Values = {"id": _STREAM, "position": 63, "safe_position": 63, "calls": 2, "safe_calls": 2}
STREAM |= {"words": 18, "alive": 2, "closed": False}
JOB: Values = {"id": _JOB, "name": "book.epub", "state": "reading", "error": None, "characters": 262144}
JOB |= {"characters_in_all": 1048576, "words": 48210, "entities": 911, "made": 1767225600.0}
JOB_ENTITY: Values = {"id": 0, "name": "Anna", "size": 3, "start": 0, "end": 4, "word_start": 0, "word_end": 1}
JOB_ENTITY |= {**_PERSON, "finished": True}


def page(name: str, one: Values) -> Values:
    """The only page of a list with one in it."""
    return {name: [one], "all": 1, "offset": 0}


REMOVED: Values = {"id": _JOB, "state": "cancelled"}
PART: Values = {"start": 0, "end": 21, "text": "Anna saw the captain."}
