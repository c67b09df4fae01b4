"""Update rules: the weight of each, and the blend it makes."""

from __future__ import annotations

import pytest
import torch

from streamcoref.model.memory import EntityMemory
from streamcoref.model.update import Alpha, First, Last, Mean, UpdateRule
from tests.model import toys

SIZE = 6


def blend_all(rule: UpdateRule, spans: torch.Tensor) -> EntityMemory:
    """The first span starts an entity, the others join it, as the model does it."""
    rows = torch.cat([spans, rule.read_entities(spans)], dim=-1)
    readings = rule.read_spans(spans)
    memory = EntityMemory(rows.shape[1])
    memory.add(rows[0], *toys.note())
    for m in range(1, len(spans)):
        weight = rule.weight(readings[m], memory.rows[0, SIZE:], torch.tensor(float(memory.sizes[0])))
        memory.join(0, weight, rows[m], *toys.note(m))
    return memory


@pytest.fixture
def spans() -> torch.Tensor:
    return torch.randn(9, SIZE, generator=torch.Generator().manual_seed(0))


def test_mean(spans: torch.Tensor) -> None:
    torch.testing.assert_close(blend_all(Mean(), spans).rows[0], spans.mean(0), atol=1e-6, rtol=1e-5)


def test_first(spans: torch.Tensor) -> None:
    torch.testing.assert_close(blend_all(First(), spans).rows[0], spans[0], atol=0, rtol=0)


def test_last(spans: torch.Tensor) -> None:
    torch.testing.assert_close(blend_all(Last(), spans).rows[0], spans[-1], atol=0, rtol=0)


@torch.inference_mode()
def test_alpha(spans: torch.Tensor) -> None:
    torch.manual_seed(0)
    rule = Alpha(SIZE, 10)
    memory = blend_all(rule, spans)
    entity = spans[0]
    weights = []
    for span in spans[1:]:
        hidden = torch.relu(rule.net.hidden(torch.cat([entity, span])))
        weights.append(torch.sigmoid(rule.net.output(hidden))[0])
        entity = weights[-1] * entity + (1 - weights[-1]) * span
    torch.testing.assert_close(memory.rows[0, :SIZE], entity, atol=1e-5, rtol=1e-5)
    assert len({round(float(weight), 5) for weight in weights}) > 1
    # the reading of the entity, blended along, is the reading of the blend
    torch.testing.assert_close(memory.rows[0, SIZE:], rule.read_entities(entity[None])[0], atol=1e-5, rtol=1e-5)


def test_weights_broadcast_over_many_entities() -> None:
    sizes = torch.tensor([1, 3, 9])
    nothing = torch.zeros(3, 0)
    assert Mean().weight(nothing, nothing, sizes).tolist() == pytest.approx([0.5, 0.75, 0.9])
    assert First().weight(nothing, nothing, sizes).tolist() == [1, 1, 1]
    assert Last().weight(nothing, nothing, sizes).tolist() == [0, 0, 0]


def test_rules_without_parameters_read_nothing(spans: torch.Tensor) -> None:
    for rule in (Mean(), First(), Last()):
        assert rule.reading_size == 0
        assert rule.read_spans(spans).shape == rule.read_entities(spans).shape == (9, 0)
        assert list(rule.parameters()) == []


def test_alpha_learns(spans: torch.Tensor) -> None:
    rule = Alpha(SIZE, 10)
    rule.weight(rule.read_spans(spans), rule.read_entities(spans), torch.ones(9)).sum().backward()
    assert all(parameter.grad is not None for parameter in rule.parameters())
