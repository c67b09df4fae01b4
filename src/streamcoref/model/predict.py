"""A document in, the same document with predicted clusters out, by either kind of model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import torch

from streamcoref.document import Document, Span
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.config import Model, ModelConfig
from streamcoref.model.incremental import SegmentResult
from streamcoref.model.segments import PieceTokenizer, Segment, segment_document


@torch.inference_mode()
def predict(
    model: Model,
    config: ModelConfig,
    tokenizer: PieceTokenizer,
    document: Document,
    scheme: str | None = None,
    singletons: bool = False,
    batch: int = 1,
    min_score: float = 0.0,
) -> Document:
    """The document with `predicted_clusters` and the probability of each mention's decision in `scores`.

    What belongs to the answer, with `singletons` and `min_score`, is said at `best_placed` and `is_answered`.
    """
    segments = segment_document(document, tokenizer, **config.segments.model_dump())
    if isinstance(model, BaselineModel):
        placed = _whole_document(model, segments, document, scheme, batch)
    else:
        results = model.find_clusters(segments, model.new_state(), document.genre, scheme, batch)
        placed = [one for result in results for one in placed_of(result)]
    clusters, scores = _answer(best_placed(placed, min_score), singletons)
    return replace(document, predicted_clusters=tuple(map(tuple, clusters)), scores=scores)


class Placed(NamedTuple):
    """A span that a model put into an entity."""

    span: Span
    entity: int
    mention_score: float
    probability: float


def placed_of(result: SegmentResult) -> list[Placed]:
    return [Placed(link.span, link.entity, link.mention_score, link.probability) for link in result.links]


def best_placed(placed: Iterable[Placed], min_score: float = 0.0) -> list[Placed]:
    """The spans that belong to the answer: each once, and none whose decision is less probable than `min_score`.

    A model whose candidates are pieces may propose the same words twice, always in one segment; the better mention
    score counts.
    """
    best: dict[Span, Placed] = {}
    for one in placed:
        if one.span not in best or one.mention_score > best[one.span].mention_score:
            best[one.span] = one
    return [one for one in best.values() if one.probability >= min_score]


def is_answered(mentions: int, mention_score: float, singletons: bool) -> bool:
    """Whether an entity of so many mentions belongs to the answer; `mention_score` is that of its first.

    Singletons are answered only if asked for, and only those that look like mentions: a mention score above 0.
    """
    return mentions > 1 or (singletons and mention_score > 0)


def _whole_document(
    model: BaselineModel,
    segments: list[Segment],
    document: Document,
    scheme: str | None,
    batch: int,
) -> list[Placed]:
    if not segments:
        return []
    spans, antecedents = model(segments, document.speakers, document.genre, scheme, batch)
    with_new = torch.cat([antecedents.scores.new_zeros(len(spans.words), 1), antecedents.scores], dim=1)
    probabilities, choices = torch.softmax(with_new, dim=1).max(dim=1)
    rows = antecedents.rows.tolist()
    entities: list[int] = []  # of each span, named after the row of its first mention
    for row, choice in enumerate(choices.tolist()):
        entities.append(row if choice == 0 else entities[rows[row][choice - 1]])
    values = zip(spans.words, entities, spans.prune_scores.tolist(), probabilities.tolist(), strict=True)
    return [Placed(*value) for value in values]


def _answer(placed: Iterable[Placed], singletons: bool) -> tuple[list[list[Span]], dict[Span, float]]:
    """Clusters and the probabilities of their mentions."""
    entities: dict[int, list[Placed]] = {}
    for one in placed:
        entities.setdefault(one.entity, []).append(one)
    kept = [e for e in entities.values() if is_answered(len(e), e[0].mention_score, singletons)]
    return [[one.span for one in e] for e in kept], {one.span: one.probability for e in kept for one in e}
