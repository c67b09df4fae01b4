"""Run a model over corpora: predict, score and measure document by document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import NamedTuple

import torch

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.evaluation.gold import count_gold, read_gold
from streamcoref.evaluation.results import CorpusSettings, DocumentResult, Evaluation, EvaluationCorpus
from streamcoref.evaluation.tensor_memory import peak_tensor_bytes
from streamcoref.evaluation.watching import Watched, WatchedEncoder, now
from streamcoref.metrics import Clusters, TypeCounts, count_types, score_document
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.config import ModelConfig
from streamcoref.model.encoder_service import EncoderService
from streamcoref.model.predict import predict


class AnsweredDocument(NamedTuple):
    """A document with the model's clusters, and how it went."""

    document: Document
    result: DocumentResult


def evaluate(
    checkpoint: Checkpoint, corpora: Sequence[EvaluationCorpus], *, batch: int = 1, memory: bool = False
) -> Evaluation:
    """Evaluate a model. With `memory` the peak of its tensors is measured too, which on the CPU makes it slower."""
    settings = [settle(corpus, checkpoint.config) for corpus in corpora]
    return Evaluation(settings, [answer.result for answer in answers(checkpoint, corpora, settings, batch, memory)])


def settle(corpus: EvaluationCorpus, config: ModelConfig) -> CorpusSettings:
    """Decide what a corpus leaves open; reads its gold clusters if singletons are."""
    singletons = count_gold(corpus).has_singletons if corpus.singletons is None else corpus.singletons
    return CorpusSettings(corpus.name, _scheme(corpus, config), singletons, singletons and config.singletons)


def answers(
    checkpoint: Checkpoint,
    corpora: Sequence[EvaluationCorpus],
    settings: Sequence[CorpusSettings],
    batch: int = 1,
    memory: bool = False,
) -> Iterator[AnsweredDocument]:
    """Documents one by one, each as soon as the model has answered; none is kept.

    A model in training is put into evaluation mode and back at the end.
    """
    model = checkpoint.model
    training = model.training
    model.eval()
    watched = WatchedEncoder(model.encoder, model.device)
    # What other threads allocate would not be seen.
    encoder = model.service(encode=watched, threads=1 if memory else None, batch=batch)
    try:
        for corpus, setting in zip(corpora, settings, strict=True):
            for document, key in read_gold(corpus):
                yield _answer(checkpoint, document, key, setting, watched, encoder, memory)
    finally:
        model.train(training)


def _answer(
    checkpoint: Checkpoint,
    document: Document,
    key: Clusters,
    setting: CorpusSettings,
    watched: WatchedEncoder,
    encoder: EncoderService,
    memory: bool,
) -> AnsweredDocument:
    model, config, _ = checkpoint
    seen = watched.seen = Watched(peak_entities=0 if model.reads_streams else None)
    segments = checkpoint.segmenter.cut(document)
    measured = peak_tensor_bytes(model.device) if memory else nullcontext()
    began = now(model.device)
    with torch.inference_mode(), measured as peak:
        reading = model.reading(config.genre_of(document), setting.scheme, config.evict.build())
        reading = replace(reading, merge=config.merge, revive=config.revive)  # as users read with this model
        answered = predict(model, segments, document, reading, encoder, setting.answers_singletons, watch=seen.note)
    seconds = now(model.device) - began
    scores = score_document(key, answered.predicted_clusters or (), singletons=setting.singletons)
    result = DocumentResult(
        key=document.key,
        corpus=setting.name,
        genre=document.genre,
        speakers=len(set(document.speakers) - {""}),
        words=len(document.words),
        pieces=seen.pieces,
        scores=scores,
        encoder_seconds=seen.encoder_seconds,
        other_seconds=seconds - seen.encoder_seconds,
        peak_entities=seen.peak_entities,
        peak_bytes=None if peak is None else peak.bytes,
        types=_types(answered, key, setting.singletons) if model.labels.types else {},
    )
    return AnsweredDocument(answered, result)


def _types(answered: Document, key: Clusters, singletons: bool) -> dict[str, TypeCounts]:
    """None if the document says nothing of types."""
    labelled = any(label.types for label in answered.labels.values())
    return count_types(key, answered.labels, answered.entities, singletons) if labelled else {}


def _scheme(corpus: EvaluationCorpus, config: ModelConfig) -> str:
    if corpus.scheme is None:
        return corpus.name if corpus.name in config.schemes else config.schemes[0]
    if corpus.scheme not in config.schemes:
        raise StreamcorefError(f"the model has no scheme {corpus.scheme!r}; its schemes: {', '.join(config.schemes)}")
    return corpus.scheme
