"""A document in, the same document with predicted clusters out, by either kind of model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

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
) -> Document:
    """The document with `predicted_clusters` and the probability of each mention's decision in `scores`.

    Singletons are answered only if asked for, and only those that look like mentions: a mention score above 0.
    """
    segments = segment_document(document, tokenizer, **config.segments.model_dump())
    if isinstance(model, BaselineModel):
        clusters, scores = _whole_document(model, segments, document, scheme, singletons, batch)
    else:
        results = model.find_clusters(segments, model.new_state(), document.genre, scheme, batch)
        clusters, scores = collect(results, singletons)
    return replace(document, predicted_clusters=tuple(map(tuple, clusters)), scores=scores)


def collect(results: Iterable[SegmentResult], singletons: bool) -> tuple[list[list[Span]], dict[Span, float]]:
    """Links as clusters and probabilities."""
    entities: dict[int, list[Span]] = {}
    mention_scores: dict[Span, float] = {}
    scores: dict[Span, float] = {}
    for result in results:
        for link in result.links:
            entities.setdefault(link.entity, []).append(link.span)
            mention_scores[link.span] = link.mention_score
            scores[link.span] = link.probability
    return _answer(entities.values(), mention_scores, scores, singletons)


def _whole_document(
    model: BaselineModel,
    segments: list[Segment],
    document: Document,
    scheme: str | None,
    singletons: bool,
    batch: int,
) -> tuple[list[list[Span]], dict[Span, float]]:
    if not segments:
        return [], {}
    spans, antecedents = model(segments, document.speakers, document.genre, scheme, batch)
    with_new = torch.cat([antecedents.scores.new_zeros(len(spans.words), 1), antecedents.scores], dim=1)
    probabilities, choices = torch.softmax(with_new, dim=1).max(dim=1)
    rows = antecedents.rows.tolist()
    entity_of: list[list[Span]] = []
    for row, (span, choice) in enumerate(zip(spans.words, choices.tolist(), strict=True)):
        entity = [] if choice == 0 else entity_of[rows[row][choice - 1]]
        entity.append(span)
        entity_of.append(entity)
    entities = {id(entity): entity for entity in entity_of}
    mention_scores = dict(zip(spans.words, spans.prune_scores.tolist(), strict=True))
    scores = dict(zip(spans.words, probabilities.tolist(), strict=True))
    return _answer(entities.values(), mention_scores, scores, singletons)


def _answer(
    entities: Iterable[list[Span]], mention_scores: dict[Span, float], scores: dict[Span, float], singletons: bool
) -> tuple[list[list[Span]], dict[Span, float]]:
    clusters = [e for e in entities if len(e) > 1 or (singletons and mention_scores[e[0]] > 0)]
    return clusters, {span: scores[span] for cluster in clusters for span in cluster}
