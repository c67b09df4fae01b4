"""What a recipe will do, without doing it."""

from __future__ import annotations

from typing import Any

from streamcoref.training.trainer import Trainer


def plan(trainer: Trainer) -> dict[str, Any]:
    """Documents, steps, parameters and an estimate of the memory that training needs."""
    model = trainer.model
    parameters = sum(p.numel() for p in model.parameters())
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    crop = trainer.recipe.training.crop
    examples = [example for corpus in trainer.corpora for example in corpus.examples]
    longest = max(sum(len(s) for s in example.segments[:crop]) for example in examples)
    return {
        "kind": trainer.config.kind,
        "train_documents": {c.options.name: len(c.examples) for c in trainer.corpora},
        "dev_documents": {c.options.name: len(c.examples) for c in trainer.dev},
        "train_pieces": sum(len(s) for example in examples for s in example.segments),
        "epochs": trainer.recipe.training.epochs,
        "steps_per_epoch": trainer.steps_per_epoch,
        "steps": trainer.total_steps,
        "parameters": parameters,
        "conversion": trainer.conversion,
        "trained_parameters": trained,
        "longest_step_in_pieces": longest,
        "memory_gb": round(estimate_memory(trainer, parameters, trained, longest) / 1e9, 2),
    }


def estimate_memory(trainer: Trainer, parameters: int, trained: int, longest: int) -> float:
    """Bytes: weights, gradients and two Adam moments, and what the encoder keeps for going backward.

    A transformer layer keeps about 16 hidden sizes a piece (four projections, two norms, the wide layer twice,
    dropout masks); a frozen one keeps nothing. An incremental step keeps one segment, a baseline's all of its crop.
    """
    encoder = trainer.model.encoder
    pieces = longest if trainer.config.kind == "baseline" else trainer.config.segments.max_pieces
    layers = 0 if encoder.frozen else encoder.model.config.num_hidden_layers
    return 4.0 * (parameters + 3 * trained + 16 * layers * encoder.hidden_size * pieces)
