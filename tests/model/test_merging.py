"""Entities of one name become one, unless something speaks against it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from streamcoref.model.memory import EntityMemory
from streamcoref.model.merging import Merge, merge_same_names
from tests.model.features import pairs
from tests.model.features.pairs import said

IDENTITY = pairs.build("identity")


def memory_of(*entities: list[str]) -> EntityMemory:
    memory = EntityMemory(2, [IDENTITY])
    memory.reserve(len(entities))
    for number, texts in enumerate(entities):
        notes = pairs.notes_of([said(text) for text in texts], IDENTITY)
        slot = memory.add(torch.tensor([float(number), 1.0]), notes, 0)
        for m in range(1, len(texts)):
            memory.join(slot, 1.0, torch.zeros(2), notes, m)
    return memory


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        (["Anna"] * 2, ["Anna"] * 2, True),
        (["Mr. Darcy"] * 2, ["Darcy"] * 2, True),
        (["Mr. Weber"] * 2, ["Mrs. Weber"] * 2, False),
        (["Anna"] * 2, ["Anna"], False),  # not often enough
        (["Robin", "Robin", "he", "he"], ["Robin", "Robin", "she", "she"], False),
        (["Anna", "Anna", "Ben", "Ben", "Ben"], ["Anna"] * 2, False),  # mostly somebody else
        (["she"] * 3, ["she"] * 3, False),
    ],
)
def test_two(one: list[str], other: list[str], merged: bool) -> None:
    memory = memory_of(one, ["Clara"], other)
    assert merge_same_names(memory, 2) == ([Merge(0, 2)] if merged else [])
    assert memory.ids.tolist() == ([0, 1] if merged else [0, 1, 2])


def test_what_becomes_of_them() -> None:
    memory = memory_of(["Anna"] * 3, ["Clara"], ["Anna"] * 2, ["Anna"] * 5)
    assert merge_same_names(memory, 2) == [Merge(0, 2), Merge(0, 3)]
    assert memory.sizes.tolist() == [10, 1]
    assert torch.allclose(memory.rows[0], torch.tensor([(0 * 3 + 2 * 2 + 3 * 5) / 10, 1.0]))
    assert memory.notes["called"][0].max() == 10
    assert merge_same_names(memory, 2) == []


def test_a_model_that_counts_no_names_merges_nothing() -> None:
    memory = EntityMemory(1)
    notes = pairs.notes_of([said("Anna"), said("Anna")])
    for m in (0, 1):
        memory.add(torch.zeros(1), notes, m)
    assert merge_same_names(memory, 1) == []
    assert np.array_equal(memory.ids, [0, 1])
