"""What a recipe will do, without doing it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from streamcoref.model.checkpoint import Checkpoint
from streamcoref.training.bundling import BundleOptions, bundled_mb
from streamcoref.training.data import TrainingCorpus, epoch_length
from streamcoref.training.distributed import Workers
from streamcoref.training.optimizing import learning
from streamcoref.training.recipe import Recipe
from streamcoref.training.start import prepare
from streamcoref.training.timing import estimate_seconds


def plan(recipe: Recipe, timed: bool = False, made: BundleOptions | None = None) -> dict[str, Any]:
    """Documents, steps, parameters and an estimate of the memory and the disk space that training needs.

    With `timed` also of the hours, for which a few documents are gone through; with what is `made` of its model the
    files of that one.
    """
    start = prepare(recipe)
    model = start.checkpoint.model
    parameters = sum(p.numel() for p in model.parameters())
    trained = sum(p.numel() for p in learning(model, recipe.training.only_ever))
    examples = [example for corpus in start.train for example in corpus.examples]
    longest = max(sum(len(s) for s in example.segments[: recipe.training.crop]) for example in examples)
    workers = Workers().count
    steps = steps_per_epoch(start.train, workers)
    planned: dict[str, Any] = {
        "kind": start.checkpoint.config.kind,
        "train_documents": {c.options.name: len(c.examples) for c in start.train},
        "dev_documents": {c.options.name: len(c.examples) for c in start.dev},
        "train_pieces": sum(len(s) for example in examples for s in example.segments),
        "epochs": recipe.training.epochs,
        "steps_per_epoch": steps,
        "steps": steps * recipe.training.epochs,
        "parameters": parameters,
        "conversion": start.conversion,
        "trained_parameters": trained,
        "longest_step_in_pieces": longest,
        "memory_gb": round(estimate_memory(start.checkpoint, parameters, trained, longest) / 1e9, 2),
        # The models `best` and `last`, and in the state the weights with Adam's two moments of those that learn.
        "disk_gb": round(4e-9 * (3 * parameters + 2 * trained), 2),
    }
    if timed:
        planned["hours"] = round(estimate_seconds(start, recipe) / workers / 3600, 2)
    if made is not None:
        planned["bundle"] = {"folder": str(made.folder), "weights": made.weights, "files_mb": bundled_mb(made, model)}
    return planned


def steps_per_epoch(corpora: Sequence[TrainingCorpus], workers: int) -> int:
    """In a step each worker goes through a document; at the end of an epoch some may have none."""
    return math.ceil(epoch_length(corpora) / workers)


def estimate_memory(checkpoint: Checkpoint, parameters: int, trained: int, longest: int) -> float:
    """Bytes: weights, gradients and two Adam moments, and what the encoder keeps for going backward.

    A transformer layer keeps about 16 hidden sizes a piece (four projections, two norms, the wide layer twice,
    dropout masks); a frozen one keeps nothing. An incremental step keeps one segment, a baseline's all of its crop.
    """
    encoder, config = checkpoint.model.encoder, checkpoint.config
    pieces = longest if config.kind == "baseline" else config.segments.max_pieces
    layers = 0 if encoder.frozen else encoder.model.config.num_hidden_layers
    return 4.0 * (parameters + 3 * trained + 16 * layers * encoder.hidden_size * pieces)
