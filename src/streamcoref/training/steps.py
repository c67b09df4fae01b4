"""One training step's forward and backward passes over a document, for either kind of model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from streamcoref.document import Clusters, Document
from streamcoref.model.arrays import FloatArray
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.encoder_service import Encode
from streamcoref.model.evict import EvictionPolicy, NoEviction
from streamcoref.model.incremental import NEW, IncrementalModel, deciding, greedy
from streamcoref.model.memory import EntityMemory
from streamcoref.model.rows import entity_rows
from streamcoref.model.segments import Segment
from streamcoref.model.span_readings import read_spans
from streamcoref.model.spans import SegmentSpans
from streamcoref.training.label_loss import LabelTasks, label_loss
from streamcoref.training.labels import Labeller, Objective
from streamcoref.training.loss import antecedent_loss, entity_loss, mention_loss, weights_of
from streamcoref.training.precision import FLOAT32, Precision
from streamcoref.training.replay import make_versions, score_versions, snapshot, with_revived
from streamcoref.training.silver import Lesson


@dataclass(frozen=True)
class Example:
    """A document cut into segments, with what its corpus says of it."""

    document: Document
    segments: list[Segment]
    scheme: str | None
    mention_weight: float  # of the mention loss; 0 where its corpus does not tell mentions from other spans
    tasks: LabelTasks | None = None  # what is learnt of its labels
    teach: Callable[[Document], Lesson] | None = None  # asks a teacher, at the time it is needed
    lesson: Lesson = field(default_factory=lambda: Lesson(()))  # what the teacher said beside the document's clusters

    def taught(self) -> Example:
        if self.teach is None:
            return self
        lesson = self.teach(self.document)
        return replace(self, document=replace(self.document, clusters=lesson.clusters), teach=None, lesson=lesson)


@dataclass(frozen=True)
class IncrementalOptions:
    """How the incremental model learns."""

    objective: Objective = "most_recent"
    teacher_forcing: float = 0.0  # the share of decisions made by the gold labels instead of the model
    negative_rate: float = 1.0  # the share of spans without an antecedent that count
    evict: EvictionPolicy = field(default_factory=NoEviction)  # while training
    backward_gb: float | None = None  # go backward when this much memory is in use; None: after each segment
    clip: float | None = None  # the norm that all gradients so far are clipped to after each segment
    asks: bool = True  # whether a scorer that asks a reader of text does so to decide, and not only to learn
    crop: int | None = None  # segments of a longer document, a random stretch of it each time
    merge: int = 0  # as in a `Reading`
    revive: int = 0


def baseline_step(
    model: BaselineModel,
    example: Example,
    crop: int | None,
    encode: Encode,
    random: np.random.Generator,
    precision: Precision = FLOAT32,
) -> float:
    """Loss of a document, or of a random stretch of `crop` segments of it; gradients are added up."""
    segments = crop_segments(example.segments, crop, random)
    clusters = clusters_inside(example.document.clusters, segments)
    with precision.forward():
        pieces = encode(segments)
        spans, antecedents = model.resolve(pieces, segments, model.reading(example.document.genre, example.scheme))
        loss = antecedent_loss(spans, antecedents, clusters, example.lesson.sure)
        if example.mention_weight:
            for part in spans.parts:
                loss = loss + example.mention_weight * mention_loss(part, clusters, example.lesson.chances)
        if example.tasks is not None:
            for part, vectors in zip(spans.parts, pieces, strict=True):
                loss = loss + label_loss(model, vectors, part, example.document.labels, example.tasks)
    precision.backward(loss)
    return loss.item()


def incremental_step(
    model: IncrementalModel,
    example: Example,
    options: IncrementalOptions,
    encode: Encode,
    random: np.random.Generator,
    memory_in_use: Callable[[], float],
    precision: Precision = FLOAT32,
) -> float:
    """Loss of a document or a stretch of it; gradients are added up. Entities are detached wherever it goes backward.

    Each segment goes through `IncrementalModel.step`, as in inference, and its decisions are then scored again with
    gradients.
    """
    document, sure = example.document, example.lesson.sure
    segments = crop_segments(example.segments, options.crop, random)
    clusters = clusters_inside(document.clusters, segments)
    labeller = Labeller(clusters, options.objective)
    state = model.new_state()
    memory = state.memory
    fixed = model.fixed_features(document.genre, example.scheme)
    with deciding(model), precision.forward():
        reading = model.reading(document.genre, example.scheme, options.evict)
        reading = replace(reading, merge=options.merge, revive=options.revive)
    total = 0.0
    pending: list[Tensor] = []  # losses that have not gone backward yet
    rows: Tensor | None = None  # the memory's rows with the gradients of pending segments
    for number, segment in enumerate(segments):
        with precision.forward():
            if rows is None:  # vectors without gradients, but what is read of them learns
                vectors = model.layout.vectors(memory.rows[: len(memory)]).clone()
                rows = entity_rows(vectors, model.pair_score, model.update)
            before = snapshot(memory, rows)
            choose = LabelledChoice(labeller, memory, model.new_entity_score.item(), options.teacher_forcing, random)
            (pieces,) = encode([segment])
            model.pair_score.asks = options.asks
            result = model.step(state, model.spans(pieces, segment, reading.scheme), reading, choose)
            model.pair_score.asks = True
            (spans,) = result.spans
            before = with_revived(before, result.came_back, model)
            readings = read_spans(spans, model.pair_score, model.update, result.notes)
            versions = make_versions(model, readings, before, result.links)
            right = np.zeros_like(versions.visible)
            for row, wanted in enumerate(choose.targets):
                right[row] = versions.visible[row] & np.isin(versions.entities, list(wanted))
            tables = model.pair_score.fold_features(fixed)
            scores = score_versions(model, readings, spans.link_scores, versions, reading.index, tables, right)
            weights = weights_of(spans.mentions, sure) if sure else None
            loss = entity_loss(scores, right, options.negative_rate, random, model.new_entity_score.item(), weights)
            if example.mention_weight:
                loss = loss + example.mention_weight * mention_loss(spans, clusters, example.lesson.chances)
            if example.tasks is not None:
                loss = loss + label_loss(model, pieces, spans, document.labels, example.tasks)
        if loss.requires_grad:  # not so if the segment has no span at all
            pending.append(loss)
        total += loss.item()
        labeller.end_segment()
        for kept, gone in result.merged:
            labeller.renamed(kept, gone)
        # Of entities that were merged no version of this segment is the row.
        must = number == len(segments) - 1 or bool(result.merged)
        if must or options.backward_gb is None or memory_in_use() > options.backward_gb:
            if pending:
                precision.backward(torch.stack(pending).sum())
            pending, rows = [], None
            if options.clip is not None:
                precision.clip([p for p in model.parameters() if p.grad is not None], options.clip)
        else:
            stay = [versions.last[int(entity)] for entity in memory.ids]
            rows = versions.rows[torch.tensor(stay, dtype=torch.long, device=versions.rows.device)]
    return total


@dataclass
class LabelledChoice:
    """Decides as the model does, but for a share of `teacher_forcing`, where the labels do; and notes what is right."""

    labeller: Labeller
    memory: EntityMemory
    new_score: float
    teacher_forcing: float
    random: np.random.Generator
    targets: list[set[int]] = field(default_factory=list)  # for each span the right entities

    def __call__(self, spans: SegmentSpans, m: int, scores: FloatArray) -> int:
        alive, mention = self.memory.ids, spans.mentions[m]
        wanted = self.labeller.targets(mention, set(alive.tolist())) if mention in self.labeller.cluster_of else set()
        self.targets.append(wanted)
        slot = greedy(scores, self.new_score)
        if self.random.random() < self.teacher_forcing:
            slot = int(np.flatnonzero(np.isin(alive, list(wanted)))[-1]) if wanted else NEW
        self.labeller.place(mention, self.memory.next_id if slot == NEW else int(alive[slot]))
        return slot


def crop_segments(segments: list[Segment], crop: int | None, random: np.random.Generator) -> list[Segment]:
    """A random stretch of at most `crop` segments."""
    if crop is None or len(segments) <= crop:
        return segments
    first = int(random.integers(len(segments) - crop + 1))
    return segments[first : first + crop]


def clusters_inside(clusters: Clusters, segments: list[Segment]) -> Clusters:
    """The mentions that lie inside a stretch of segments."""
    first, end = segments[0].first_word, segments[-1].first_word + len(segments[-1].words)
    inside = (tuple(span for span in cluster if first <= span[0] and span[1] <= end) for cluster in clusters)
    return tuple(cluster for cluster in inside if cluster)
