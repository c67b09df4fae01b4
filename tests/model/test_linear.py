"""Linear layers by oneDNN, where it is quicker, against torch's own."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from streamcoref.model import linear as module
from streamcoref.model.linear import FEW, LEAST, ROWS, Linear, by_onednn, linear, use_wide_products

INPUTS, OUTPUTS = 96, 400
assert INPUTS * OUTPUTS >= LEAST


@pytest.fixture(autouse=True, params=["oneDNN", "torch"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways give the same on every machine that has them."""
    if request.param == "oneDNN" and not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        pytest.skip("this torch has no products by oneDNN")
    monkeypatch.setattr(module, "by_onednn", lambda: request.param == "oneDNN")


def expected(x: Tensor, layer: nn.Linear) -> Tensor:
    y = x.double() @ layer.weight.double().T
    return y if layer.bias is None else y + layer.bias.double()


def near(found: Tensor, wanted: Tensor, within: float = 1e-5) -> None:
    assert found.shape == wanted.shape
    torch.testing.assert_close(found.double(), wanted.double(), rtol=0, atol=within)


class ShapesSeen(TorchDispatchMode):
    """The shapes of what oneDNN is asked to multiply."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: set[tuple[int, ...]] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.mkldnn._linear_pointwise.default:
            self.shapes.add(tuple(args[0].shape))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1,), (5,), (ROWS,), (ROWS + 1,), (3, 7), (2, ROWS, 2), (0,), (2, 0)])
def test_products_are_right_for_any_number_of_rows(shape: tuple[int, ...], bias: bool) -> None:
    layer = Linear(INPUTS, OUTPUTS, bias=bias)
    x = torch.randn(*shape, INPUTS)
    with torch.inference_mode():
        near(layer(x), expected(x, layer))


def test_a_part_of_a_weight_and_rows_that_lie_apart() -> None:
    weight, x = torch.randn(OUTPUTS, 3 * INPUTS), torch.randn(2 * FEW, 2 * INPUTS)
    part, rows = weight[:, INPUTS : 2 * INPUTS], x[:, 5 : INPUTS + 5]
    near(linear(rows, part), rows.double() @ part.double().T, 1e-4)
    near(linear(rows[::2], part), rows[::2].double() @ part.double().T, 1e-4)


def test_a_part_of_a_weight_is_not_copied_for_a_few_rows() -> None:
    part, x = torch.randn(OUTPUTS, 3 * INPUTS)[:, :INPUTS], torch.randn(FEW, INPUTS)
    with ShapesSeen() as seen:
        near(linear(x[1:], part), x[1:].double() @ part.double().T, 1e-4)
        assert not seen.shapes
        linear(x, part)
        linear(x[1:], part.contiguous())
    assert len(seen.shapes) == int(module.by_onednn())  # 64 rows both times


@pytest.mark.parametrize("shape", [(1,), (ROWS,), (3, 7), (0,)])
@pytest.mark.parametrize("learns", ["all", "weight", "x", "bias"])
def test_gradients_are_those_of_torch(shape: tuple[int, ...], learns: str) -> None:
    gradients = []
    for layer in (Linear(INPUTS, OUTPUTS), nn.Linear(INPUTS, OUTPUTS)):
        with torch.no_grad():
            generator = torch.Generator().manual_seed(1)
            for parameter in layer.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator))
        x = torch.randn(*shape, INPUTS, generator=generator)
        tensors = {"x": x, "weight": layer.weight, "bias": layer.bias}
        for name, tensor in tensors.items():
            tensor.requires_grad_(learns in ("all", name))
        layer(x).square().sum().backward()
        gradients.append([tensor.grad for tensor in tensors.values()])
    for found, wanted in zip(*gradients, strict=True):
        assert (found is None) == (wanted is None)
        if found is not None and wanted is not None:
            torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-3)


def test_a_part_of_a_weight_learns() -> None:
    weight = torch.randn(OUTPUTS, 2 * INPUTS, requires_grad=True)
    x = torch.randn(FEW, INPUTS)
    linear(x, weight[:, INPUTS:]).sum().backward()
    assert weight.grad is not None
    near(weight.grad[:, INPUTS:], x.sum(0).expand(OUTPUTS, -1), 1e-4)
    assert not weight.grad[:, :INPUTS].any()


def test_other_types_and_autocast_are_left_to_torch() -> None:
    layer = Linear(INPUTS, OUTPUTS)
    x = torch.randn(4, INPUTS)
    assert layer.double()(x.double()).dtype == torch.float64
    with torch.autocast("cpu", torch.bfloat16):
        assert layer.float()(x).dtype == torch.bfloat16


def test_a_row_depends_on_no_other() -> None:
    layer = Linear(INPUTS, OUTPUTS)
    x = torch.randn(48, INPUTS)
    with torch.inference_mode():
        every = layer(x)
        other = torch.cat([x[:16], torch.full((32, INPUTS), 1e6)])
        assert torch.equal(layer(other)[:16], every[:16])


def test_layers_of_others_become_ours_and_stay_what_they_are() -> None:
    inner = nn.Linear(INPUTS, OUTPUTS)
    shared = nn.Sequential(inner, nn.ReLU(), nn.Linear(OUTPUTS, INPUTS), inner)
    before, x = shared.state_dict(), torch.randn(5, INPUTS)
    wanted = shared(x)
    use_wide_products(shared)
    assert [type(part) for part in shared] == [Linear, nn.ReLU, Linear, Linear]
    assert shared[0] is shared[3]
    assert shared.state_dict().keys() == before.keys()
    torch.testing.assert_close(shared(x), wanted, rtol=0, atol=1e-4)


def test_it_is_chosen_where_mkl_leaves_half_of_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(module, "CPU_INFO", info)
    chosen = by_onednn.__wrapped__
    libraries = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
    info.write_text("vendor_id\t: AuthenticAMD\n", encoding="utf-8")
    assert chosen() == libraries
    info.write_text("vendor_id\t: GenuineIntel\n", encoding="utf-8")
    assert not chosen()
    info.unlink()
    monkeypatch.setattr(platform, "processor", lambda: "AMD64 Family 26 Model 2 Stepping 1, AuthenticAMD")
    assert chosen() == libraries
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert not chosen()
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    monkeypatch.setattr(platform, "processor", lambda: "AuthenticAMD")
    assert not chosen()


def test_few_shapes_are_seen_whatever_the_lengths() -> None:
    """For each number of rows oneDNN keeps half a megabyte."""
    layer = Linear(INPUTS, OUTPUTS)
    with ShapesSeen() as seen:
        for rows in range(1, 2 * FEW + 1):
            layer(torch.zeros(rows, INPUTS)).sum().backward()
    # once to read, once to learn; but for torch itself
    assert len(seen.shapes) == (2 * (4 + 2) if module.by_onednn() else 0)
