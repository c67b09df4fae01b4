"""What a run begins with: the model before its first step, and the documents that it learns from."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from streamcoref.errors import StreamcorefError
from streamcoref.model.base import CorefModel
from streamcoref.model.checkpoint import Checkpoint, load_checkpoint, load_tokenizer
from streamcoref.model.config import build_encoder, build_model
from streamcoref.model.encoder_service import Encode
from streamcoref.model.tokenizer import PieceTokenizer
from streamcoref.training.augmenting import Augment, Augmenter, AugmentOptions, as_it_is
from streamcoref.training.conversion import take_weights
from streamcoref.training.data import TrainingCorpus, epoch_length, load_corpora
from streamcoref.training.device import choose_device
from streamcoref.training.encodings import EncodingCache
from streamcoref.training.hidden_pieces import HiddenPieces
from streamcoref.training.label_loss import right_labels
from streamcoref.training.optimizing import check_rates, encoders, learning
from streamcoref.training.precision import Precision, choose_precision
from streamcoref.training.recipe import Recipe


@dataclass(frozen=True, eq=False)
class Start:
    """The model is on its device, and what of its encoder should not learn is frozen."""

    checkpoint: Checkpoint
    conversion: dict[str, list[str]]  # where the weights are another model's: which tensors are `new`, and `not_taken`
    encode: Encode
    precision: Precision
    train: list[TrainingCorpus]
    dev: list[TrainingCorpus]
    augment: Augment

    @property
    def device(self) -> torch.device:
        return self.precision.device


def prepare(recipe: Recipe) -> Start:
    """All that a recipe asks for, or why it cannot be run. The same at each time: new weights come from the seed."""
    device = choose_device(recipe.run.device)
    precision = choose_precision(recipe.run.precision, device)
    if recipe.run.threads is not None:
        torch.set_num_threads(recipe.run.threads)
    torch.manual_seed(recipe.training.seed)
    model, tokenizer, conversion = start_model(recipe)
    if recipe.training.encoder_rate == 0:
        for encoder in encoders(model):
            encoder.requires_grad_(False)
            encoder.frozen = True
    learning(model, recipe.training.only)  # or say which of the names is nobody's
    check_rates(model, recipe.training.rates)
    checkpoint = Checkpoint(model.to(device), recipe.model_config_of(), tokenizer)
    train, dev = (load_corpora(recipe, checkpoint, use) for use in ("train", "dev"))
    if not train:
        raise StreamcorefError('the recipe has no corpus to train on: give one with use = "train"')
    if epoch_length(train) == 0:
        raise StreamcorefError("the weights of the training corpora leave no document; give one of them more")
    _check_labels(recipe, model, train)
    augment = _augment(recipe, checkpoint)
    return Start(checkpoint, conversion, _encode(recipe, checkpoint), precision, train, dev, augment)


def _augment(recipe: Recipe, checkpoint: Checkpoint) -> Augment:
    options = recipe.training.augment
    if options == AugmentOptions():
        return as_it_is
    if recipe.run.cache is not None and checkpoint.model.encoder.frozen:
        raise StreamcorefError(
            "training.augment makes another text at each visit, so that a cache of encodings has nothing to keep; "
            "leave out one of the two"
        )
    return Augmenter(options, checkpoint.segmenter)


def _check_labels(recipe: Recipe, model: CorefModel, train: list[TrainingCorpus]) -> None:
    """Raise if something is to be learnt of labels that the model has no head for, or no corpus has labels of."""
    labels = [label for corpus in train for example in corpus.examples for label in example.document.labels.values()]
    for head in recipe.training.label_weights.heads:
        if head not in model.labels.names:
            raise StreamcorefError(f"training.label_weights: the model has no {head}; name them in its labels.{head}")
        if not right_labels(head, model.labels.names[head], labels).any():
            raise StreamcorefError(f"training.label_weights: no training corpus has labels of its {head}")
    if recipe.training.label_weights.mentions and not any(c.options.labels and c.options.labels.scheme for c in train):
        raise StreamcorefError("training.label_weights: no training corpus says by labels.scheme whose mentions it has")


def _encode(recipe: Recipe, checkpoint: Checkpoint) -> Encode:
    """The model's encoder; where it is frozen, with a cache, and where pieces are hidden from it, without them."""
    encoder = checkpoint.model.encoder
    if recipe.training.hidden_pieces:
        return HiddenPieces(encoder, checkpoint.tokenizer, recipe.training.hidden_pieces)
    if recipe.run.cache is not None and encoder.frozen:
        return EncodingCache(encoder, recipe.run.cache)
    return encoder


def start_model(recipe: Recipe) -> tuple[CorefModel, PieceTokenizer, dict[str, list[str]]]:
    """The model before its first step: random heads on a pretrained encoder, or the weights of another model.

    In the second case, also the names of the tensors that stay new and of those that were not taken.
    """
    config = recipe.model_config_of()
    if recipe.model.start_from is not None:
        given = load_checkpoint(recipe.model.start_from)
        encoder = config.encoder.model_copy(update={"architecture": given.config.encoder.architecture})
        model = build_model(config.model_copy(update={"encoder": encoder}), tokenizer=given.tokenizer)
        new, left = take_weights(model, given.model)
        if given.config.pair_score.name != config.pair_score.name:
            model.pair_score.begin(model.encoder)
        return model, given.tokenizer, {"new": new, "not_taken": left}
    if config.encoder.name is None:
        raise StreamcorefError("encoder.name is missing: give a hub name or the folder of a pretrained encoder")
    try:
        tokenizer = load_tokenizer(config.encoder.name)
    except StreamcorefError:
        build_encoder(config, pretrained=True)  # which says so, if there is no encoder at all
        raise
    model = build_model(config, pretrained=True, tokenizer=tokenizer)
    model.pair_score.begin(model.encoder)
    return model, tokenizer, {}
