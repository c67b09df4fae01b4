"""A trained model as it is handed to others: small on disk, without what only training needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import torch
from pydantic import Field, NonNegativeFloat, PositiveFloat

from streamcoref.checked import Options
from streamcoref.errors import StreamcorefError
from streamcoref.model.base import CorefModel
from streamcoref.model.checkpoint import CARD, Checkpoint, load_checkpoint, save_checkpoint
from streamcoref.model.config import build_model
from streamcoref.model.mention_score import LightMentionScorer
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer
from streamcoref.model.storage import Storage, stored_bytes
from streamcoref.model.weight_files import split
from streamcoref.training.conversion import take_weights


class EarlierModel(Options):
    """Of an earlier leg, and how much of its weights is blended in."""

    model: Path
    share: float = Field(gt=0, lt=1)


class BundleOptions(Options):
    source: Path  # a model folder, such as runs/last-leg/best
    folder: Path  # where it goes; a card that is there stays, for it is written by hand
    weights: Storage = "float16"  # how their numbers are stored
    max_file_mb: PositiveFloat = 95  # of 10^6 bytes; more weights are several files, for hosts that take none larger
    heads: tuple[Literal["types", "kinds", "statuses"], ...] = ("types",)  # that stay
    # What a clear conflict of names or genders costs beyond what was learnt: a model knows its training texts too well
    # to need these as much as on others.
    conflict_penalty: NonNegativeFloat = 0.0
    earlier: EarlierModel | None = None  # what the last leg has forgotten is still there
    # What is added, by scheme, to the scores by which spans are mentions and are linked: a model that has learnt from
    # others' doubts has more of them than it should.
    biases: dict[str, tuple[float, float]] = Field(default_factory=dict)


def bundle(options: BundleOptions) -> None:
    checkpoint = without_training(load_checkpoint(options.source), options.heads)
    if options.earlier is not None:
        blend_in(checkpoint.model, load_checkpoint(options.earlier.model).model, options.earlier.share)
    if options.conflict_penalty:
        penalise(checkpoint.model, options.conflict_penalty)
    lean(checkpoint.model, options.biases)
    card = options.folder / CARD
    text = card.read_text(encoding="utf-8") if card.exists() else f"# {options.folder.name}\n\nA streamcoref model.\n"
    save_checkpoint(options.folder, checkpoint, text, options.weights, options.max_file_mb)


def bundled_mb(options: BundleOptions, model: CorefModel) -> dict[str, float]:
    """Megabytes of each file of weights that will be made of a model like this one, whatever its numbers."""
    dropped = tuple(f"labels.heads.{head}." for head in model.labels.names if head not in options.heads)
    kept = {name: tensor.shape for name, tensor in model.state_dict().items() if not name.startswith(dropped)}
    sizes = stored_bytes(kept, options.weights)
    files = split(sizes, options.max_file_mb)
    return {file: round(sum(sizes[name] for name in names) / 1e6, 1) for file, names in files.items()}


def without_training(checkpoint: Checkpoint, heads: tuple[str, ...]) -> Checkpoint:
    """The model without what it learnt by alone: how its encoder was trained, and heads that are not to stay."""
    config = checkpoint.config
    encoder = config.encoder.model_copy(update={"trainable_from": None, "attention_dropout": None})
    dropped = {head: () for head in config.labels.heads if head not in heads}
    config = config.model_copy(update={"encoder": encoder, "labels": config.labels.model_copy(update=dropped)})
    model = build_model(config, tokenizer=checkpoint.tokenizer)
    take_weights(model, checkpoint.model)
    return checkpoint._replace(model=model.eval(), config=config)


@torch.no_grad()
def blend_in(model: CorefModel, other: CorefModel, share: float) -> None:
    """Make each weight a blend of the two; what the other has not, or in another shape, stays as it is."""
    given = other.state_dict()
    for name, tensor in model.state_dict().items():
        if name in given and given[name].shape == tensor.shape and tensor.is_floating_point():
            tensor.lerp_(given[name], share)


@torch.no_grad()
def lean(model: CorefModel, biases: Mapping[str, tuple[float, float]]) -> None:
    """Add to the mention scores and the link scores of schemes, which must weigh mentions in their own ways."""
    scorer = model.spans.scorer
    for scheme, added in biases.items():
        if scheme not in model.schemes:
            raise StreamcorefError(f"the model has no scheme {scheme!r}; it has {', '.join(model.schemes)}")
        if not isinstance(scorer, LightMentionScorer) or scorer.own_bias is None or scorer.outputs != len(added):
            raise StreamcorefError("only a scorer with own_weights and two outputs has biases of schemes")
        scorer.own_bias[model.schemes.index(scheme)] += torch.tensor(added)


@torch.no_grad()
def penalise(model: CorefModel, penalty: float) -> None:
    """Lower the prior score of conflicts: their embeddings move along the weights that read them."""
    scorer = model.pair_score
    assert isinstance(scorer, CoarseToFineScorer)
    features = scorer.prior_features
    size = features.size // len(features.features)
    for place, feature in enumerate(features.features):
        weights = scorer.prior.weight[0, place * size : (place + 1) * size]
        for value, clearly in feature.conflicts.items():
            features.table(feature.name)[value] -= penalty * clearly * weights / weights.square().sum()
