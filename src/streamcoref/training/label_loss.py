"""What is learnt of the labels of mentions, besides coreference: types, kinds, status, and what a mention is at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from streamcoref.corpora.labels import Labels
from streamcoref.document import Span
from streamcoref.mention_labels import MentionLabels
from streamcoref.model.base import CorefModel
from streamcoref.model.candidates import Candidates
from streamcoref.model.segments import Segment
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.vocabulary import number_of
from streamcoref.training.loss import mention_loss


@dataclass(frozen=True)
class LabelTasks:
    """The weight of each head's loss, and that of the mentions of a scheme: all spans that have a label are its."""

    heads: Mapping[str, float] = field(default_factory=dict)
    mentions: float = 0.0
    scheme: str | None = None


def label_loss(model: CorefModel, pieces: Tensor, spans: SegmentSpans, labels: Labels, tasks: LabelTasks) -> Tensor:
    """The sum over the labelled mentions of a segment, whether the model has proposed them or not.

    `pieces` are the segment's, [n, hidden]. Mentions are scored once more, by the scheme whose they are, and all
    candidates of the segment count.
    """
    loss = pieces.new_zeros(())
    segment = spans.segment
    first, end = segment.first_word, segment.first_word + len(segment.words)
    inside = sorted(span for span in labels if first <= span[0] and span[1] <= end)
    if tasks.heads:
        mentions, places = place_mentions(segment, inside, model.spans.max_width)
        vectors = model.spans.vectors(pieces, places)
        known = [labels[mention] for mention in mentions]
        for head, weight in tasks.heads.items():
            right = right_labels(head, model.labels.names[head], known)
            loss = loss + weight * share_loss(model.labels(head, vectors), torch.from_numpy(right).to(vectors.device))
    if tasks.mentions:
        scheme = number_of(tasks.scheme, model.schemes)
        scores = model.spans.scorer(pieces, spans.candidates, model.spans.vectors, scheme)
        loss = loss + tasks.mentions * mention_loss(replace(spans, candidate_scores=scores.prune), (tuple(inside),))
    return loss


def place_mentions(segment: Segment, mentions: Sequence[Span], max_width: int) -> tuple[list[Span], Candidates]:
    """The sorted mentions of a segment as pieces, without those that are wider than a candidate may be."""
    words, first_pieces = np.unique(segment.word_of_piece, return_index=True)
    last_pieces = len(segment) - 1 - np.unique(segment.word_of_piece[::-1], return_index=True)[1]
    starts = first_pieces[np.searchsorted(words, [start for start, _ in mentions])].astype(np.int64)
    ends = last_pieces[np.searchsorted(words, [end - 1 for _, end in mentions])].astype(np.int64)
    fitting = ends - starts < max_width
    kept = [mention for mention, fits in zip(mentions, fitting, strict=True) if fits]
    return kept, Candidates(starts[fitting], ends[fitting])


def right_labels(head: str, names: Sequence[str], labels: Sequence[MentionLabels]) -> npt.NDArray[np.bool_]:
    """Which of a head's labels may be right for each mention, [k, labels]; none where nothing is known."""
    values = [
        label.types if head == "types" else (label.kind if head == "kinds" else label.status,) for label in labels
    ]
    return np.array([[name in value for name in names] for value in values], dtype=bool).reshape(-1, len(names))


def share_loss(scores: Tensor, right: Tensor) -> Tensor:
    """-log of the share of the right labels, summed over the rows [k, labels] in which any is right."""
    known = right.any(1)
    scores, right = scores[known].float(), right[known]
    return (torch.logsumexp(scores, 1) - torch.logsumexp(scores.masked_fill(~right, -torch.inf), 1)).sum()
