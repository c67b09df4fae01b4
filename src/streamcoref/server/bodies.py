"""What requests hold, checked; with examples for the page that describes the server."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from streamcoref._inputs import with_speakers
from streamcoref.checked import Options
from streamcoref.errors import StreamcorefError

Words = list[list[str]]
Speakers = str | list[str | list[str]]
_WORDS = "A list of words for each sentence."
_OPTIONS = "Those of `ResolveOptions`: singletons, min_score, scheme, genre, evict, merge, revive, passes."


class Told(Options):
    """Speakers that fit the words. Mistakes of a caller are found before a stream has read anything."""

    words: Words | None = Field(None, description=_WORDS)

    def check_speakers(self, speakers: Speakers | None) -> None:
        if speakers is not None and self.words is None and not isinstance(speakers, str):
            raise ValueError("a list of speakers goes with words")
        if self.words is not None:
            try:
                with_speakers(self.words, speakers)
            except StreamcorefError as error:
                raise ValueError(str(error)) from None


class ResolveItem(Told):
    """One text: `text`, or `words` with `speakers`, or `turns`."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Anna saw the captain. He waved to her."}]})

    text: str | None = Field(None, description="A text as it is.")
    speakers: Speakers | None = Field(None, description="Of words: a name for all, a sentence, or a word.")
    turns: list[tuple[str | None, str]] | None = Field(None, description="Pairs of speaker and text.")
    key: str = Field("text", description="What the answer calls the text.")

    @model_validator(mode="after")
    def _one_input(self) -> Self:
        if sum(given is not None for given in (self.text, self.words, self.turns)) != 1:
            raise ValueError("give one of text, words and turns")
        if self.speakers is not None and self.words is None:
            raise ValueError("speakers go with words; for text give turns, pairs of speaker and text")
        self.check_speakers(self.speakers)
        return self

    def arguments(self) -> dict[str, Any]:
        """Those of `Resolver.resolve`."""
        names = ("text", "words", "speakers", "turns", "key")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @property
    def characters(self) -> int:
        """Of the text; words are counted with a blank after each."""
        if self.words is not None:
            return sum(len(word) + 1 for sentence in self.words for word in sentence)
        if self.turns is not None:
            return sum(len(text) + 1 for _, text in self.turns)
        return len(self.text or "")


class ResolveBody(ResolveItem):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "Anna saw the captain. He waved to her.", "key": "harbour"},
                {"words": [["Anna", "left", "."], ["She", "was", "late", "."]], "options": {"singletons": True}},
                {"turns": [["Anna", "Have you seen the ship?"], ["Ben", "It left without you."]]},
            ]
        }
    )

    options: dict[str, Any] = Field(default_factory=dict, description=_OPTIONS)


class BatchBody(Options):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"texts": [{"text": "Anna left. She was late.", "key": "one"}]}]}
    )

    texts: list[ResolveItem]
    options: dict[str, Any] = Field(default_factory=dict, description=_OPTIONS)


class StreamBody(Options):
    """A new stream, or with a `state` one that goes on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"options": {"singletons": True}}]})

    options: dict[str, Any] = Field(default_factory=dict, description=_OPTIONS)
    state: str | None = Field(None, description="What /state gave, in base64; its options are those of the stream.")

    def state_bytes(self) -> bytes | None:
        if self.state is None:
            return None
        try:
            return base64.b64decode(self.state, validate=True)
        except (binascii.Error, ValueError):
            raise StreamcorefError("the state is not base64") from None


class CallBody(Options):
    """A call that changes a stream. With its number it can be sent again without being done twice."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"call": 3}]})

    call: int | None = Field(
        None, ge=1, description="The number of this call: one more than `calls` of the latest answer. May be left out."
    )


class PreviewBody(Told):
    """More text, or more words."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "He waved to", "speaker": "Ben"}]})

    text: str | None = Field(None, description="More text. A speaker other than before ends the sentence.")
    speaker: Speakers | None = Field(None, description="Of a text one name; of words also a name a sentence or word.")

    @model_validator(mode="after")
    def _one_input(self) -> Self:
        if (self.text is None) == (self.words is None):
            raise ValueError("give one of text and words")
        self.check_speakers(self.speaker)
        return self

    @property
    def characters(self) -> int:
        if self.words is not None:
            return sum(len(word) + 1 for sentence in self.words for word in sentence)
        return len(self.text or "")


class FeedBody(CallBody, PreviewBody):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"text": "Anna saw the captain. "}, {"text": "He waved.", "speaker": "Ben", "call": 2}]
        }
    )

    end_turn: bool = Field(False, description="Whether word and sentence end here, as at the end of a message.")


class FlushFrame(CallBody):
    flush: Literal[True]


class CloseFrame(CallBody):
    close: Literal[True]
