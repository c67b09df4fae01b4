"""A segment's decisions once more, with gradients: every span against the entities it saw, in one go.

Algorithm 1 decides one span after another, and each decision changes an entity. Training first lets it run without
gradients. Its decisions then fix which *version* of each entity every span was compared with: the entities before
the segment are the first m versions, and span i makes version m + i, be it a new entity or one that it joined.
All versions are built with gradients, level by level, and all spans are scored against them together. For a scorer that
reads text a version has the texts that its entity had then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from streamcoref.model.features import FeatureIndex
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.memory import EntityMemory, EntityRecord, note_mention
from streamcoref.model.notes import IntArray, Notes
from streamcoref.model.pair_score import FeatureTables, Pairs
from streamcoref.model.reading import Link
from streamcoref.model.rows import entity_rows
from streamcoref.model.span_readings import SpanReadings
from streamcoref.model.text_context import TextContext

Texts = tuple[TextContext, ...]  # of an entity's latest mentions
FIRST_OF_ALL = 1e4  # more than any score: it puts a version on the shortlist whatever its own


@dataclass(frozen=True, eq=False)
class Before:
    """The memory as it was before a segment."""

    rows: Tensor  # [m, row size]
    notes: Notes  # [m]
    texts: list[Texts]  # [m], or empty if the scorer does not read text
    contexts: int  # how many an entity has at most


def snapshot(memory: EntityMemory, rows: Tensor) -> Before:
    """A copy of the memory; `rows` are its rows with their gradients."""
    return Before(rows, memory.notes.at(slice(0, len(memory))).copy(), list(memory.texts), memory.contexts)


def with_revived(before: Before, records: Sequence[EntityRecord], model: IncrementalModel) -> Before:
    """With those behind it who came back from the register at the beginning of the segment."""
    if not records:
        return before
    m = len(before.notes)
    notes = before.notes.resized(m + len(records), m)
    for slot, record in enumerate(records, start=m):
        for name, column in notes.columns.items():
            column[slot] = record.notes[name]
    vectors = model.layout.vectors(torch.stack([record.row for record in records]))
    rows = torch.cat([before.rows, entity_rows(vectors, model.pair_score, model.update)])
    return Before(
        rows, notes, [*before.texts, *(record.texts for record in records if before.contexts)], before.contexts
    )


@dataclass(frozen=True, eq=False)
class Versions:
    """All versions of all entities that a segment of k spans saw or made, v = m + k."""

    rows: Tensor  # [v, row size], with gradients
    notes: Notes  # [v]
    texts: list[Texts]  # [v], the latest mentions of each version, for scorers that read text
    visible: npt.NDArray[np.bool_]  # [k, v], which versions were current when a span was decided
    last: dict[int, int]  # entity id -> its version after the segment

    @property
    def entities(self) -> IntArray:
        """[v], ids"""
        return self.notes["id"]


def make_versions(model: IncrementalModel, spans: SpanReadings, before: Before, links: Sequence[Link]) -> Versions:
    m, k = len(before.notes), len(links)
    features = model.pair_score.features.features
    notes = before.notes.resized(m + k, m)
    current = {int(entity): version for version, entity in enumerate(before.notes["id"])}
    previous = np.full(k, -1)
    level = np.zeros(k, dtype=np.int64)  # how many versions of this segment a version is built upon
    visible = np.zeros((k, m + k), dtype=bool)
    alive = np.arange(m + k) < m
    texts = list(before.texts)
    for i, link in enumerate(links):
        visible[i] = alive
        version = m + i
        if spans.texts:
            earlier = () if link.is_new else texts[current[link.entity]]
            texts.append((*earlier, spans.texts[i])[-before.contexts :])
        if not link.is_new:
            old = current[link.entity]
            previous[i] = old
            level[i] = 0 if old < m else level[old - m] + 1
            notes.set(version, notes, old)
            alive[old] = False
        notes["id"][version] = link.entity
        note_mention(notes, version, spans.notes, i, features)
        alive[version] = True
        current[link.entity] = version
    rows = _build_rows(model, spans, before.rows, previous, level, notes["size"])
    return Versions(rows, notes, texts, visible, current)


def _build_rows(
    model: IncrementalModel, spans: SpanReadings, before: Tensor, previous: IntArray, level: IntArray, sizes: IntArray
) -> Tensor:
    """Rows of all versions, [v, row size]: new ones are the spans' own, joined ones blends, one level at a time."""
    device = before.device
    m = len(before)
    rows = torch.cat([before, spans.rows])  # right for new entities; blends replace theirs below
    joined = previous >= 0
    for step in range(int(level.max(initial=-1)) + 1):
        now = np.flatnonzero(joined & (level == step))
        if len(now) == 0:
            continue
        i = torch.from_numpy(now).to(device)
        old = rows[torch.from_numpy(previous[now]).to(device)]
        counts = torch.from_numpy(sizes[previous[now]]).to(device, torch.float32)
        weight = model.update.weight(spans.update_readings[i], model.layout.update_readings(old), counts)
        blend = torch.lerp(spans.rows[i], old, torch.as_tensor(weight, device=device)[:, None])
        rows = rows.index_copy(0, i + m, blend)
    return rows


