"""Whole novels in which people have marked who is meant and who speaks, and how well a store agrees with them.

The marks are those of the Project Dialogism Novel Corpus as one JSON file a novel: `mentions`, a list of
`[start, end, character]` inside of quotations (an *I* is its speaker); `quotations`, a list of `[spans, speaker,
kind]`; `characters`, names to other names. Positions are characters of the text.

All figures are over marked mentions alone. A mention counts from its first to its last letter or digit; one that the
store lacks is an entity of its own.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from streamcoref.document import Span
from streamcoref.errors import InputError
from streamcoref.language import is_pronoun, lexicon, read_mention
from streamcoref.language.lexicon import Gender
from streamcoref.language.names import FIRST_PERSON
from streamcoref.language.versions import LATEST
from streamcoref.metrics import bcub, ceafe
from streamcoref.store import Store

WINDOW = 9000  # characters of a window: about a chapter
MAIN = 10  # characters with most mentions
PARTS = 20  # of the text, for figures over the length read
_WORD = re.compile(r"[^\W_]+")

Entities = Mapping[Span, object]  # whose each mention is


@dataclass(frozen=True, slots=True)
class BookMarks:
    """A novel's text and marks."""

    text: str
    mentions: Mapping[Span, str]
    quotations: tuple[tuple[tuple[Span, ...], str, str], ...]
    characters: Mapping[str, tuple[str, ...]]


class BookScores(NamedTuple):
    """B-cubed, CEAF-e over characters and entities of two mentions and more, shares found and of main characters."""

    found: float
    precision: float
    recall: float
    f1: float
    ceafe: float
    main: float  # mean share of a main character's mentions that lie in one entity, its largest


