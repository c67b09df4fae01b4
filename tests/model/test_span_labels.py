"""Heads over span vectors."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from streamcoref.errors import StreamcorefError
from streamcoref.model.config import build_model
from streamcoref.model.span_labels import SpanLabels
from tests.model import toys

LABELS: dict[str, Any] = {"types": ["person", "place", "time"], "kinds": ["PROP", "PRON"], "hidden": 8}


def test_a_model_has_the_heads_that_its_config_names_and_no_others() -> None:
    plain, with_heads = build_model(toys.config()), build_model(toys.config(labels=LABELS))
    assert not any(name.startswith("labels.") for name in plain.state_dict())
    more = with_heads.state_dict().keys() - plain.state_dict().keys()
    assert {name.split(".")[2] for name in more} == {"types", "kinds"}
    assert with_heads.labels.names == {"types": ("person", "place", "time"), "kinds": ("PROP", "PRON")}


@pytest.mark.parametrize("kind", ["incremental", "baseline"])
def test_a_model_without_heads_begins_as_before(kind: str) -> None:
    changes: dict[str, Any] = {"kind": kind, "pair_score": {"name": "coarse_to_fine", "features": ["distance"]}}
    one, other = toys.model(toys.config(**changes), 3), toys.model(toys.config(**changes, labels={"hidden": 16}), 3)
    assert all(torch.equal(tensor, other.state_dict()[name]) for name, tensor in one.state_dict().items())


def test_shares_of_types_add_up_to_one() -> None:
    labels = SpanLabels(6, 8, {"types": ("person", "place", "time")}).eval()
    shares = labels.type_shares(torch.randn(5, 6))
    assert [sum(row) for row in shares] == pytest.approx([1.0] * 5)
    assert len(set(shares)) == 5
    assert SpanLabels(6, 8, {"kinds": ("PROP", "PRON")}).type_shares(torch.randn(2, 6)) == [(), ()]


@pytest.mark.parametrize("names", [["person"], ["person", "person"]])
def test_a_head_tells_at_least_two_labels_apart(names: list[str]) -> None:
    with pytest.raises(StreamcorefError, match="labels: types: give at least two names, each once, or none"):
        toys.config(labels={"types": names})
