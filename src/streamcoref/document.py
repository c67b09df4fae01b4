"""Document, Mention, Entity: what goes in and what comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

from streamcoref._wording import counted
from streamcoref.errors import StreamcorefError
from streamcoref.language.labels import clean_name, readable_name
from streamcoref.mention_labels import MentionLabels

Span = tuple[int, int]
Cluster = tuple[Span, ...]
Clusters = tuple[Cluster, ...]
TypeScore = tuple[str, float]  # a type and how likely it is
FrameKind = Literal["pandas", "polars"]

_SHOWN_WORDS, _SHOWN_CHARACTERS = 8, 60  # of a document's beginning where it is named


@dataclass(frozen=True, order=True, slots=True)
class Mention:
    """One mention. `text[start:end]` are its characters and `words[word_start:word_end]` its words.

    `start` and `end` are None in a document that did not come from raw text. `sentence` counts from 0.
    `score` is the model's probability of the decision that placed the mention; None for gold data.
    """

    word_start: int
    word_end: int
    start: int | None
    end: int | None
    text: str
    sentence: int
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """Everything that was said of one thing: its mentions in the order of the text, at least one.

    `type` is what it is, a person or a place, where a model or a corpus says so; `type_score` how likely its mentions
    find that, None for gold data.
    """

    id: int
    name: str
    mentions: tuple[Mention, ...]
    type: str | None = None
    type_score: float | None = None

    @property
    def size(self) -> int:
        return len(self.mentions)


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter, or another division of a text: `text[start:end]`, from its heading to the next of its level.

    The outermost have level 1; those of a higher level lie inside others.
    """

    title: str
    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Quotation:
    """What somebody says, in quotation marks, which are part of it: positions as those of a Mention.

    `speaker` and `addressee` are ids of entities, None where unknown. `kind` says how the speaker is known: "named"
    (said Anna), "pronoun" (she said), "narration" (Anna smiled.), "turns" (two speak by turns), "called" (somebody
    calls them by name), or "unknown"; `score` is how often that is right.
    """

    word_start: int
    word_end: int
    start: int | None
    end: int | None
    speaker: int | None
    addressee: int | None
    kind: str
    score: float


