"""Who has left the memory and has a name comes back when it is said, as long as there is a place."""

from __future__ import annotations

import pytest
import torch

from streamcoref.model.memory import EntityMemory
from streamcoref.model.notes import Notes
from streamcoref.model.register import MOST_CALLED, Register, Ring, revive
from streamcoref.model.soundness import Extent
from tests.model.features import pairs
from tests.model.features.pairs import said
from tests.model.test_merging import IDENTITY, memory_of


def evict_all(memory: EntityMemory, register: Register, places: int) -> list[int]:
    """The ids of those who are gone for good."""
    gone = memory.remove(memory.ids >= 0)
    return [record.id for record in register.keep(gone, places, 100)]


def new_register() -> Ring:
    return Ring(EntityMemory(2, [IDENTITY]))


def call(memory: EntityMemory, register: Register, spans: Notes) -> None:
    """Let spans of one vector, all zeros, bring back whom they name."""
    revive(memory, register, spans, torch.zeros(len(spans), 2), Extent(1 << 20, 1 << 20, 0))


def test_who_has_a_name_comes_back_as_they_were() -> None:
    memory, register = memory_of(["Anna Weber", "she"], ["Ben", "he"], ["the ship", "it"]), new_register()
    before = {int(memory.ids[slot]): (memory.rows[slot].clone(), memory.notes.values([slot])[0]) for slot in range(3)}
    assert evict_all(memory, register, 8) == [2], "what has no name is gone"
    call(memory, register, pairs.notes_of([said("it"), said("Anna")], IDENTITY))
    assert memory.ids.tolist() == [0]
    assert register.known({0, 1, 2}).keys() == {1}
    assert torch.equal(memory.rows[0], before[0][0])
    assert memory.notes.values([0])[0] == before[0][1]


@pytest.mark.parametrize(
    ("entity", "span", "comes"),
    [
        (["Anna Weber"] * 2, "Miss Weber", True),
        (["Mr. Weber"] * 2, "Mrs. Weber", False),
        (["Anna Weber"] * 2, "Clara Weber", False),
        (["Anna"] * 2, "Clara", False),
        (["Anna"] * 2, "she", False),
        (["Anna"] * 4 + ["Clara"], "Clara", False),  # at times called so: a mistake, most likely
    ],
)
def test_who_is_named(entity: list[str], span: str, comes: bool) -> None:
    memory, register = memory_of(entity), new_register()
    assert evict_all(memory, register, 8) == []
    call(memory, register, pairs.notes_of([said(span)], IDENTITY))
    assert (len(memory), len(register)) == ((1, 0) if comes else (0, 1))


def test_places_are_bounded_and_the_least_salient_are_forgotten() -> None:
    register = new_register()
    names = [f"Name{letter}" for letter in "abcdefghij"]
    forgotten: list[int] = []
    for round_ in range(20):  # more of them than there are places, again and again
        memory = memory_of(*([name] * (2 + number) for number, name in enumerate(names)))
        memory.notes["id"][: len(memory)] += 10 * round_
        forgotten += evict_all(memory, register, 4)
        assert len(register) == 4
        assert len(register.memory.rows) <= 64, "its arrays do not grow"
    assert len(forgotten) == 200 - 4
    assert register.memory.sizes.min() == 11, "those who were mentioned most have stayed"


def test_one_span_calls_a_few_those_that_are_nearest() -> None:
    memory, register = memory_of(*(["Anna"] * 2 for _ in range(MOST_CALLED + 5))), new_register()
    assert evict_all(memory, register, 100) == []
    call(memory, register, pairs.notes_of([said("Anna")], IDENTITY))
    assert memory.ids.tolist() == list(range(MOST_CALLED)), "whose rows begin with their numbers"
    assert len(register) == 5


def test_without_places_everybody_is_gone() -> None:
    memory, register = memory_of(["Anna"] * 3), new_register()
    assert evict_all(memory, register, 0) == [0]
    assert len(register) == 0


def test_a_model_that_counts_no_names_keeps_nobody() -> None:
    memory, register = EntityMemory(1), Ring(EntityMemory(1))
    notes = pairs.notes_of([said("Anna"), said("Anna")])
    slot = memory.add(torch.zeros(1), notes, 0)
    memory.join(slot, 0.5, torch.zeros(1), notes, 1)
    assert evict_all(memory, register, 4) == [0]
    call(memory, register, notes)
    assert len(memory) == 0
