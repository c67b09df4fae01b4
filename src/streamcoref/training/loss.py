"""The losses: of antecedents (baseline), of entities (incremental), of mentions (both)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from streamcoref.document import Clusters
from streamcoref.model.baseline import Antecedents, DocumentSpans
from streamcoref.model.spans import SegmentSpans
from streamcoref.training.labels import mention_labels


def choice_loss(scores: Tensor, right: Tensor, new_score: float = 0.0) -> Tensor:
    """-log of the share of the right choices, [k], given scores [k, n] and which are right [k, n].

    A row in which nothing is right should choose "new".
    """
    new = scores.new_full((len(scores), 1), new_score)
    every = torch.cat([new, scores], dim=1).float()  # also of scores in mixed precision
    is_right = torch.cat([~right.any(1, keepdim=True), right], dim=1)
    return torch.logsumexp(every, dim=1) - torch.logsumexp(every.masked_fill(~is_right, -torch.inf), dim=1)


def antecedent_loss(spans: DocumentSpans, antecedents: Antecedents, clusters: Clusters) -> Tensor:
    """Marginal log-likelihood over all gold antecedents among those compared, summed over spans."""
    cluster_of = {span: number for number, cluster in enumerate(clusters) for span in cluster}
    mentions = [mention for part in spans.parts for mention in part.mentions]
    gold = torch.tensor(
        [-1 if mention is None else cluster_of.get(mention, -1) for mention in mentions],
        dtype=torch.long,
        device=antecedents.rows.device,
    )
    right = (gold[antecedents.rows] == gold[:, None]) & (gold[:, None] >= 0) & antecedents.scores.isfinite()
    return choice_loss(antecedents.scores, right).sum()


def entity_loss(
    scores: Tensor,
    right: npt.NDArray[np.bool_],
    negative_rate: float,
    random: np.random.Generator,
    new_score: float = 0.0,
) -> Tensor:
    """-log of the share of the right entities, summed over spans.

    Of spans that should start an entity only a share of `negative_rate` is counted.
    """
    counted = right.any(1) | (random.random(len(right)) < negative_rate)
    losses = choice_loss(scores, torch.from_numpy(right).to(scores.device), new_score)
    return losses[torch.from_numpy(counted).to(scores.device)].sum()


def mention_loss(spans: SegmentSpans, clusters: Clusters) -> Tensor:
    """Cross-entropy of all candidates of a segment, summed: is it a mention or not."""
    labels = mention_labels(spans.candidate_mentions, (span for cluster in clusters for span in cluster))
    scores = spans.candidate_scores
    return F.binary_cross_entropy_with_logits(scores, torch.from_numpy(labels).to(scores.device), reduction="sum")
