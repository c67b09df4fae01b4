"""Features on spans and entities that are written down as words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from streamcoref.language.versions import LATEST, lexicon
from streamcoref.language.voices import NARRATOR, Voices
from streamcoref.model.candidates import Candidates
from streamcoref.model.features import FeatureOptions, PairFeature
from streamcoref.model.memory import note_mention
from streamcoref.model.notes import ENTITY, IntArray, Notes
from streamcoref.model.parts import Surroundings
from streamcoref.model.segments import Segment
from streamcoref.model.span_readings import note_spans as note_spans
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.words import Word

Mention = tuple[tuple[str, ...], int]  # words, voice


def build(name: str, words: int = LATEST, **options: Any) -> PairFeature:
    """`words` is the version of the word lists."""
    around = Surroundings(
        hidden_size=1, span_size=1, max_width=1, genres=3, schemes=2, dropout=0.0, lexicon=lexicon(words)
    )
    return FeatureOptions.choose({"name": name, **options}).build(around)


def said(text: str, voice: int = NARRATOR) -> Mention:
    return tuple(text.split()), voice


def notes_of(mentions: Sequence[Mention], *features: PairFeature) -> Notes:
    return note_spans(spans_of(mentions), features)


def spans_of(mentions: Sequence[Mention]) -> SegmentSpans:
    """Mentions that follow each other in one segment, a piece a word."""
    words = [word for text, _ in mentions for word in text]
    voices = [voice for text, voice in mentions for _ in text]
    lengths = [len(text) for text, _ in mentions]
    ends = np.cumsum(lengths, dtype=np.int64) - 1
    pieces = np.arange(len(words))
    segment = Segment(
        piece_ids=pieces,
        word_of_piece=pieces,
        sentence_of_piece=np.zeros(len(words), dtype=np.int64),
        words=tuple(Word(word, 0, opens=False, ends=False) for word in words),
        first_word=0,
        position=0,
        tracks={Voices.name: voices},
    )
    spans = Candidates(ends - np.array(lengths, dtype=np.int64) + 1, ends)
    nothing = torch.zeros(len(mentions))
    return SegmentSpans(segment, spans, nothing[:, None], nothing, nothing, spans, nothing)


def with_tracks(spans: SegmentSpans, tracks: Mapping[str, Sequence[int]]) -> SegmentSpans:
    return replace(spans, segment=replace(spans.segment, tracks=tracks))


def entities_of(groups: Sequence[Sequence[Mention]], *features: PairFeature) -> Notes:
    """An entity for each group of mentions."""
    entities = Notes.empty([ENTITY, *(feature.entity_columns for feature in features)], len(groups))
    for slot, mentions in enumerate(groups):
        notes = notes_of(mentions, *features)
        for number in range(len(mentions)):
            note_mention(entities, slot, notes, number, features)
    return entities


def value(feature: PairFeature, mention: Mention, *earlier: Mention) -> int:
    """A mention against an entity of these."""
    compared = feature.compare(notes_of([mention], feature).at(0), entities_of([earlier], feature))
    return int(np.broadcast_to(compared, (1,))[0])


def block(feature: PairFeature, spans: Notes, entities: Notes) -> IntArray:
    """All spans against all entities, or each against its own where these have two dimensions."""
    shape = np.broadcast_shapes((len(spans), 1), entities["place"].shape)
    return np.broadcast_to(feature.compare(spans.at((slice(None), None)), entities), shape)
