"""Entities of one name become one, unless something speaks against it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from streamcoref.model.memory import EntityMemory
from streamcoref.model.merging import Merge, merge_same_names, merge_who_answers
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
        (["Sherlock Holmes"] * 2, ["Holmes"] * 2, True),
        (["Holmes"] * 2, ["Mr. Sherlock Holmes"] * 2, True),
        (["Emma Woodhouse"] * 2, ["Emma"] * 2, True),
        (["Jane Bennet"] * 2, ["Mr. Bennet"] * 2, False),
        (["Jane Bennet"] * 2, ["Elizabeth Bennet"] * 2, False),
        (["Emma"] * 9 + ["Miss Woodhouse"] * 2, ["Miss Woodhouse"] * 3, True),
        (["Emma"] * 9 + ["Miss Woodhouse"], ["Miss Woodhouse"] * 3, False),  # once is a mistake, most likely
        (["Jane"] * 9 + ["Jane Fairfax"] + ["Miss Bates"] * 2, ["Miss Bates"] * 3, False),  # she has another surname
        (["Jane"] * 9 + ["Jane Fairfax"] + ["Miss Fairfax"] * 2, ["Miss Fairfax"] * 3, True),
        (["Emma"] * 9 + ["Mr. Woodhouse"] * 2, ["Mr. Woodhouse"] * 3, False),
        (["Mr. Weston"] * 9 + ["Mr. Knightley"] * 2, ["Mr. Knightley"] * 3, False),
        (["Jane", "Jane Fairfax", "Miss Fairfax"] * 3, ["Jane"] * 2, True),  # none of them is half of all
        (["Jane", "Ben", "Clara"] * 3, ["Jane"] * 2, False),  # nor is anybody here
        (["Mrs. Bates"] * 2, ["Miss Bates"] * 2, False),
        (["General Tilney"] * 2, ["Captain Tilney"] * 2, False),
        (["Mrs. Hall"] * 2, ["Hall"] * 2, False),  # her husband
        (["Miss Harriet"] * 2, ["Harriet"] * 2, True),
        (["Emma"] * 9 + ["Emma Woodhouse"] * 2, ["Miss Woodhouse"] * 3, True),
        (["Emma"] * 9 + ["Emma Woodhouse"], ["Miss Woodhouse"] * 3 + ["Emma Woodhouse"], True),
        (["Emma"] * 9, ["Miss Woodhouse"] * 3 + ["Emma Woodhouse"], False),  # not often enough
        (["Emma"] * 9 + ["Emma Woodhouse"], ["Mr. Woodhouse"] * 3, False),
        (["Edna"] * 9, ["Mrs. Pontellier"] * 3 + ["Edna Pontellier"] * 2, True),
        (["Daisy"] * 9 + ["Daisy Miller", "Miss Daisy Miller"] * 2, ["Mrs. Miller"] * 3, False),  # her mother
        (["Daisy"] * 9 + ["Mrs. Miller"] * 2, ["Mrs. Miller"] * 3, False),  # by mistake, most likely
    ],
)
def test_two(one: list[str], other: list[str], merged: bool) -> None:
    memory = memory_of(one, ["Clara"], other)
    assert merge_same_names(memory, 2) == ([Merge(0, 2)] if merged else [])
    assert memory.ids.tolist() == ([0, 1] if merged else [0, 1, 2])


def test_a_part_of_a_name_that_two_people_have_is_left_open() -> None:
    sisters = ["Jane Bennet"] * 2, ["Elizabeth Bennet"] * 2, ["Miss Bennet"] * 3
    assert merge_same_names(memory_of(*sisters), 2) == []
    assert merge_same_names(memory_of(sisters[0], sisters[2]), 2) == [Merge(0, 1)]
    by_given_names = ["Jane"] * 5 + ["Jane Bennet"] * 2, ["Elizabeth"] * 5 + ["Elizabeth Bennet"] * 2, sisters[2]
    assert merge_same_names(memory_of(*by_given_names), 2) == []
    assert merge_same_names(memory_of(by_given_names[0], sisters[2]), 2) == [Merge(0, 1)]


def test_who_came_back_is_the_older_one() -> None:
    memory = memory_of(["Clara"], ["Anna"] * 2, ["Anna"] * 2)
    memory.notes["id"][:3] = [4, 7, 2]
    assert merge_same_names(memory, 2) == [Merge(2, 7)]


@pytest.mark.parametrize(
    ("answers", "merged"),
    [
        ({(0, 1): 3}, [Merge(0, 1)]),
        ({(0, 1): 2}, []),  # not often enough
        ({(0, 1): 3, (0, 2): 3}, []),  # as often when another was called
        ({(1, 2): 5}, []),  # who has a name keeps it
        ({(0, 3): 5}, []),  # nobody knows the other by a name
        ({(3, 1): 5}, []),  # he and she
        ({(0, 9): 5}, []),  # who is no longer there
    ],
)
def test_who_answers_to_a_name_has_it(answers: dict[tuple[int, int], int], merged: list[Merge]) -> None:
    memory = memory_of(["I", "my"], ["Anna", "she"], ["Berg"], ["he", "him"])
    assert merge_who_answers(memory, answers, 2) == merged
    assert len(memory) == 4 - len(merged)


def test_a_name_that_was_given_by_mistake_is_none() -> None:
    """Once in a hundred times: the narrator of a book, who is joined by whoever was told of last now and then."""
    narrator, watson = ["I"] * 97, ["Watson", "he"]
    for others, merged in ((["Mrs. Hudson", "her"], [Merge(0, 1)]), (["Mrs. Hudson"] * 9, [])):
        assert merge_who_answers(memory_of([*narrator, *others], watson), {(0, 1): 3}, 2) == merged


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
