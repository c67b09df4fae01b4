"""The entity memory against a plain list of entities."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcoref.language.versions import LATEST, lexicon
from streamcoref.model.arrays import blend, changeable
from streamcoref.model.features.match import ExactMatchOptions, LastWordMatchOptions
from streamcoref.model.memory import EntityMemory, EntityRecord
from streamcoref.model.parts import Surroundings
from streamcoref.model.text_context import TextContext
from tests.model import toys

ROW, FORMS, TEXTS = 3, 8, 4
AROUND = Surroundings(
    hidden_size=1, span_size=1, max_width=1, genres=1, schemes=1, dropout=0.0, lexicon=lexicon(LATEST)
)
MATCHES = [ExactMatchOptions(forms=FORMS).build(AROUND), LastWordMatchOptions(forms=FORMS).build(AROUND)]


def make(capacity: int = 64) -> EntityMemory:
    return EntityMemory(ROW, MATCHES, TEXTS, capacity=capacity)


def note(start: int = 0, end: int | None = None, form: int = 1, last_word: int = 1, score: float = 0.0):
    return toys.note(start, end, score, form=form, last_word=last_word)


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
    assert memory.ids.tolist() == [e.id for e in plain]
    assert memory.sizes.tolist() == [e.size for e in plain]
    assert memory.last_starts.tolist() == [e.start for e in plain]
    assert memory.places.tolist() == [e.start + e.end for e in plain]
    assert memory.best_scores.tolist() == [e.best for e in plain]
    for slot, e in enumerate(plain):
        assert memory.rows[slot].tolist() == pytest.approx(e.row, abs=1e-4)
        forms, last_words = memory.notes["forms"][slot].tolist(), memory.notes["last_words"][slot].tolist()
        assert sorted(filter(None, forms)) == sorted(e.forms[-FORMS:])
        assert sorted(filter(None, last_words)) == sorted(e.last_words[-FORMS:])
    if with_texts:
        assert [list(texts) for texts in memory.texts] == [e.texts[-TEXTS:] for e in plain]


def check_records(records: list[EntityRecord], plain: list[PlainEntity], with_texts: bool) -> None:
    """What comes out of the memory is all that was known of an entity."""
    assert [record.id for record in records] == [e.id for e in plain]
    for record, e in zip(records, plain, strict=True):
        assert record.row.tolist() == pytest.approx(e.row, abs=1e-4)
        assert (record.notes["size"], record.notes["start"], record.notes["score"]) == (e.size, e.start, e.best)
        assert sorted(filter(None, record.notes["forms"])) == sorted(e.forms[-FORMS:])
        assert list(record.texts) == (e.texts[-TEXTS:] if with_texts else [])


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=60)
def test_any_sequence_of_changes_equals_a_plain_list(seed: int, with_texts: bool) -> None:
    choose = random.Random(seed)
    memory = make(2)
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
            slot = memory.add(torch.tensor(row), *note(start, end, form, last, score))
            assert slot == len(plain)
            plain.append(PlainEntity(next_id, row, start, end, 1, score, [form], [last], [text]))
            next_id += 1
        elif action < 0.9:
            slot, weight = choose.randrange(len(plain)), choose.random()
            memory.join(slot, torch.tensor(weight), torch.tensor(row), *note(start, end, form, last, score))
            e = plain[slot]
            e.row = [weight * a + (1 - weight) * b for a, b in zip(e.row, row, strict=True)]
            e.start, e.end, e.size, e.best = start, end, e.size + 1, max(e.best, score)
            e.forms.append(form)
            e.last_words.append(last)
            e.texts.append(text)
        else:
            gone = np.array([choose.random() < 0.4 for _ in plain])
            leaving = [e for e, out in zip(plain, gone, strict=True) if out]
            check_records(memory.remove(gone), leaving, with_texts)
            plain = [e for e, out in zip(plain, gone, strict=True) if not out]
            check(memory, plain, with_texts)
            continue
        if with_texts:
            memory.remember_text(slot, text)
        peak = max(peak, len(plain))
        check(memory, plain, with_texts)
    assert peak <= len(memory.rows) <= max(2, 2 * peak)


def test_capacity_grows_to_the_peak_and_no_further() -> None:
    memory = make(4)
    seen = set()
    for start in range(200):  # never more than eleven alive
        memory.reserve(len(memory) + 1)
        memory.add(torch.zeros(ROW), *note(start))
        if len(memory) > 10:
            memory.remove(np.arange(len(memory)) < 6)
        seen.add((len(memory.rows), memory.nbytes))
    assert memory.next_id == 200
    assert [capacity for capacity, _ in sorted(seen)] == [4, 8, 16]
    memory.reserve(16)
    assert len(memory.rows) == 16
    memory.reserve(100)
    assert len(memory.rows) == 128  # as if it had grown one by one


def test_bytes_are_in_proportion_to_capacity_and_row_size() -> None:
    memory = make(10)
    assert memory.nbytes == 10 * (4 * ROW + 5 * 8 + 2 * 8 * FORMS)
    assert make(20).nbytes == 2 * memory.nbytes
    assert EntityMemory(ROW + 1, MATCHES, TEXTS, capacity=10).nbytes == memory.nbytes + 10 * 4


def test_ids_are_never_used_again() -> None:
    memory = make()
    for _ in range(3):
        memory.add(torch.zeros(ROW), *note())
    assert [record.id for record in memory.remove(np.array([True, True, True]))] == [0, 1, 2]
    memory.add(torch.zeros(ROW), *note())
    assert memory.ids[0] == 3


def test_a_new_entity_starts_clean_in_a_slot_used_before() -> None:
    memory = make()
    memory.add(torch.ones(ROW), *note(5, 6, 11, 12, 9.0))
    memory.join(0, torch.tensor(0.5), torch.ones(ROW), *note(7, 8, 13, 14, 8.0))
    memory.remove(np.array([True]))
    memory.add(torch.zeros(ROW), *note(20, 21, 15, 16, -3.0))
    assert memory.sizes[0] == 1
    assert memory.best_scores[0] == -3.0
    assert memory.notes["forms"][0].tolist() == [15] + [0] * (FORMS - 1)
    assert memory.notes["last_words"][0].tolist() == [16] + [0] * (FORMS - 1)


def test_removing_nothing_changes_nothing() -> None:
    memory = make()
    memory.add(torch.ones(ROW), *note())
    assert memory.remove(np.array([False])) == []
    assert len(memory) == 1
    assert make().remove(np.zeros(0, dtype=bool)) == []


def test_an_entity_keeps_its_latest_forms_only() -> None:
    memory = make()
    memory.add(torch.ones(ROW), *note(form=100, last_word=200))
    for number in range(1, 30):
        memory.join(0, torch.tensor(1.0), torch.ones(ROW), *note(form=100 + number, last_word=200 + number))
    forms, last_words = memory.notes["forms"][0].tolist(), memory.notes["last_words"][0].tolist()
    assert sorted(forms) == list(range(130 - FORMS, 130))
    assert sorted(last_words) == list(range(230 - FORMS, 230))


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_arrays_and_tensors_are_blended_alike(weight: float) -> None:
    old, new = torch.randn(2, 9, generator=torch.Generator().manual_seed(3))
    expected = torch.lerp(new, old, weight)
    as_array, as_tensor = old.clone(), old.clone()
    blend(changeable(as_array), changeable(new), weight)
    blend(as_tensor, new, weight)
    for found in (as_array, as_tensor):
        torch.testing.assert_close(found, expected)
        assert weight not in (0.0, 1.0) or torch.equal(found, expected)
