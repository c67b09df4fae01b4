"""Matrices in 8 bits: how near they stay, and that what was restored is stored as the very same again."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from streamcoref.model.int8_rows import from_rows, to_rows, worth_it

# Rows of every size that float16 has scales for, and smaller ones.
rows = st.tuples(st.integers(0, 2**32 - 1), st.floats(-30, 22)).map(
    lambda drawn: torch.from_numpy(
        np.random.default_rng(drawn[0]).uniform(-1, 1, 40).astype(np.float32) * 2 ** drawn[1]
    )
)
matrices = st.lists(rows, min_size=1, max_size=8).map(torch.stack)


@given(matrices)
def test_every_number_is_within_half_a_step(matrix: Tensor) -> None:
    numbers, scale = to_rows(matrix)
    assert (numbers.dtype, scale.dtype) == (torch.int8, torch.float16)
    assert numbers.shape == matrix.shape
    assert scale.shape == matrix.shape[:1]
    assert int(numbers.abs().max()) <= 127
    off = (from_rows(numbers, scale) - matrix).abs()
    assert bool((off <= 0.5 * scale.float()[:, None] * (1 + 1e-5)).all())
    ideal = matrix.abs().amax(dim=1) / 127
    normal = ideal >= 2**-14
    assert bool((scale.float() >= ideal * (1 - 1e-6)).all())
    assert bool((scale.float()[normal] <= ideal[normal] * (1 + 2**-10 + 1e-6)).all()), (
        "no step is coarser than it must be"
    )
    assert bool((scale.float() <= torch.maximum(2 * ideal, torch.tensor(2.0**-24)) * (1 + 1e-6)).all())


@given(matrices)
def test_what_was_restored_comes_back_to_the_last_bit(matrix: Tensor) -> None:
    restored = from_rows(*to_rows(matrix))
    assert torch.equal(from_rows(*to_rows(restored)), restored)


@given(matrices)
def test_no_product_is_rounded(matrix: Tensor) -> None:
    """So that no machine restores another model."""
    numbers, scale = to_rows(matrix)
    exact = numbers.numpy().astype(np.float64) * scale.numpy().astype(np.float64)[:, None]
    assert (from_rows(numbers, scale).numpy().astype(np.float64) == exact).all()


def test_the_scale_is_rounded_before_the_numbers() -> None:
    """0.1 / 127 is no float16; dividing by the one that is stored keeps 0.0992 at 126 steps, and not at 125.98."""
    numbers, scale = to_rows(torch.tensor([[0.1, -0.05, 0.0]]))
    stored = float(np.nextafter(np.float16(0.1 / 127), np.float16(1)))
    assert float(scale) in (stored, float(np.float16(0.1 / 127)))
    assert numbers.tolist() == [[round(0.1 / float(scale)), round(-0.05 / float(scale)), 0]]


def test_rows_of_zeros() -> None:
    numbers, scale = to_rows(torch.tensor([[0.0, -0.0], [1e-12, 0.0], [1.0, 0.0]]))
    assert numbers.tolist() == [[0, 0], [0, 0], [127, 0]]
    assert float(scale[0]) == 0
    assert from_rows(numbers, scale)[:2].tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 1e9])
def test_what_no_scale_holds_is_to_be_seen(bad: float) -> None:
    _, scale = to_rows(torch.tensor([[1.0, 2.0], [1.0, bad]]))
    assert scale.isfinite().tolist() == [True, False]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((30522, 384), True),
        ((32, 32), True),
        ((31, 384), False),
        ((384, 20), False),
        ((384,), False),
        ((64, 64, 2), False),
    ],
)
def test_tables_and_vectors_are_left_alone(shape: tuple[int, ...], expected: bool) -> None:
    assert worth_it(shape) is expected
