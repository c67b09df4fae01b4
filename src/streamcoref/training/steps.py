"""One training step's forward and backward passes over a document, for either kind of model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from streamcoref.document import Clusters, Document
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.evict import NoEviction
from streamcoref.model.incremental import NEW, IncrementalModel, Link, greedy
from streamcoref.model.memory import EntityMemory
from streamcoref.model.score_table import FloatArray, entity_rows, read_spans
from streamcoref.model.segments import Segment
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.vocabulary import number_of
from streamcoref.training.labels import Labeller, Objective
from streamcoref.training.loss import antecedent_loss, entity_loss, mention_loss
from streamcoref.training.replay import make_versions, score_versions, snapshot

# A segment's piece vectors: from the encoder, or from the cache where the encoder is frozen.
Encode = Callable[[Sequence[Segment]], list[Tensor]]


@dataclass(frozen=True)
class Example:
    """A document cut into segments, with what its corpus says of it."""

    document: Document
    segments: list[Segment]
    scheme: str | None
    mention_weight: float  # of the mention loss; 0 where its corpus does not tell mentions from other spans


@dataclass(frozen=True)
class IncrementalOptions:
    """How the incremental model learns; the defaults are the paper's."""

    objective: Objective = "most_recent"
    teacher_forcing: float = 0.0  # the share of decisions made by the gold labels instead of the model
    negative_rate: float = 1.0  # the share of spans without an antecedent that count
    evict: bool = False  # whether entities are evicted while training
    backward_gb: float | None = None  # go backward when this much memory is in use; None: after each segment


def baseline_step(
    model: BaselineModel, example: Example, crop: int | None, encode: Encode, random: np.random.Generator
) -> float:
    """Loss of a document, or of a random stretch of `crop` segments of it; gradients are added up."""
    segments = crop_segments(example.segments, crop, random)
    clusters = clusters_inside(example.document.clusters, segments)
    document = example.document
    spans, antecedents = model.resolve(encode(segments), segments, document.speakers, document.genre, example.scheme)
    loss = antecedent_loss(spans, antecedents, clusters)
    if example.mention_weight:
        for candidates, scores in zip(spans.candidate_words, spans.candidate_scores, strict=True):
            loss = loss + example.mention_weight * mention_loss(candidates, scores, clusters)
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.item()


def incremental_step(
    model: IncrementalModel,
    example: Example,
    options: IncrementalOptions,
    encode: Encode,
    random: np.random.Generator,
    memory_in_use: Callable[[], float],
) -> float:
    """Loss of a whole document; gradients are added up. Entities are detached wherever it goes backward."""
    document = example.document
    labeller = Labeller(document.clusters, options.objective)
    memory = model.new_state().memory
    evict = model.evict if options.evict else NoEviction()
    scheme = number_of(example.scheme, model.schemes)
    total = 0.0
    pending: list[Tensor] = []  # losses that have not gone backward yet
    rows: Tensor | None = None  # the memory's rows with the gradients of pending segments
    for number, segment in enumerate(example.segments):
        spans = model.spans(encode([segment])[0], segment, scheme)
        if rows is None:  # vectors without gradients, but what is read of them learns
            vectors = memory.rows[: len(memory), : model.spans.vectors.size].clone()
            rows = entity_rows(vectors, model.pair_score, model.update)
        before = snapshot(memory, rows)
        links, targets = decide(model, spans, memory, labeller, example, options.teacher_forcing, random)
        readings = read_spans(spans, model.pair_score, model.update)
        versions = make_versions(model, readings, before, links)
        right = np.zeros_like(versions.visible)
        for row, wanted in enumerate(targets):
            right[row] = versions.visible[row] & np.isin(versions.entities, list(wanted))
        tables = model.fold_features(document.genre, example.scheme)
        scores = score_versions(model, readings, spans.link_scores, versions, tables, right)
        loss = entity_loss(scores, right, options.negative_rate, random, model.new_entity_score.item())
        if example.mention_weight:
            loss = loss + example.mention_weight * mention_loss(
                spans.candidate_word_spans, spans.candidate_scores, document.clusters
            )
        if loss.requires_grad:  # not so if the segment has no span at all
            pending.append(loss)
        total += loss.item()
        memory.remove(evict(memory, segment.end))
        last = number == len(example.segments) - 1
        if last or options.backward_gb is None or memory_in_use() > options.backward_gb:
            if pending:
                torch.stack(pending).sum().backward()  # type: ignore[no-untyped-call]
            pending, rows = [], None
        else:
            stay = [versions.last[int(entity)] for entity in memory.ids[: len(memory)]]
            rows = versions.rows[torch.tensor(stay, dtype=torch.long, device=versions.rows.device)]
    return total


def decide(
    model: IncrementalModel,
    spans: SegmentSpans,
    memory: EntityMemory,
    labeller: Labeller,
    example: Example,
    teacher_forcing: float,
    random: np.random.Generator,
) -> tuple[list[Link], list[set[int]]]:
    """Algorithm 1 on a segment, without gradients and dropout: its links, and for each span the right entities.

    A share of `teacher_forcing` of the decisions is made by the labels instead of the model.
    """
    words = spans.word_spans
    led = random.random(len(spans)) < teacher_forcing
    new_score = model.new_entity_score.item()
    targets: list[set[int]] = []

    def choose(m: int, scores: FloatArray) -> int:
        alive = memory.ids[: len(memory)]
        wanted = labeller.targets(words[m], set(alive.tolist())) if words[m] in labeller.cluster_of else set()
        targets.append(wanted)
        slot = greedy(scores, new_score)
        if led[m]:
            slot = int(np.flatnonzero(np.isin(alive, list(wanted)))[-1]) if wanted else NEW
        labeller.place(words[m], memory.next_id if slot == NEW else int(memory.ids[slot]))
        return slot

    was_training = model.training
    model.eval()
    with torch.no_grad():
        tables = model.fold_features(example.document.genre, example.scheme)
        links = model.link(spans, memory, tables, choose)
    model.train(was_training)
    return links, targets


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
