"""How long a run will take here: a few documents gone through and thrown away, and the rest in proportion."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
import torch

from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.training.data import TrainingCorpus
from streamcoref.training.encodings import EncodingCache
from streamcoref.training.kinds import step_of
from streamcoref.training.optimizing import learning
from streamcoref.training.recipe import Recipe
from streamcoref.training.start import Start
from streamcoref.training.steps import Example

TRIED = 3  # documents, the first of which warms up


def estimate_seconds(start: Start, recipe: Recipe) -> float:
    """All epochs, with the evaluations between them, by one process. No weight is changed, and nothing is written; what
    does not learn in any of them is frozen."""
    training, model, device = recipe.training, start.checkpoint.model, start.device
    encode = model.encoder if isinstance(start.encode, EncodingCache) else start.encode
    step = step_of(start.checkpoint, training)
    tried = _spread([example for corpus in start.train for example in corpus.examples], TRIED)
    seconds = pieces = encoding = 0.0
    chosen = {id(parameter) for parameter in learning(model, training.only_ever)}
    for parameter in model.parameters():
        parameter.requires_grad_(id(parameter) in chosen)
    model.train()
    for number, example in enumerate(tried):
        began = perf_counter()
        with torch.no_grad():
            encode(example.segments[: training.crop])
        encoded = perf_counter()
        step(example, encode, np.random.default_rng(number), start.precision)
        if number or len(tried) == 1:
            encoding += encoded - began
            seconds += perf_counter() - encoded
            pieces += _pieces(example, training.crop)
    model.zero_grad(set_to_none=True)
    if device.type == "cuda":
        torch.cuda.empty_cache()
    per_epoch = sum(corpus.options.weight * _all_pieces(corpus, training.crop) for corpus in start.train)
    all_steps = training.epochs * per_epoch * seconds / pieces
    if isinstance(start.encode, EncodingCache):  # encoded once, whatever the number of epochs
        all_steps -= (training.epochs - 1) * per_epoch * encoding / pieces
    return max(0.0, all_steps) + training.epochs * _evaluation_seconds(start)


def _evaluation_seconds(start: Start) -> float:
    """Of all dev corpora, by the shortest document of each."""
    total = 0.0
    for corpus in start.dev:
        shortest = min(corpus.examples, key=lambda example: _pieces(example, None))
        scheme = corpus.options.scheme or start.checkpoint.config.schemes[0]
        found = evaluate(start.checkpoint, [EvaluationCorpus("tried", [shortest.document], scheme, True)])
        seconds = found.encoder_seconds + found.other_seconds
        total += seconds * _all_pieces(corpus, None) / _pieces(shortest, None)
    return total


def _spread(examples: Sequence[Example], count: int) -> list[Example]:
    """Some documents from the shorter to the longer ones, of the middle of each part."""
    ordered = sorted(examples, key=lambda example: _pieces(example, None))
    count = min(count, len(ordered))
    return [ordered[(2 * number + 1) * len(ordered) // (2 * count)] for number in range(count)]


def _all_pieces(corpus: TrainingCorpus, crop: int | None) -> int:
    return sum(_pieces(example, crop) for example in corpus.examples)


def _pieces(example: Example, crop: int | None) -> int:
    return sum(len(segment) for segment in example.segments[:crop])
