"""The entity memory against a plain list of entities."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcoref.model.memory import FORMS, TEXTS, EntityMemory, form_hashes
from streamcoref.model.text_context import TextContext
from tests.model import toys

ROW = 3


@dataclass(eq=False)
class PlainEntity:
    id: int
    row: list[float]
    start: int
    end: int
    size: int
    best: float
    forms: list[int]
    last_words: list[int]
    texts: list[TextContext] = field(default_factory=list)


def check(memory: EntityMemory, plain: list[PlainEntity], with_texts: bool) -> None:
    n = len(plain)
    assert len(memory) == n
    assert memory.ids[:n].tolist() == [e.id for e in plain]
    assert memory.sizes[:n].tolist() == [e.size for e in plain]
    assert memory.last_starts[:n].tolist() == [e.start for e in plain]
    assert memory.last_ends[:n].tolist() == [e.end for e in plain]
    assert memory.best_scores[:n].tolist() == [e.best for e in plain]
    for slot, e in enumerate(plain):
        assert memory.rows[slot].tolist() == pytest.approx(e.row, abs=1e-4)
        forms, last_words = memory.forms[slot].tolist()
        assert sorted(filter(None, forms)) == sorted(e.forms[-FORMS:])
        assert sorted(filter(None, last_words)) == sorted(e.last_words[-FORMS:])
    if with_texts:
        assert [list(texts) for texts in memory.texts] == [e.texts[-TEXTS:] for e in plain]


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=60)
def test_any_sequence_of_changes_equals_a_plain_list(seed: int, with_texts: bool) -> None:
    choose = random.Random(seed)
    memory = EntityMemory(ROW, capacity=2)
    plain: list[PlainEntity] = []
    next_id = peak = 0
    for step in range(choose.randint(5, 60)):
        row = [choose.uniform(-1, 1) for _ in range(ROW)]
        start, score = choose.randint(0, 999), choose.uniform(-5, 5)
        end, form, last = start + choose.randint(0, 5), choose.randint(1, 99), choose.randint(1, 99)
        text = TextContext((f"word{step}",), 0, 1)
        action = choose.random()
        if action < 0.45 or not plain:
            memory.reserve(len(memory) + 1)
            slot = memory.add(torch.tensor(row), *toys.note(start, end, form, last, score))
            assert slot == len(plain)
            plain.append(PlainEntity(next_id, row, start, end, 1, score, [form], [last], [text]))
            next_id += 1
        elif action < 0.9:
            slot, weight = choose.randrange(len(plain)), choose.random()
            memory.join(slot, torch.tensor(weight), torch.tensor(row), *toys.note(start, end, form, last, score))
            e = plain[slot]
            e.row = [weight * a + (1 - weight) * b for a, b in zip(e.row, row, strict=True)]
            e.start, e.end, e.size, e.best = start, end, e.size + 1, max(e.best, score)
            e.forms.append(form)
            e.last_words.append(last)
            e.texts.append(text)
        else:
            gone = np.array([choose.random() < 0.4 for _ in plain])
            assert memory.remove(gone).tolist() == [e.id for e, out in zip(plain, gone, strict=True) if out]
            plain = [e for e, out in zip(plain, gone, strict=True) if not out]
            check(memory, plain, with_texts)
            continue
        if with_texts:
            memory.remember_text(slot, text)
        peak = max(peak, len(plain))
        check(memory, plain, with_texts)
    assert peak <= memory.capacity <= max(2, 2 * peak)


def test_capacity_grows_to_the_peak_and_no_further() -> None:
    memory = EntityMemory(ROW, capacity=4)
    seen = set()
    for start in range(200):  # never more than eleven alive
        memory.reserve(len(memory) + 1)
        memory.add(torch.zeros(ROW), *toys.note(start))
        if len(memory) > 10:
            memory.remove(np.arange(len(memory)) < 6)
        seen.add((memory.capacity, memory.nbytes))
    assert memory.next_id == 200
    assert [capacity for capacity, _ in sorted(seen)] == [4, 8, 16]
    memory.reserve(16)
    assert memory.capacity == 16
    memory.reserve(100)
    assert memory.capacity == 100


def test_bytes_are_in_proportion_to_capacity_and_row_size() -> None:
    memory = EntityMemory(ROW, capacity=10)
    assert memory.nbytes >= 10 * (4 * ROW + 5 * 8 + 2 * 8 * FORMS)
    assert EntityMemory(ROW, capacity=20).nbytes == 2 * memory.nbytes
    assert EntityMemory(ROW + 1, capacity=10).nbytes == memory.nbytes + 10 * 4


def test_ids_are_never_used_again() -> None:
    memory = EntityMemory(ROW)
    for _ in range(3):
        memory.add(torch.zeros(ROW), *toys.note())
    assert memory.remove(np.array([True, True, True])).tolist() == [0, 1, 2]
    memory.add(torch.zeros(ROW), *toys.note())
    assert memory.ids[0] == 3


def test_a_new_entity_starts_clean_in_a_slot_used_before() -> None:
    memory = EntityMemory(ROW)
    memory.add(torch.ones(ROW), *toys.note(5, 6, 11, 12, 9.0))
    memory.join(0, torch.tensor(0.5), torch.ones(ROW), *toys.note(7, 8, 13, 14, 8.0))
    memory.remove(np.array([True]))
    memory.add(torch.zeros(ROW), *toys.note(20, 21, 15, 16, -3.0))
    assert memory.sizes[0] == 1
    assert memory.best_scores[0] == -3.0
    assert memory.forms[0].tolist() == [[15] + [0] * (FORMS - 1), [16] + [0] * (FORMS - 1)]


def test_removing_nothing_changes_nothing() -> None:
    memory = EntityMemory(ROW)
    memory.add(torch.ones(ROW), *toys.note())
    assert memory.remove(np.array([False])).tolist() == []
    assert len(memory) == 1
    assert EntityMemory(ROW).remove(np.zeros(0, dtype=bool)).tolist() == []


def test_an_entity_keeps_its_latest_forms_only() -> None:
    memory = EntityMemory(ROW)
    memory.add(torch.ones(ROW), *toys.note(form=100, last_word=200))
    for number in range(1, 30):
        memory.join(0, torch.tensor(1.0), torch.ones(ROW), *toys.note(form=100 + number, last_word=200 + number))
    forms, last_words = memory.forms[0].tolist()
    assert sorted(forms) == list(range(130 - FORMS, 130))
    assert sorted(last_words) == list(range(230 - FORMS, 230))


def test_forms_ignore_case_and_the_genitive() -> None:
    assert form_hashes(["The", "Captain"]) == form_hashes(["the", "captain"]) == form_hashes(["the", "captain", "'s"])
    assert (
        form_hashes(["the", "captain", "’s"]) == form_hashes(["the", "captain", "'"]) == form_hashes(["the", "captain"])
    )
    assert form_hashes(["the", "captain"])[0] != form_hashes(["a", "captain"])[0]
    assert form_hashes(["the", "captain"])[1] == form_hashes(["a", "captain"])[1]
    assert form_hashes(["captain"])[0] == form_hashes(["captain"])[1]
    assert form_hashes(["'s"]) == form_hashes(["'S"])  # a mention that is nothing else keeps it


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_hashes_fit_and_are_never_the_empty_mark(words: list[str]) -> None:
    for number in form_hashes(words):
        assert 0 < number < 2**63


def test_hashes_are_the_same_in_every_process() -> None:
    """A saved state must find its forms again; Python's own hash of a string would change."""
    assert form_hashes(["Anna"]) == (59702542876088033, 59702542876088033)


def test_a_lone_surrogate_is_a_form_like_any_other() -> None:
    assert form_hashes(["\ud800"]) != form_hashes(["\ud801"])