def score_versions(
    model: IncrementalModel,
    spans: SpanReadings,
    link_scores: Tensor,
    versions: Versions,
    index: FeatureIndex,
    tables: FeatureTables,
    right: npt.NDArray[np.bool_],
) -> Tensor:
    """Link scores [k, v]; -inf where a version was not visible or not on the shortlist.

    `right` [k, v] marks versions that should be joined: they are on the shortlist in any case, so that a span can
    learn to find them.
    """
    scorer, layout = model.pair_score, model.layout
    device = versions.rows.device
    combinations = index(spans.notes.at((slice(None), None)), versions.notes)
    features = torch.from_numpy(np.ascontiguousarray(combinations)).to(device)
    visible = torch.from_numpy(versions.visible).to(device)
    vectors, readings = layout.vectors(versions.rows), layout.pair_readings(versions.rows)

    def row(span: int, chosen: Tensor) -> Pairs:
        """One span against the versions of these numbers [n], with their texts."""
        return Pairs(
            spans.vectors[span][None],
            spans.pair_readings[span][None],
            vectors[chosen],
            readings[chosen],
            features[span, chosen],
            spans.texts[span],
            [versions.texts[version] for version in chosen.tolist()],
        )

    if scorer.uses_text and scorer.shortlist is None:
        seen = {span: current.nonzero()[:, 0] for span, current in enumerate(visible) if current.any()}
        found = {span: link_scores[span] + scorer.score(row(span, chosen), tables) for span, chosen in seen.items()}
        return _scattered(found, seen, visible.shape)
    pairs = Pairs(spans.vectors[:, None], spans.pair_readings[:, None], vectors[None], readings[None], features)
    scores = link_scores[:, None] + scorer.score(pairs, tables)
    scores = scores.masked_fill(~visible, -torch.inf)
    if scorer.shortlist is None or scores.shape[1] == 0:
        return scores
    wanted = scores.detach() + torch.where(torch.from_numpy(right).to(device), FIRST_OF_ALL, 0.0)
    best = wanted.topk(min(scorer.shortlist, scores.shape[1]), dim=1).indices  # [k, c]
    if scorer.uses_text:
        listed = {span: numbers[visible[span, numbers]] for span, numbers in enumerate(best) if visible[span].any()}
        above = scores.detach() - model.new_entity_score
        rows = [row(span, chosen)._replace(so_far=above[span, chosen]) for span, chosen in listed.items()]
        refined = scorer.refine_all(rows, tables)
        found = {span: scores[span, listed[span]] + more for span, more in zip(listed, refined, strict=True)}
        return _scattered(found, listed, visible.shape)
    pairs = Pairs(
        spans.vectors[:, None], spans.pair_readings[:, None], vectors[best], readings[best], features.gather(1, best)
    )
    return torch.full_like(scores, -torch.inf).scatter(1, best, scores.gather(1, best) + scorer.refine(pairs, tables))


def _scattered(values: Mapping[int, Tensor], columns: Mapping[int, Tensor], shape: torch.Size) -> Tensor:
    """The values of some rows at columns of their own, in a table of the shape [k, v] that is -inf elsewhere."""
    if not values:
        return torch.full(shape, -torch.inf)
    rows = torch.cat([torch.full_like(places, row) for row, places in columns.items()])
    places, every = torch.cat(list(columns.values())), torch.cat(list(values.values())).float()
    return torch.full(shape, -torch.inf, device=every.device).index_put((rows, places), every)
