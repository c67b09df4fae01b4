"""Peak tensor memory, on tensors whose sizes are known."""

from __future__ import annotations

import gc
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcoref.evaluation.tensor_memory import peak_tensor_bytes

MODES = [nullcontext, torch.no_grad, torch.inference_mode]


@pytest.mark.parametrize("mode", MODES)
def test_known_sizes(mode: type) -> None:
    with mode(), peak_tensor_bytes() as peak:
        a = torch.zeros(1000)
        assert peak.bytes == 4000
        views = a.view(10, 100).t()[1:], a.numpy()
        assert peak.bytes == 4000
        b = torch.ones(500, dtype=torch.float64)
        assert peak.bytes == 8000
        del a
        c = torch.zeros(10)  # the views still hold the first storage
        assert peak.bytes == 8040
        del views, b, c
        gc.collect()
        d = torch.empty(2000)
        assert peak.bytes == 8040
        d.resize_(3000)
        assert peak.bytes == 12000
        e = torch.tensor([1.0, 2.0] * 100)
        assert peak.bytes == 12800
        del d, e


@pytest.mark.parametrize("mode", MODES)
def test_what_was_there_before_does_not_count(mode: type) -> None:
    weights = torch.ones(100, 100)
    with mode(), peak_tensor_bytes() as peak:
        weights.view(-1)[1:].add_(0)
        weights.t().add_(1)
        assert peak.bytes == 0
        result = F.linear(torch.ones(100), weights)  # 400 in, 400 out
        assert peak.bytes == 800
    assert float(result[0]) == 200


def test_intermediate_tensors_of_compound_operations_count() -> None:
    q = torch.rand(1, 2, 64, 8)
    with (
        torch.inference_mode(),
        peak_tensor_bytes() as peak,
        torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
    ):
        F.scaled_dot_product_attention(q, q, q)
    assert peak.bytes >= 2 * 64 * 64 * 4  # the attention scores


def test_nothing_is_watched_after_the_block() -> None:
    with peak_tensor_bytes() as peak:
        kept = torch.zeros(10)
    torch.zeros(1000)
    del kept
    assert peak.bytes == 40


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 50)), max_size=30))
@settings(max_examples=25, deadline=None)
def test_the_peak_of_any_making_and_freeing(steps: list[tuple[bool, int]]) -> None:
    held: list[torch.Tensor] = []
    sizes: list[int] = []
    highest = 0
    with peak_tensor_bytes() as peak:
        for make, number in steps:
            if make or not held:
                held.append(torch.zeros(number))
                sizes.append(4 * number)
            else:
                held.pop(number % len(held))
                sizes.pop(number % len(sizes))
            highest = max(highest, sum(sizes))
    assert peak.bytes == highest
