"""A model that starts from another: as in the paper, where an incremental model is converted from a baseline."""

from __future__ import annotations

import torch

from streamcoref.model.base import CorefModel
from streamcoref.model.features import PairFeatures
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer


def take_weights(model: CorefModel, source: CorefModel) -> tuple[list[str], list[str]]:
    """Copy what agrees in name and shape. Returns the names that stay new and those that were not taken.

    So a baseline becomes an incremental model: encoder, Spans and PairScore are reused, the update rule is new. A
    model with more pair features than the source, after the source's own, begins as if it had not got them: its layers
    take the source's columns and have zeros for the others. Values of features that no two mentions have, and so no
    baseline has learnt, begin as the features say.
    """
    mine, given = model.state_dict(), source.state_dict()
    taken = {name for name, tensor in given.items() if name in mine and mine[name].shape == tensor.shape}
    model.load_state_dict({name: given[name] for name in taken}, strict=False)
    for features, layer in (("features", "net.hidden.weight"), ("prior_features", "prior.weight")):
        name = f"pair_score.{layer}"
        if name in given.keys() & mine.keys() - taken and _has_more(model, source, features):
            columns = given[name].shape[1]
            mine[name][:, :columns] = given[name]
            mine[name][:, columns:] = 0
            taken.add(name)
    if source.compares_with == "mentions" and model.compares_with == "entities":
        begin_values(model)
    return sorted(mine.keys() - taken), sorted(given.keys() - taken)


@torch.no_grad()
def begin_values(model: CorefModel) -> None:
    """Give the values of features that a baseline does not know their beginnings."""
    scorer = model.pair_score
    every = [scorer.features, scorer.prior_features] if isinstance(scorer, CoarseToFineScorer) else [scorer.features]
    for features in every:
        for feature in features.features:
            table = features.table(feature.name)
            for value, beginning in feature.beginnings.items():
                table[value] = table[beginning.like]
    if isinstance(scorer, CoarseToFineScorer):
        _begin_priors(scorer)


def _begin_priors(scorer: CoarseToFineScorer) -> None:
    """So much more does a value score: its embedding goes so far along the weights that it is scored by."""
    features = scorer.prior_features
    size = features.size // len(features.features)
    for place, feature in enumerate(features.features):
        weights = scorer.prior.weight[0, place * size : (place + 1) * size]
        if feature.beginnings and not weights.any():
            weights.fill_(size**-0.5)  # a feature that the source has not got
            features.table(feature.name).zero_()
        for value, beginning in feature.beginnings.items():
            features.table(feature.name)[value] += beginning.more * weights / weights.square().sum()


def _has_more(model: CorefModel, source: CorefModel, features: str) -> bool:
    """Whether a model has the pair features of the source, and others after them, and else the same scorer."""
    more: PairFeatures | None = getattr(model.pair_score, features, None)
    fewer: PairFeatures | None = getattr(source.pair_score, features, None)
    if more is None or fewer is None or more.names[: len(fewer.names)] != fewer.names:
        return False
    sizes = {name: tensor.shape for name, tensor in more.state_dict().items()}
    return all(sizes[name] == tensor.shape for name, tensor in fewer.state_dict().items()) and (
        model.pair_score.reading_size == source.pair_score.reading_size
        and model.spans.vectors.size == source.spans.vectors.size
    )