@dataclass(frozen=True)
class Document:
    """A text with, perhaps, its coreference clusters.

    **The index convention of the whole package, written once, here:** every position counts from 0 and every end
    is exclusive, as in Python slices. A mention is a span `(start, end)` of *words*: `words[start:end]`. Where the
    document came from raw text, `text` is that text, untouched, and `offsets[i]` the span of *characters* of
    word i: `text[slice(*offsets[i])]`. Formats that count otherwise are converted at the door, by their reader
    and writer, and nowhere else.

    A document is always in one normal form, whatever order it was given in:

    - a span listed twice in a cluster counts once; mentions may nest, cross and overlap;
    - clusters that share a mention are merged, as CoNLL-2012 practice does, so no mention has two entities;
    - mentions are sorted inside a cluster, and clusters by their first mention; empty clusters vanish.

    `speakers` has one name a word ("" where unknown), or is empty when the document has no speakers at all.
    `predicted_clusters` is None until a system has answered; `scores` may then hold a probability for a mention,
    `types` what an entity is and how likely that is, by its first mention, and `quotations` who says what, in the order
    of the text.
    `labels` is what a corpus says of mentions besides their entities, also of some that are in no cluster.
    `sections` are the chapters of its text in their order, if that has any.
    An empty document (no words, no sentences) is valid.
    """

    key: str
    words: tuple[str, ...]
    sentence_ends: tuple[int, ...]
    clusters: Clusters = ()
    predicted_clusters: Clusters | None = None
    speakers: tuple[str, ...] = ()
    genre: str | None = None
    text: str | None = None
    offsets: tuple[Span, ...] = ()
    scores: Mapping[Span, float] = field(default_factory=dict, hash=False)
    labels: Mapping[Span, MentionLabels] = field(default_factory=dict, hash=False)
    types: Mapping[Span, TypeScore] = field(default_factory=dict, hash=False)
    sections: tuple[Section, ...] = ()
    quotations: tuple[Quotation, ...] = ()

    def __repr__(self) -> str:
        """In a line, however long the document is."""
        begin = self.span_text((0, min(_SHOWN_WORDS, len(self.words)))) if self.words else ""
        shown = begin[:_SHOWN_CHARACTERS]
        parts = [
            f"key={self.key!r}",
            counted(len(self.words), "word", "words"),
            counted(len(self.sentence_ends), "sentence", "sentences"),
        ]
        if self.predicted_clusters is not None:
            parts.append(f"{counted(len(self.predicted_clusters), 'entity', 'entities')} found")
        if self.clusters:
            parts.append(f"{counted(len(self.clusters), 'gold entity', 'gold entities')}")
        more = "…" if len(shown) < len(begin) or len(self.words) > _SHOWN_WORDS else ""
        return f"<Document {', '.join(parts)}: {shown + more!r}>"

    def __post_init__(self) -> None:
        length = len(self.words)
        ends = self.sentence_ends
        if (ends[-1] if ends else 0) != length or any(a >= b for a, b in pairwise((0, *ends))):
            raise StreamcorefError(f"document {self.key!r}: sentences must be non-empty and cover all {length} words")
        if self.speakers and len(self.speakers) != length:
            raise StreamcorefError(
                f"document {self.key!r}: {len(self.speakers)} speakers for {length} words; give one a word"
            )
        if self.text is None:
            if self.offsets:
                raise StreamcorefError(f"document {self.key!r}: character offsets without a text")
        elif len(self.offsets) != length:
            raise StreamcorefError(
                f"document {self.key!r}: {len(self.offsets)} character offsets for {length} words; give one a word"
            )
        elif any(a > b for a, b in self.offsets) or max((b for _, b in self.offsets), default=0) > len(self.text):
            raise StreamcorefError(f"document {self.key!r}: a word's character offsets lie outside its text")
        self._check_sections()
        object.__setattr__(self, "clusters", self._normal(self.clusters))
        if self.predicted_clusters is not None:
            object.__setattr__(self, "predicted_clusters", self._normal(self.predicted_clusters))
        for span in (*self.labels, *self.types):
            self._check_mention(span, "a label")
        self._check_quotations()
        in_order = sorted(self.quotations, key=lambda one: (one.word_start, one.word_end))
        object.__setattr__(self, "quotations", tuple(map(self._placed, in_order)))

    def _placed(self, quotation: Quotation) -> Quotation:
        start, end = self.characters((quotation.word_start, quotation.word_end))
        return replace(quotation, start=start, end=end)

    def _check_quotations(self) -> None:
        entities = len(self.clusters if self.predicted_clusters is None else self.predicted_clusters)
        for one in self.quotations:
            if not 0 <= one.word_start < one.word_end <= len(self.words):
                raise StreamcorefError(
                    f"document {self.key!r}: a quotation has the words {one.word_start} to {one.word_end - 1}, "
                    f"but the document has {len(self.words)} words"
                )
            if any(who is not None and not 0 <= who < entities for who in (one.speaker, one.addressee)):
                raise StreamcorefError(
                    f"document {self.key!r}: a quotation is said by or to an entity that is not there"
                )

    def _check_sections(self) -> None:
        length = len(self.text or "")
        if any(not 0 <= section.start <= section.end <= length or section.level < 1 for section in self.sections):
            raise StreamcorefError(f"document {self.key!r}: a section lies outside its text, or has a level below 1")
        if any(a.start > b.start for a, b in pairwise(self.sections)):
            raise StreamcorefError(f"document {self.key!r}: sections must be in the order of the text")

    def _normal(self, clusters: Iterable[Iterable[Span]]) -> Clusters:
        result = merge_clusters(clusters)
        for cluster in result:
            for span in cluster:
                self._check_mention(span, "a cluster")
        return result

    def _check_mention(self, span: Span, whose: str) -> None:
        (start, end), length = span, len(self.words)
        if not 0 <= start < end <= length:
            raise StreamcorefError(
                f"document {self.key!r}: {whose} has the mention of words {start} to {end - 1}, "
                f"but the document has {length} words, 0 to {length - 1}"
            )

    @classmethod
    def from_sentences(
        cls,
        key: str,
        sentences: Iterable[Sequence[str]],
        clusters: Iterable[Iterable[Span]] = (),
        predicted_clusters: Iterable[Iterable[Span]] | None = None,
        speakers: Iterable[str] = (),
        genre: str | None = None,
    ) -> Document:
        """Build from lists of words; sentences without words are left out, as they hold nothing."""
        words: list[str] = []
        ends: list[int] = []
        for sentence in sentences:
            if sentence:
                words.extend(sentence)
                ends.append(len(words))
        return cls(
            key=key,
            words=tuple(words),
            sentence_ends=tuple(ends),
            clusters=as_clusters(clusters),
            predicted_clusters=None if predicted_clusters is None else as_clusters(predicted_clusters),
            speakers=tuple(speakers),
            genre=genre,
        )

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self.words[a:b] for a, b in pairwise((0, *self.sentence_ends)))

    @cached_property
    def sentence_of_word(self) -> tuple[int, ...]:
        return tuple(i for i, (a, b) in enumerate(pairwise((0, *self.sentence_ends))) for _ in range(b - a))

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        """The answer as entities: the predicted clusters where there are any, else the gold ones."""
        clusters = self.clusters if self.predicted_clusters is None else self.predicted_clusters
        return tuple(self._entity(i, cluster) for i, cluster in enumerate(clusters))

    def _entity(self, number: int, cluster: Cluster) -> Entity:
        mentions = tuple(self.mention(span) for span in cluster)
        name = readable_name([(self.words[a:b], self.opens_sentence(a)) for a, b in cluster])
        kind = self._gold_type(cluster) if self.predicted_clusters is None else self.types.get(cluster[0], (None, None))
        return Entity(number, clean_name(self.span_text(cluster[name])), mentions, *kind)

    def _gold_type(self, cluster: Cluster) -> tuple[str | None, None]:
        """What most of its mentions are labelled as."""
        types = Counter(
            self.labels[span].types[0] for span in cluster if span in self.labels and self.labels[span].types
        )
        return (max(types, key=lambda name: types[name]) if types else None), None

    def opens_sentence(self, word: int) -> bool:
        return word == 0 or self.sentence_of_word[word] != self.sentence_of_word[word - 1]

    def mention(self, span: Span) -> Mention:
        a, b = span
        return Mention(
            a, b, *self.characters(span), self.span_text(span), self.sentence_of_word[a], self.scores.get(span)
        )

    def characters(self, span: Span) -> tuple[int | None, int | None]:
        """Where words stand in the text, if there is one."""
        a, b = span
        return (None, None) if self.text is None else (self.offsets[a][0], self.offsets[b - 1][1])

    def span_text(self, span: Span) -> str:
        """The characters of a span; words joined by blanks where there is no original text."""
        a, b = span
        if self.text is None:
            return " ".join(self.words[a:b])
        return self.text[self.offsets[a][0] : self.offsets[b - 1][1]]

    def with_text(self) -> Document:
        """Itself if it has a text; else with words joined by blanks, sentences by line ends, and their offsets."""
        if self.text is not None:
            return self
        offsets: list[Span] = []
        position = 0
        for word in self.words:
            offsets.append((position, position + len(word)))
            position += len(word) + 1
        text = "\n".join(" ".join(sentence) for sentence in self.sentences)
        return replace(self, text=text, offsets=tuple(offsets))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, all that there is: what `jsonlines` has on a line, mentions as [first, last] word."""
        from streamcoref.formats.document_record import to_record  # it needs this module

        return to_record(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Document:
        """The document of such values, checked; an InputError says what is wrong with them."""
        from streamcoref.formats.document_record import from_record

        return from_record(values)

    def resolved_text(self) -> str:
        """The text of `with_text()` with pronouns replaced by names where that reads well."""
        from streamcoref.language.resolved import resolved_text  # it needs this module

        return resolved_text(self)

    def to_frame(self, kind: FrameKind = "pandas") -> Any:
        """A data frame of pandas or polars with one row a mention: the columns of the format `csv`.

        As there, the characters of a document that did not come from raw text are those of `with_text()`.
        """
        from streamcoref.integrations.frames import mention_frame  # it needs this module

        return mention_frame(self, kind)

    def entities_to_frame(self, kind: FrameKind = "pandas") -> Any:
        """A data frame of pandas or polars with one row an entity, from its first mention to its last."""
        from streamcoref.integrations.frames import entity_frame

        return entity_frame(self, kind)

    def quotations_to_frame(self, kind: FrameKind = "pandas") -> Any:
        """A data frame of pandas or polars with one row a quotation: the columns of the format `quotations`."""
        from streamcoref.integrations.frames import quotation_frame

        return quotation_frame(self, kind)

    def _repr_html_(self) -> str:
        """What a notebook shows: the beginning of the text, its mentions in colour."""
        from streamcoref.integrations.rendering import SHOWN, render

        return render(self, limit=SHOWN)


def as_clusters(clusters: Iterable[Iterable[Iterable[int]]]) -> Clusters:
    """Nested lists, as they come out of JSON, as plain tuples."""
    return tuple(tuple((start, end) for start, end in cluster) for cluster in clusters)


def merge_clusters(clusters: Iterable[Iterable[Span]]) -> Clusters:
    """Normal form: duplicates out, clusters that share a mention joined, everything sorted, nothing empty."""
    home: dict[Span, int] = {}
    parent: list[int] = []  # a union-find forest over cluster numbers

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for number, cluster in enumerate(clusters):
        parent.append(number)
        for span in cluster:
            parent[root(home.setdefault(span, number))] = root(number)
    merged: dict[int, list[Span]] = {}
    for span in sorted(home):
        merged.setdefault(root(home[span]), []).append(span)
    return tuple(tuple(spans) for spans in merged.values())