def read_marks(text: Path, marks: Path) -> BookMarks:
    try:
        content = _read(text)
        values = json.loads(_read(marks))
        mentions = {(int(a), int(b)): str(who) for a, b, who in values["mentions"]}
        quotations = tuple(
            (tuple((int(a), int(b)) for a, b in spans), str(who), str(kind).lower())
            for spans, who, kind in values["quotations"]
        )
        characters = {str(name): tuple(map(str, others)) for name, others in values["characters"].items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError("no marks of a novel: an object with mentions, quotations and characters", marks) from error
    if any(not 0 <= a <= b <= len(content) for a, b in mentions):
        raise InputError(f"a mention lies outside of the text {text}", marks)
    trimmed = {span: who for given, who in mentions.items() if (span := trim(content, given)) is not None}
    return BookMarks(content, trimmed, quotations, characters)


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from error


def trim(text: str, span: Span) -> Span | None:
    """From the first to the last letter or digit; None if there is none."""
    words = list(_WORD.finditer(text, *span))
    return (words[0].start(), words[-1].end()) if words else None


def stored_mentions(store: Store, text: str) -> dict[Span, int]:
    """The mentions of a store by their trimmed spans, with their entities."""
    found: dict[Span, int] = {}
    for entity in store.entities():
        for mention in store.mentions(entity.id):
            if mention.start is not None and mention.end is not None:
                span = trim(text, (mention.start, mention.end))
                if span is not None:
                    found[span] = entity.id
    return found


def agreement(gold: Mapping[Span, object], answer: Entities) -> BookScores:
    key, response = _clusters(gold, gold), _clusters(gold, answer)
    b3 = bcub.count(key, response)
    several = ceafe.count(*([c for c in clusters if len(c) > 1] for clusters in (key, response)))
    largest = sorted(key, key=len, reverse=True)[:MAIN]
    main = [max(Counter(answer.get(span, span) for span in cluster).values()) / len(cluster) for cluster in largest]
    return BookScores(
        sum(span in answer for span in gold) / max(1, len(gold)),
        b3.precision,
        b3.recall,
        b3.f1,
        several.f1,
        sum(main) / max(1, len(main)),
    )


def in_windows(gold: Mapping[Span, str], answer: Entities, width: int = WINDOW) -> float:
    """B-cubed F1 when whatever lies in another stretch of the text is another entity."""

    def apart(entities: Entities) -> dict[Span, object]:
        return {span: (entity, span[0] // width) for span, entity in entities.items()}

    return agreement(apart(gold), apart(answer)).f1


def _clusters(spans: Iterable[Span], entities: Entities) -> list[tuple[Span, ...]]:
    found: dict[object, list[Span]] = {}
    for span in spans:
        found.setdefault(("entity", entities[span]) if span in entities else ("alone", span), []).append(span)
    return [tuple(cluster) for cluster in found.values()]


class Share(NamedTuple):
    """Of some of the mentions: how many, and their mean B-cubed precision and recall."""

    mentions: int
    precision: float
    recall: float


def by_kind(marks: BookMarks, answer: Entities) -> dict[str, Share]:
    """Of names, he and she, I, you, and other mentions."""
    return _shares(marks, answer, lambda span: mention_kind(marks.text[slice(*span)]))


def mention_kind(text: str) -> str:
    words = tuple(_WORD.findall(text))
    seen = read_mention(words, lexicon(LATEST)) if words else None
    if seen is None:
        return "other"
    if seen.person is not None:
        return "I" if seen.person == FIRST_PERSON else "you"
    if seen.pronoun & (Gender.HE | Gender.SHE):
        return "he, she"
    return "name" if seen.names and not is_pronoun(words) else "other"


DISTANCES = (("up to 1,000", 1_000), ("up to 10,000", 10_000), ("up to 100,000", 100_000), ("more", 1 << 60))


def by_distance(marks: BookMarks, answer: Entities) -> dict[str, Share]:
    """By the characters of text since the person was mentioned before."""
    before: dict[str, int] = {}
    far: dict[Span, str] = {}
    for span in sorted(marks.mentions):
        who = marks.mentions[span]
        if who in before:
            since = span[0] - before[who]
            far[span] = next(name for name, limit in DISTANCES if since <= limit)
        else:
            far[span] = "first mention"
        before[who] = span[1]
    return _shares(marks, answer, far.__getitem__)


def _shares(marks: BookMarks, answer: Entities, group: Callable[[Span], str]) -> dict[str, Share]:
    key = {span: cluster for cluster in map(frozenset, _clusters(marks.mentions, marks.mentions)) for span in cluster}
    response = {span: cluster for cluster in map(frozenset, _clusters(marks.mentions, answer)) for span in cluster}
    sums: dict[str, list[tuple[float, float]]] = {}
    for span in marks.mentions:
        common = len(key[span] & response[span])
        sums.setdefault(group(span), []).append((common / len(response[span]), common / len(key[span])))
    return {
        name: Share(len(values), *(sum(column) / len(values) for column in zip(*values, strict=True)))
        for name, values in sorted(sums.items())
    }


def over_length(marks: BookMarks, answer: Entities, parts: int = PARTS) -> list[tuple[int, float]]:
    """B-cubed F1 of the text so far, after each of so many equal parts of it: characters, F1."""
    points = []
    for part in range(1, parts + 1):
        end = len(marks.text) * part // parts
        so_far = {span: who for span, who in marks.mentions.items() if span[1] <= end}
        if so_far:
            points.append((end, agreement(so_far, answer).f1))
    return points


def said(marks: BookMarks, store: Store, answer: Mapping[Span, int]) -> dict[str, tuple[int, int]]:
    """Quotations whose speaker is right, and all of them, by kind; an entity is whom its mentions name most often."""
    named: dict[str, set[str]] = {}
    for character, others in marks.characters.items():
        for name in (character, *others):
            named.setdefault(name.lower(), set()).add(character)
    called: dict[int, Counter[str]] = {}
    for (start, end), entity in answer.items():
        for character in named.get(" ".join(marks.text[start:end].split()).lower(), ()):
            called.setdefault(entity, Counter())[character] += 1
    who_is = {entity: names.most_common(1)[0][0] for entity, names in called.items()}
    spoken = list(_spoken(store, who_is))
    counts: dict[str, tuple[int, int]] = {}
    for spans, speaker, kind in marks.quotations:
        votes: Counter[str] = Counter()
        for a, b in spans:
            for start, end, who in spoken:
                if start < b and end > a:
                    votes[who] += min(b, end) - max(a, start)
        right = bool(votes) and votes.most_common(1)[0][0] == speaker
        for name in ("all", kind):
            good, every = counts.get(name, (0, 0))
            counts[name] = good + right, every + 1
    return counts


def _spoken(store: Store, who_is: Mapping[int, str]) -> Iterator[tuple[int, int, str]]:
    for one in store.quotations():
        who = None if one.speaker is None else who_is.get(one.speaker)
        if who is not None and one.start is not None and one.end is not None:
            yield one.start, one.end, who


def figures(marks: BookMarks, store: Store) -> dict[str, Any]:
    """All of them as JSON has them."""
    answer = stored_mentions(store, marks.text)
    return {
        "characters": len(marks.text),
        "mentions": len(marks.mentions),
        **agreement(marks.mentions, answer)._asdict(),
        "window_f1": in_windows(marks.mentions, answer),
        "by_kind": {name: share._asdict() for name, share in by_kind(marks, answer).items()},
        "by_distance": {name: share._asdict() for name, share in by_distance(marks, answer).items()},
        "over_length": over_length(marks, answer),
        "said": said(marks, store, answer),
    }
