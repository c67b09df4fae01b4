"""The compiled kernel of layers in 8-bit integers against torch, which defines it: the same to the last bit."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

import streamcoref
from streamcoref.model import int8_linear
from streamcoref.model.int8_kernel import CompiledDigits, compiled_digits
from streamcoref.model.int8_linear import LARGEST, MOST_THREADS, Int8Linear, to_digits, to_floats

found = compiled_digits()
if found is None:
    reason = "the kernel was not compiled: install the package where there is a C compiler"
    pytest.skip(reason, allow_module_level=True)
kernel: CompiledDigits = found

COUNTS = [0, 1, 2, 7, 33]
SIZES = [1, 2, 15, 16, 17, 63, 64, 100, 384, 1537]
DIGITS = [1, 2]
ROOM = 5  # numbers between the rows of a view


def same(ours: Tensor, right: Tensor) -> bool:
    """Also in what is no number, of which there are many kinds."""
    apart = ours.isnan()
    return torch.equal(apart, right.isnan()) and torch.equal(ours.masked_fill(apart, 0), right.masked_fill(apart, 0))


def random_rows(count: int, size: int) -> list[Tensor]:
    """[count, size] in every kind: of all magnitudes that floats have, halfway between digits, and not side by side."""
    wide = torch.randn(count, size) * 10.0 ** torch.randint(-44, 38, (count, 1))
    uneven = torch.randn(count, size) * 10.0 ** torch.randint(-6, 1, (count, size))
    halves = torch.randint(-2 * LARGEST, 2 * LARGEST + 1, (count, size)) / 2
    halves[:, :1] = LARGEST
    view = torch.randn(count, size + ROOM)[:, ROOM:]
    return [wide, uneven, halves, view, torch.randn(size, count).t(), torch.randn(count, 1).expand(count, size)]


def compare_digits(rows: Tensor, digits: int) -> None:
    (ours, scale), (right, right_scale) = kernel.to_digits(rows, digits), to_digits(rows, digits)
    assert ours.shape == right.shape == (digits * len(rows), rows.shape[1])
    assert scale.shape == right_scale.shape == (len(rows), 1)
    assert same(scale, right_scale)
    assert torch.equal(ours, right)


@pytest.mark.parametrize("digits", DIGITS)
@pytest.mark.parametrize("count", COUNTS)
def test_digits_are_those_of_torch(count: int, digits: int) -> None:
    torch.manual_seed(count)
    for size in SIZES:
        for rows in random_rows(count, size):
            compare_digits(rows, digits)


@pytest.mark.parametrize("digits", DIGITS)
@pytest.mark.parametrize("size", [3, 64, 100])
def test_rows_of_zeros_and_of_what_is_no_number(size: int, digits: int) -> None:
    largest, least = torch.finfo(torch.float32).max, torch.finfo(torch.float32).smallest_normal
    for odd in (0.0, -0.0, largest, -largest, least, least / 8, math.inf, -math.inf, math.nan, -math.nan):
        whole = torch.full((1, size), odd)
        for place in (0, size // 2, size - 1):
            single, beside = torch.zeros(1, size), torch.randn(1, size)
            single[0, place] = beside[0, place] = odd
            compare_digits(torch.cat([whole, single, beside]), digits)
    both = torch.randn(1, size)
    both[0, 0], both[0, 2] = math.inf, math.nan
    compare_digits(both, digits)


@pytest.mark.parametrize("digits", DIGITS)
@pytest.mark.parametrize("count", COUNTS)
def test_floats_are_those_of_torch(count: int, digits: int) -> None:
    """Also of products beyond 2^24, which floats round."""
    torch.manual_seed(count)
    for size in SIZES:
        products = torch.randint(-(1 << 26), 1 << 26, (digits * count, size), dtype=torch.int32)
        row_scale, scale = torch.rand(count, 1) * 10.0 ** torch.randint(-30, 30, (count, 1)), torch.rand(size)
        for bias in (None, torch.randn(size)):
            ours = kernel.to_floats(products, row_scale, scale, bias)
            assert torch.equal(ours, to_floats(products, row_scale, scale, bias))


@pytest.mark.parametrize("outputs", [64, 33])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.usefixtures("needs_int8")
def test_a_layer_answers_alike_without_it(outputs: int, bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(3)
    layer = Int8Linear(nn.Linear(50, outputs, bias=bias))
    inputs = [torch.randn(shape) for shape in ((0, 50), (1, 50), (2, 0, 50), (2, 9, 50), (50,))]
    inputs += [torch.randn(3, 5, 60)[..., 10:], torch.randn(2, 50, 4).transpose(1, 2)]
    with torch.inference_mode():
        ours = [layer(x) for x in inputs]
        monkeypatch.setattr(int8_linear, "compiled_digits", lambda: None)
        for x, y in zip(inputs, ours, strict=True):
            assert y.shape == (*x.shape[:-1], outputs)
            assert torch.equal(y, layer(x))


@pytest.mark.usefixtures("needs_int8")
@torch.inference_mode()
def test_several_threads_may_use_it_at_once() -> None:
    torch.manual_seed(3)
    layer = Int8Linear(nn.Linear(200, 100))
    inputs = [torch.randn(80, 200) for _ in range(40)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(torch.inference_mode()(layer), inputs))
    assert all(torch.equal(y, layer(x)) for x, y in zip(inputs, together, strict=True))


class Noted:
    """The kernel, and which of its functions were asked for."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def __getattr__(self, name: str) -> object:
        self.used.add(name)
        return getattr(kernel, name)


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    result = Noted()
    monkeypatch.setattr(int8_linear, "compiled_digits", lambda: result)
    return result


@pytest.mark.usefixtures("needs_int8")
@torch.inference_mode()
def test_many_threads_divide_the_passes_of_torch_and_other_floats_are_left_to_it(
    noted: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer, x = Int8Linear(nn.Linear(50, 33)), torch.randn(4, 50)
    layer(x.double())
    with monkeypatch.context() as patch:
        patch.setattr(torch, "get_num_threads", lambda: MOST_THREADS + 1)
        divided = layer(x)
    assert not noted.used
    monkeypatch.setattr(torch, "get_num_threads", lambda: MOST_THREADS)
    assert torch.equal(layer(x), divided)
    assert noted.used == {"to_digits", "to_floats"}


@pytest.mark.model
@pytest.mark.usefixtures("needs_int8")
def test_the_bundled_model_uses_it(noted: Noted, monkeypatch: pytest.MonkeyPatch) -> None:
    def by_torch(*_: object) -> None:
        raise AssertionError("not by the kernel")

    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    for name in ("to_digits", "to_floats"):
        monkeypatch.setattr(int8_linear, name, by_torch)
    streamcoref.load(precision="int8").resolve("Anna Weber lost her keys. She looked for them everywhere.")
    assert noted.used == {"to_digits", "to_floats"}
