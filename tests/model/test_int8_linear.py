"""Linear layers in 8-bit integers: near to those in floats, and no row's answer depends on another's."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from streamcoref.errors import StreamcorefError
from streamcoref.model.config import build_model
from streamcoref.model.encoder import Encoder
from streamcoref.model.int8_linear import Int8Linear, use_int8_layers
from streamcoref.model.precision import check_precision, use_precision
from tests.model import toys
from tests.model.test_encoder import ARCHITECTURES, make, vectors
from tests.model.test_query import query_config

pytestmark = pytest.mark.usefixtures("needs_int8")


def layers(bias: bool = True, outputs: int = 64) -> tuple[nn.Linear, Int8Linear]:
    torch.manual_seed(3)
    layer = nn.Linear(50, outputs, bias=bias).eval()
    return layer, Int8Linear(layer)


def distance(ours: torch.Tensor, right: torch.Tensor) -> float:
    return float((ours - right).norm() / right.norm())


@torch.inference_mode()
@pytest.mark.parametrize("bias", [True, False])
def test_it_is_near_to_the_layer_in_floats(bias: bool) -> None:
    layer, short = layers(bias)
    x = torch.randn(2, 9, 50)
    assert short(x).shape == (2, 9, 64)
    assert 0 < distance(short(x), layer(x)) < 0.02


@torch.inference_mode()
def test_a_row_has_its_own_scale() -> None:
    """A large neighbour would leave a small row no digits if they shared one."""
    layer, short = layers(bias=False)
    x = torch.randn(1, 50)
    both = torch.cat([x, 1e4 * x])
    assert torch.equal(short(both)[:1], short(x))
    assert distance(short(both)[:1], layer(x)) < 0.02
    assert not short(torch.zeros(2, 50)).any()


@torch.inference_mode()
def test_a_layer_that_narrows_reads_small_numbers_beside_large_ones() -> None:
    """One number of a hundred times the others' size leaves these no bit of 8; a second digit has them all."""
    x = torch.randn(9, 50)
    x[:, 7] = 100
    rest = torch.randn(9, 50)
    rest[:, 7] = 100
    for outputs, largest in ((64, 1.0), (33, 0.02)):
        layer, short = layers(bias=False, outputs=outputs)
        apart = distance(short(x) - short(rest), layer(x) - layer(rest))  # what the large number adds cancels
        assert largest / 100 < apart < largest, outputs


@torch.inference_mode()
@pytest.mark.parametrize("outputs", [64, 33])
def test_neither_neighbours_nor_threads_change_a_number(outputs: int) -> None:
    _, short = layers(outputs=outputs)
    x = torch.randn(300, 50)
    together = short(x)
    assert torch.equal(torch.cat([short(x[:7]), short(x[7:8]), short(x[8:])]), together)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert torch.equal(short(x), together)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_kind_of_encoder_reads_in_int8(name: str) -> None:
    lengths = [12, 31, 3]
    encoder = Encoder(make(name), layers=4, mix=True)
    in_floats = vectors(encoder, lengths)
    count = sum(isinstance(part, nn.Linear) for part in encoder.modules())
    encoder.use_int8()
    encoder.use_int8()  # once is enough
    assert encoder.precision == "int8"
    assert sum(isinstance(part, Int8Linear) for part in encoder.modules()) == count > 3
    assert not any(isinstance(part, nn.Linear) for part in encoder.modules())
    for ours, right in zip(vectors(encoder, lengths), in_floats, strict=True):
        assert 0 < distance(ours, right) < 0.05


def test_layers_that_are_one_stay_one() -> None:
    shared = nn.Linear(4, 4)
    model = nn.Sequential(shared, nn.Sequential(shared))
    use_int8_layers(model)
    assert model[0] is model[1][0]  # type: ignore[index]


def test_an_encoder_without_linear_layers_says_so() -> None:
    model = nn.Sequential(nn.LayerNorm(4))
    model.config = type("Config", (), {"model_type": "odd"})  # type: ignore[assignment]
    with pytest.raises(StreamcorefError, match="a odd encoder has no linear layers that int8 knows; use float32"):
        use_int8_layers(model)


def test_all_encoders_of_a_model_change_and_nothing_else() -> None:
    """Such as that of a scorer which reads text."""
    model = build_model(query_config(layers=1), tokenizer=toys.tokenizer())
    use_precision(model, "int8")
    encoders = [part for part in model.modules() if isinstance(part, Encoder)]
    assert [part.precision for part in encoders] == ["int8", "int8"]
    inside = {id(part) for encoder in encoders for part in encoder.modules()}
    outside = [part for part in model.modules() if id(part) not in inside]
    assert any(isinstance(part, nn.Linear) for part in outside)
    assert not any(isinstance(part, Int8Linear) for part in outside)


def test_what_cannot_be_is_said_in_a_sentence() -> None:
    with pytest.raises(StreamcorefError, match="there is no precision 'int4'; it is one of float32, int8"):
        check_precision("int4", torch.device("cpu"))
    with pytest.raises(StreamcorefError, match="int8 is for the CPU, not for cuda; use float32 there"):
        check_precision("int8", torch.device("cuda"))
    check_precision("float32", torch.device("cuda"))
