"""A document as it might also have been written: other names, other marks, other capitals. Its annotation stays true.

Words are replaced one by one, so that every span is where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from pydantic import Field

from streamcoref.checked import Options
from streamcoref.document import Document, Span
from streamcoref.language.lexicon import Gender
from streamcoref.language.people_names import GIVEN_NAMES
from streamcoref.model.segments import Segmenter
from streamcoref.training.renaming import rename_people
from streamcoref.training.steps import Example

# An example as it is to be read at this visit.
Augment = Callable[[Example, np.random.Generator], Example]
_STRAIGHT = {"“": '"', "”": '"', "‘": "'", "’": "'", "``": '"', "''": '"', "«": '"', "»": '"'}
_CURLY = {'"': ("“", "”"), "``": ("“", "“"), "''": ("”", "”")}


class AugmentOptions(Options):
    """Each is a share: of the visits of documents, of people, of sentences."""

    names: float = Field(default=0.0, ge=0, le=1)  # of visits at which people have other names
    genders: float = Field(default=0.0, ge=0, le=1)  # of these people that are of the other gender, if they can be
    speakers: float = Field(default=0.0, ge=0, le=1)  # of visits at which speakers have other names
    quotes: float = Field(default=0.0, ge=0, le=1)  # of visits at which straight quotes are curly, and curly straight
    capitals: float = Field(default=0.0, ge=0, le=1)  # of sentences that are all in capitals
    small: float = Field(default=0.0, ge=0, le=1)  # of sentences that begin without a capital


def as_it_is(example: Example, _random: np.random.Generator) -> Example:
    return example


class Augmenter:
    """Draws anew at every visit; of the same numbers the same comes."""

    def __init__(self, options: AugmentOptions, segmenter: Segmenter) -> None:
        self.options, self.segmenter = options, segmenter

    def __call__(self, example: Example, random: np.random.Generator) -> Example:
        options, document = self.options, example.document
        changed = document
        if random.random() < options.names:
            changed = with_words(changed, rename_people(changed, options.genders, random))
        if changed.speakers and random.random() < options.speakers:
            changed = replace(changed, speakers=rename_speakers(document, changed.words, random))
        if random.random() < options.quotes:
            changed = with_words(changed, other_quotes(changed.words))
        if options.capitals or options.small:
            changed = with_words(changed, recapitalise(changed, options.capitals, options.small, random))
        if changed == document:
            return example
        return replace(example, document=changed, segments=self.segmenter.cut(changed))


def with_words(document: Document, words: Sequence[str]) -> Document:
    """The document with other words in the same places; its text has them, with all that stands between them."""
    if document.text is None:
        return replace(document, words=tuple(words))
    parts: list[str] = []
    offsets: list[Span] = []
    length = before = 0
    for number, (start, end) in enumerate(document.offsets):
        if number and document.offsets[number - 1] == (start, end):  # two words of the same characters
            offsets.append(offsets[-1])
            continue
        gap = document.text[before:start]
        surface = document.text[start:end] if words[number] == document.words[number] else words[number]
        parts += (gap, surface)
        offsets.append((length + len(gap), length + len(gap) + len(surface)))
        length, before = offsets[-1][1], max(before, end)
    text = "".join(parts) + document.text[before:]
    return replace(document, words=tuple(words), text=text, offsets=tuple(offsets), sections=())


def rename_speakers(document: Document, words: Sequence[str], random: np.random.Generator) -> tuple[str, ...]:
    """Speakers under other names. One who is called so in the text too is called as there: `words` are its new ones."""
    now = dict(zip(document.words, words, strict=True))
    free = [*GIVEN_NAMES[Gender.SHE], *GIVEN_NAMES[Gender.HE]]
    free = [name for name in free if name not in now and name not in now.values()]
    random.shuffle(free)
    called = {"": ""}
    for speaker in document.speakers:
        if speaker not in called:
            parts = speaker.split()
            spoken_of = any(part in now for part in parts)
            called[speaker] = " ".join(now.get(part, part) for part in parts) if spoken_of or not free else free.pop()
    return tuple(called[speaker] for speaker in document.speakers)


def other_quotes(words: Sequence[str]) -> list[str]:
    """Straight marks for curly ones if there are any of these, and else curly ones for straight; inside words, too."""
    if any(mark in word for word in words for mark in "“”‘’"):
        return [_STRAIGHT.get(word) or word.replace("’", "'").replace("‘", "'") for word in words]
    result, opens = [], True
    for word in words:
        if word in _CURLY:
            result.append(_CURLY[word][not opens])
            opens = not opens
        else:
            result.append(word.replace("'", "’"))
    return result


def recapitalise(document: Document, capitals: float, small: float, random: np.random.Generator) -> list[str]:
    """Some sentences all in capitals, and some that begin without one."""
    words = list(document.words)
    for start, end in pairwise((0, *document.sentence_ends)):
        drawn = random.random()
        if drawn < capitals:
            words[start:end] = [word.upper() for word in words[start:end]]
        elif drawn < capitals + small:
            words[start] = words[start][:1].lower() + words[start][1:]
    return words
