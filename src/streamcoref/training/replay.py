"""A segment's decisions once more, with gradients: every span against the entities it saw, in one go.

Algorithm 1 decides one span after another, and each decision changes an entity. Training first lets it run without
gradients. Its decisions then fix which *version* of each entity every span was compared with: the entities before
the segment are the first m versions, and span i makes version m + i, be it a new entity or one that it joined.
All versions are built with gradients, level by level, and all spans are scored against them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from streamcoref.model.agreement import ENTITY_TRAITS, note_traits
from streamcoref.model.incremental import IncrementalModel, Link
from streamcoref.model.memory import FORMS, EntityMemory
from streamcoref.model.pair_score import FeatureTables, Pairs
from streamcoref.model.score_table import SpanReadings
from streamcoref.model.segments import IntArray


@dataclass(frozen=True, eq=False)
class Before:
    """The memory as it was before a segment."""

    rows: Tensor  # [m, row size]
    ids: IntArray  # [m]
    sizes: IntArray  # [m]
    places: IntArray  # [m]
    forms: IntArray  # [m, 2, FORMS]
    traits: IntArray  # [m, ENTITY_TRAITS]


def snapshot(memory: EntityMemory, rows: Tensor) -> Before:
    """A copy of the memory; `rows` are its rows with their gradients."""
    m = len(memory)
    return Before(
        rows,
        memory.ids[:m].copy(),
        memory.sizes[:m].copy(),
        memory.places[:m].copy(),
        memory.forms[:m].copy(),
        memory.traits[:m].copy(),
    )


@dataclass(frozen=True, eq=False)
class Versions:
    """All versions of all entities that a segment of k spans saw or made, v = m + k."""

    rows: Tensor  # [v, row size], with gradients
    entities: IntArray  # [v], ids
    sizes: IntArray  # [v]
    places: IntArray  # [v]
    forms: IntArray  # [v, 2, FORMS]
    traits: IntArray  # [v, ENTITY_TRAITS]
    visible: npt.NDArray[np.bool_]  # [k, v], which versions were current when a span was decided
    last: dict[int, int]  # entity id -> its version after the segment


def make_versions(model: IncrementalModel, spans: SpanReadings, before: Before, links: Sequence[Link]) -> Versions:
    m, k = len(before.ids), len(links)
    current = {int(entity): version for version, entity in enumerate(before.ids)}
    previous = np.full(k, -1)
    level = np.zeros(k, dtype=np.int64)  # how many versions of this segment a version is built upon
    sizes = np.concatenate([before.sizes, np.ones(k, dtype=np.int64)])
    places = np.concatenate([before.places, spans.places])
    forms = np.concatenate([before.forms, np.zeros((k, 2, FORMS), dtype=np.int64)])
    traits = np.concatenate([before.traits, np.zeros((k, ENTITY_TRAITS), dtype=np.int64)])
    visible = np.zeros((k, m + k), dtype=bool)
    alive = np.arange(m + k) < m
    for i, link in enumerate(links):
        visible[i] = alive
        version = m + i
        if not link.is_new:
            old = current[link.entity]
            previous[i] = old
            level[i] = 0 if old < m else level[old - m] + 1
            sizes[version] = sizes[old] + 1
            forms[version] = forms[old]
            traits[version] = traits[old]
            alive[old] = False
        forms[version, :, (sizes[version] - 1) % FORMS] = spans.forms[i]
        note_traits(traits[version], spans.traits[i])
        alive[version] = True
        current[link.entity] = version
    entities = np.concatenate([before.ids, np.array([link.entity for link in links], dtype=np.int64)])
    rows = _build_rows(model, spans, before.rows, previous, level, sizes)
    return Versions(rows, entities, sizes, places, forms, traits, visible, current)


def _build_rows(
    model: IncrementalModel, spans: SpanReadings, before: Tensor, previous: IntArray, level: IntArray, sizes: IntArray
) -> Tensor:
    """Rows of all versions, [v, row size]: new ones are the spans' own, joined ones blends, one level at a time."""
    device = before.device
    m, size = len(before), model.update.reading_size
    rows = torch.cat([before, spans.rows])  # right for new entities; blends replace theirs below
    joined = previous >= 0
    for step in range(int(level.max(initial=-1)) + 1):
        now = np.flatnonzero(joined & (level == step))
        if len(now) == 0:
            continue
        i = torch.from_numpy(now).to(device)
        old = rows[torch.from_numpy(previous[now]).to(device)]
        counts = torch.from_numpy(sizes[previous[now]]).to(device, torch.float32)
        weight = model.update.weight(spans.update_readings[i], old[:, old.shape[1] - size :], counts)
        blend = torch.lerp(spans.rows[i], old, torch.as_tensor(weight, device=device)[:, None])
        rows = rows.index_copy(0, i + m, blend)
    return rows


def score_versions(
    model: IncrementalModel,
    spans: SpanReadings,
    link_scores: Tensor,
    versions: Versions,
    tables: FeatureTables,
    right: npt.NDArray[np.bool_],
) -> Tensor:
    """Link scores [k, v]; -inf where a version was not visible or not on the shortlist.

    `right` [k, v] marks versions that should be joined: they are on the shortlist in any case, so that a span can
    learn to find them.
    """
    scorer = model.pair_score
    device = versions.rows.device
    size = model.spans.vectors.size
    index = scorer.features.index_of_entities(
        spans.places[:, None],
        spans.forms[:, None],
        spans.traits,
        versions.places,
        versions.sizes,
        versions.forms,
        versions.traits,
    )
    features = torch.from_numpy(np.ascontiguousarray(index)).to(device)
    visible = torch.from_numpy(versions.visible).to(device)
    vectors, readings = versions.rows[:, :size], versions.rows[:, size : size + scorer.reading_size]
    pairs = Pairs(spans.vectors[:, None], spans.pair_readings[:, None], vectors[None], readings[None], features)
    scores = link_scores[:, None] + scorer.score(pairs, tables)
    scores = scores.masked_fill(~visible, -torch.inf)
    if scorer.shortlist is None or scores.shape[1] == 0:
        return scores
    wanted = scores.detach() + torch.where(torch.from_numpy(right).to(device), 1e4, 0.0)
    best = wanted.topk(min(scorer.shortlist, scores.shape[1]), dim=1).indices  # [k, c]
    pairs = Pairs(
        spans.vectors[:, None], spans.pair_readings[:, None], vectors[best], readings[best], features.gather(1, best)
    )
    refined = scores.gather(1, best) + scorer.refine(pairs, tables)
    return torch.full_like(scores, -torch.inf).scatter(1, best, refined)
