"""Pair scorers: readings taken apart and put together are the concatenated computation, in every shape of pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from streamcoref.model.features import PairFeatures
from streamcoref.model.pair_score import FeatureTables, Pairs, PairScorer
from streamcoref.model.pair_score.coarse_to_fine import IN_ONE_THREAD, CoarseToFineScorer, parts_of
from streamcoref.model.pair_score.feed_forward import FeedForwardScorer
from tests.model.features import pairs as feature_pairs

SIZE, HIDDEN = 6, 10
FIXED: dict[str, int | None] = {"speaker": None, "segment": 0, "genre": 1, "scheme": 0}


def features(*names: str) -> PairFeatures:
    return PairFeatures([feature_pairs.build(name) for name in names], 3)


def feed_forward() -> FeedForwardScorer:
    return FeedForwardScorer(SIZE, HIDDEN, features("speaker", "genre", "distance", "segment"))


def coarse_to_fine() -> CoarseToFineScorer:
    return CoarseToFineScorer(SIZE, HIDDEN, features("genre", "distance", "size"), features("distance"), shortlist=2)


MAKERS: dict[str, Callable[[], PairScorer]] = {"feed_forward": feed_forward, "coarse_to_fine": coarse_to_fine}


@pytest.fixture
def spans() -> Tensor:
    return torch.randn(4, SIZE, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def entities() -> Tensor:
    return torch.randn(5, SIZE, generator=torch.Generator().manual_seed(2))


def plain(scorer: PairScorer, span: Tensor, entity: Tensor, distance: int, size: int) -> tuple[float, float]:
    """Score and refinement of one pair, everything concatenated."""

    def embed(table: PairFeatures) -> Tensor:
        values = {**FIXED, "distance": distance, "size": size}
        rows = []
        for name in table.names:
            weight, value = table.tables[name].weight, values[name]
            rows.append(torch.zeros(3) if value is None else weight[value])
        return torch.cat(rows)

    assert isinstance(scorer, FeedForwardScorer | CoarseToFineScorer)
    fine = scorer.net(torch.cat([span, entity, span * entity, embed(scorer.features)])).item()
    if isinstance(scorer, FeedForwardScorer):
        return fine, 0.0
    return (scorer.bilinear(span) @ entity + scorer.prior(embed(scorer.prior_features))[0]).item(), fine


def pairs_of(scorer: PairScorer, spans: Tensor, entities: Tensor, index: Tensor) -> Pairs:
    return Pairs(spans, scorer.read_spans(spans), entities, scorer.read_entities(entities), index)


@pytest.mark.parametrize("name", MAKERS)
@torch.inference_mode()
def test_a_block_a_row_and_a_list_of_pairs_all_equal_the_plain_computation(
    name: str, spans: Tensor, entities: Tensor
) -> None:
    torch.manual_seed(0)
    scorer = MAKERS[name]()
    choose = np.random.default_rng(0)
    distances, sizes = choose.integers(0, 10, (4, 5)), choose.integers(0, 10, (4, 5))
    steps = {feature.name: step for feature, step in scorer.features.index(FIXED).steps}
    index = torch.from_numpy(distances * steps["distance"] + sizes * steps.get("size", 0))
    tables = scorer.fold_features(FIXED)
    expected = torch.tensor(
        [
            [plain(scorer, spans[i], entities[j], int(distances[i, j]), int(sizes[i, j])) for j in range(5)]
            for i in range(4)
        ]
    )  # [4, 5, score and refinement]

    def both(pairs: Pairs) -> Tensor:
        score = scorer.score(pairs, tables)
        return torch.stack([score, scorer.refine(pairs, tables) if scorer.shortlist else torch.zeros_like(score)], -1)

    every = pairs_of(scorer, spans, entities, index)
    block = Pairs(
        every.span[:, None], every.span_reading[:, None], every.entity[None], every.entity_reading[None], index
    )
    torch.testing.assert_close(both(block), expected, atol=1e-5, rtol=1e-5)
    for i in range(4):
        row = pairs_of(scorer, spans[i : i + 1], entities, index[i])
        torch.testing.assert_close(both(row), expected[i], atol=1e-5, rtol=1e-5)
    a, b = torch.tensor([0, 3, 3, 1, 2]), torch.tensor([4, 0, 2, 2, 1])
    listed = pairs_of(scorer, spans[a], entities[b], index[a, b])
    torch.testing.assert_close(both(listed), expected[a, b], atol=1e-5, rtol=1e-5)


class Otherwise(CoarseToFineScorer):
    def refine(self, pairs: Pairs, tables: FeatureTables) -> Tensor:
        return torch.zeros(len(pairs.entity))


@pytest.mark.parametrize("parts", [1, 3])
@torch.inference_mode()
def test_the_quicker_way_refines_as_the_scorer_does(
    parts: int, spans: Tensor, entities: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One span after another, against any of the entities, which may have changed since; in one product or some."""
    scorer = coarse_to_fine()
    monkeypatch.setattr("streamcoref.model.pair_score.coarse_to_fine.IN_ONE_THREAD", 2 * HIDDEN * SIZE // parts)
    tables, readings = scorer.fold_features(FIXED), scorer.read_spans(spans)
    rows = torch.cat([entities, scorer.read_entities(entities)], dim=1)
    refine = scorer.row_refiner(spans, readings, rows[:, :SIZE], rows[:, SIZE:], tables)
    assert refine is not None
    rows[3] = rows[1]
    for span, slots, features in ((0, [0, 3], [5, 99]), (2, [4], [0]), (3, [4, 2, 1, 3, 0], [1, 1, 12, 70, 5])):
        pairs = pairs_of(scorer, spans[span : span + 1], rows[slots, :SIZE], torch.tensor(features))
        expected = scorer.refine(pairs, tables)
        found = refine(span, np.array(slots), np.array(features))
        torch.testing.assert_close(torch.from_numpy(found), expected, atol=1e-5, rtol=1e-5)
    for other in (feed_forward(), Otherwise(SIZE, HIDDEN, scorer.features, scorer.prior_features, shortlist=2)):
        assert other.row_refiner(spans, readings, rows[:, :SIZE], rows[:, SIZE:], tables) is None


def test_a_product_is_cut_where_each_part_fits_into_one_thread() -> None:
    assert parts_of(384, 6 * 256) == 3
    assert parts_of(384, 5) == 1
    assert parts_of(7, IN_ONE_THREAD) == 7


@pytest.mark.parametrize("name", MAKERS)
@torch.inference_mode()
def test_entity_readings_are_linear(name: str, entities: Tensor) -> None:
    """What lets an entity's reading be blended with it."""
    scorer = MAKERS[name]()
    a, b = entities[:1], entities[1:2]
    reading = scorer.read_entities(0.3 * a + 0.7 * b)
    assert reading.shape == (1, scorer.reading_size)
    expected = 0.3 * scorer.read_entities(a) + 0.7 * scorer.read_entities(b)
    torch.testing.assert_close(reading, expected, atol=1e-6, rtol=1e-5)


def test_only_the_coarse_to_fine_scorer_has_a_shortlist() -> None:
    assert feed_forward().shortlist is None
    assert coarse_to_fine().shortlist == 2


def test_a_shortlist_needs_a_refinement(spans: Tensor, entities: Tensor) -> None:
    scorer = feed_forward()
    pairs = pairs_of(scorer, spans[:1], entities, torch.zeros(5, dtype=torch.long))
    with pytest.raises(TypeError, match=r"FeedForwardScorer has a shortlist but no refine\(\)"):
        scorer.refine(pairs, scorer.fold_features(FIXED))


@pytest.mark.parametrize("name", MAKERS)
def test_every_parameter_that_can_learn_does(name: str, spans: Tensor, entities: Tensor) -> None:
    scorer = MAKERS[name]()
    tables = scorer.fold_features(FIXED)
    pairs = pairs_of(scorer, spans[:1], entities, torch.zeros(5, dtype=torch.long))
    total = scorer.score(pairs, tables).sum()
    if scorer.shortlist:
        total = total + scorer.refine(pairs, tables).sum()
    total.backward()
    without = {n for n, p in scorer.named_parameters() if p.grad is None}
    assert without == ({"features.tables.speaker.weight"} if name == "feed_forward" else set())  # always zeros
