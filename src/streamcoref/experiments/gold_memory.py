"""What a model that never errs would still lose by evicting: the gold entities put through the model's own memory.

The text is cut into the model's segments. Every gold mention joins the entity that holds its latest antecedent, or
starts one; after each segment the policy evicts, exactly as in `IncrementalModel.step`. A mention that has an
antecedent in the document counts as *kept* if the entity of its latest antecedent is still alive when the mention is
read. If it is not, the mention starts an entity anew, of size one, as it would have to in a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import torch

from streamcoref.document import Cluster, Document, Span
from streamcoref.model.evict import EvictionPolicy
from streamcoref.model.memory import EntityMemory
from streamcoref.model.notes import Notes
from streamcoref.model.segments import SPECIAL, Segmenter, SegmentOptions
from streamcoref.model.tokenizer import PieceTokenizer

_NO_ROW = torch.zeros(0)  # nothing is compared by vectors here, and by no features


class GoldMention(NamedTuple):
    start: int  # first piece, position in the text, special pieces counted
    end: int  # last piece, inclusive
    cluster: int
    span: Span  # words


class GoldSegment(NamedTuple):
    """`mentions` in the order in which a model reads them; `end` is the number of pieces read after it."""

    mentions: list[GoldMention]
    end: int


class Outcome(NamedTuple):
    """Of the mentions with an antecedent, how many still had it; and the clusters that were left."""

    antecedents: int
    kept: int
    peak_entities: int  # gold entities alive at once, before the eviction after a segment
    clusters: list[Cluster]


def gold_segments(document: Document, tokenizer: PieceTokenizer, max_pieces: int) -> list[GoldSegment]:
    """The gold mentions of a document by segment. One that is cut by a segment's end is read where it ends."""
    segments = Segmenter(tokenizer, SegmentOptions(max_pieces=max_pieces)).cut(document)
    first: dict[int, int] = {}  # piece of a word, position in the text
    last: dict[int, int] = {}
    home: dict[int, int] = {}  # segment of a word
    for number, segment in enumerate(segments):
        for piece, word in enumerate(segment.word_of_piece.tolist(), start=segment.position):
            if word != SPECIAL:
                first.setdefault(word, piece)
                last[word] = piece
                home[word] = number
    mentions: list[list[GoldMention]] = [[] for _ in segments]
    for number, cluster in enumerate(document.clusters):
        for a, b in cluster:
            mentions[home[b - 1]].append(GoldMention(first[a], last[b - 1], number, (a, b)))
    return [GoldSegment(sorted(m), segment.end) for m, segment in zip(mentions, segments, strict=True)]


def follow(segments: list[GoldSegment], policy: EvictionPolicy) -> Outcome:
    memory = EntityMemory(row_size=0)
    latest: dict[int, int] = {}  # cluster -> id of the entity that holds its latest mention
    entities: dict[int, list[Span]] = {}
    antecedents = kept = peak = 0
    for segment in segments:
        memory.reserve(len(memory) + len(segment.mentions))
        notes = _notes(segment.mentions)
        for number, mention in enumerate(segment.mentions):
            entity = latest.get(mention.cluster)
            slot = None if entity is None else _slot(memory, entity)
            antecedents += entity is not None
            if slot is None:
                slot = memory.add(_NO_ROW, notes, number)
            else:
                kept += 1
                memory.join(slot, 1.0, _NO_ROW, notes, number)
            latest[mention.cluster] = int(memory.ids[slot])
            entities.setdefault(latest[mention.cluster], []).append(mention.span)
        peak = max(peak, len(memory))
        memory.remove(policy(memory, segment.end))
    return Outcome(antecedents, kept, peak, list(map(tuple, entities.values())))


def _notes(mentions: Sequence[GoldMention]) -> Notes:
    """What the memory notes of spans; gold mentions are all equally sure."""
    starts = np.array([mention.start for mention in mentions], dtype=np.int64)
    ends = np.array([mention.end for mention in mentions], dtype=np.int64)
    return Notes({"start": starts, "place": starts + ends, "score": np.zeros(len(mentions))})


def needed_entities(segments: list[GoldSegment]) -> int:
    """The fewest entities that lose nothing, if one knew the future: begun, with a mention here or still to come."""
    spans: dict[int, tuple[int, int]] = {}  # cluster -> its first and last segment
    for number, segment in enumerate(segments):
        for mention in segment.mentions:
            spans[mention.cluster] = (spans.get(mention.cluster, (number, 0))[0], number)
    changes = [0] * (len(segments) + 1)
    for first, last in spans.values():
        changes[first] += 1
        changes[last + 1] -= 1
    return max(accumulate(changes), default=0)


def _slot(memory: EntityMemory, entity: int) -> int | None:
    """Where an entity is, if it is alive. Ids rise from slot to slot, for entities come in order and gaps close."""
    ids = memory.ids
    slot = int(np.searchsorted(ids, entity))
    return slot if slot < len(ids) and ids[slot] == entity else None
