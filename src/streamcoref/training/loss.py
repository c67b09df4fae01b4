"""The losses: of antecedents (baseline), of entities (incremental), of mentions (both)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from streamcoref.document import Clusters, Span
from streamcoref.model.baseline import Antecedents, DocumentSpans
from streamcoref.model.spans import SegmentSpans
from streamcoref.training.labels import mention_labels

NOTHING: Mapping[Span, float] = MappingProxyType({})


def choice_loss(scores: Tensor, right: Tensor, new_score: float = 0.0) -> Tensor:
    """-log of the share of the right choices, [k], given scores [k, n] and which are right [k, n].

    A row in which nothing is right should choose "new".
    """
    new = scores.new_full((len(scores), 1), new_score)
    every = torch.cat([new, scores], dim=1).float()  # also of scores in mixed precision
    is_right = torch.cat([~right.any(1, keepdim=True), right], dim=1)
    return torch.logsumexp(every, dim=1) - torch.logsumexp(every.masked_fill(~is_right, -torch.inf), dim=1)


def antecedent_loss(
    spans: DocumentSpans, antecedents: Antecedents, clusters: Clusters, sure: Mapping[Span, float] = NOTHING
) -> Tensor:
    """Marginal log-likelihood over all gold antecedents among those compared, summed over spans.

    Of spans that a teacher was not `sure` of, as much as it was.
    """
    cluster_of = {span: number for number, cluster in enumerate(clusters) for span in cluster}
    mentions = [mention for part in spans.parts for mention in part.mentions]
    gold = torch.tensor(
        [-1 if mention is None else cluster_of.get(mention, -1) for mention in mentions],
        dtype=torch.long,
        device=antecedents.rows.device,
    )
    right = (gold[antecedents.rows] == gold[:, None]) & (gold[:, None] >= 0) & antecedents.scores.isfinite()
    losses = choice_loss(antecedents.scores, right)
    return losses.sum() if not sure else (losses * losses.new_tensor(weights_of(mentions, sure))).sum()


def entity_loss(
    scores: Tensor,
    right: npt.NDArray[np.bool_],
    negative_rate: float,
    random: np.random.Generator,
    new_score: float = 0.0,
    weights: Sequence[float] | None = None,
) -> Tensor:
    """-log of the share of the right entities, summed over spans, each with its weight [k].

    Of spans that should start an entity only a share of `negative_rate` is counted.
    """
    counted = right.any(1) | (random.random(len(right)) < negative_rate)
    losses = choice_loss(scores, torch.from_numpy(right).to(scores.device), new_score)
    if weights is not None:
        losses = losses * losses.new_tensor(weights)
    return losses[torch.from_numpy(counted).to(scores.device)].sum()


def weights_of(mentions: Sequence[Span | None], sure: Mapping[Span, float]) -> list[float]:
    return [sure.get(mention, 1.0) if mention else 1.0 for mention in mentions]


def mention_loss(spans: SegmentSpans, clusters: Clusters, chances: Mapping[Span, float] = NOTHING) -> Tensor:
    """Cross-entropy of all candidates of a segment, summed: is it a mention or not, or by which chance."""
    mentions = {**dict.fromkeys((span for cluster in clusters for span in cluster), 1.0), **chances}
    labels = mention_labels(spans.candidate_mentions, mentions)
    scores = spans.candidate_scores
    return F.binary_cross_entropy_with_logits(scores, torch.from_numpy(labels).to(scores.device), reduction="sum")
