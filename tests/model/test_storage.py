"""Weights on disk in fewer bits: what comes back, what is refused, and what it says of itself."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

import streamcoref
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from streamcoref.model.int8_rows import from_rows
from streamcoref.model.storage import Storage, lossless, stored, stored_bytes
from tests import toy_resolver
from tests.model import toys

CARD = "# A model of a test\n"
MATRIX = "encoder.model.encoder.layer.0.attention.output.dense.weight"
SCALES = f"{MATRIX}.scale"
TABLE = "pair_score.features.tables.distance.weight"
ROWS = {"storage": "int8-rows"}


def make() -> Checkpoint:
    config = toys.config()
    return Checkpoint(toys.model(config, 7), config, toys.tokenizer())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    save_checkpoint(folder, make(), CARD, "int8")
    return folder


def test_matrices_are_int8_and_the_rest_is_float16(saved: Path) -> None:
    tensors = load_file(saved / "model.safetensors")
    expected = make().model.state_dict()
    matrices = {name for name, tensor in expected.items() if tensor.ndim == 2 and min(tensor.shape) >= 32}
    assert MATRIX in matrices
    assert TABLE not in matrices
    assert tensors.keys() == expected.keys() | {f"{name}.scale" for name in matrices}
    assert {name for name, tensor in tensors.items() if tensor.dtype == torch.int8} == matrices
    assert {str(tensor.dtype) for name, tensor in tensors.items() if name not in matrices} == {"torch.float16"}
    with safe_open(saved / "model.safetensors", framework="pt") as file:
        assert file.metadata() == ROWS


def test_restored_in_32_bits_within_half_a_step(saved: Path) -> None:
    tensors = load_file(saved / "model.safetensors")
    loaded = load_checkpoint(saved).model.state_dict()
    for name, tensor in make().model.state_dict().items():
        assert loaded[name].dtype == torch.float32
        if name in tensors and tensors[name].dtype == torch.int8:
            scale = tensors[f"{name}.scale"]
            assert torch.equal(loaded[name], from_rows(tensors[name], scale))
            assert bool(((loaded[name] - tensor).abs() <= 0.501 * scale.float()[:, None]).all()), name
        else:
            torch.testing.assert_close(loaded[name], tensor.half().float(), atol=0, rtol=0)


def test_it_takes_as_many_bytes_as_planned() -> None:
    tensors = make().model.state_dict()
    storages: tuple[Storage, ...] = ("float32", "float16", "int8")
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    totals = []
    for storage in storages:
        sizes = stored_bytes(shapes, storage)
        assert sizes == {name: tensor.nbytes for name, tensor in stored(tensors, storage).items()}
        totals.append(sum(sizes.values()))
    assert totals[2] < 0.6 * totals[1] < 0.31 * totals[0]


def test_a_model_is_saved_again_as_it_was_stored(saved: Path, tmp_path: Path) -> None:
    """And is the same model, by its fingerprint, however it is stored."""
    first = streamcoref.load(saved)
    first.save(tmp_path / "again")
    assert (tmp_path / "again" / "model.safetensors").read_bytes() == (saved / "model.safetensors").read_bytes()
    save_checkpoint(tmp_path / "wide", first.checkpoint, CARD, "float32")
    assert first.fingerprint == streamcoref.load(tmp_path / "again").fingerprint
    assert first.fingerprint == streamcoref.load(tmp_path / "wide").fingerprint
    text = "Anna saw the captain. He left her. She lost his letter, and he found it."
    assert streamcoref.load(tmp_path / "wide").resolve(text) == first.resolve(text)


def test_the_smallest_storage_that_holds_every_number(saved: Path) -> None:
    model = load_checkpoint(saved).model
    tensors = model.state_dict()
    assert lossless(tensors) == "int8"
    with torch.no_grad():
        tensors[MATRIX][0, 0] += 0.01
    assert lossless(tensors) == "float32"
    assert lossless({name: tensor.half().float() for name, tensor in make().model.state_dict().items()}) == "float16"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e9])
def test_numbers_that_no_int8_stands_for_are_refused(bad: float, tmp_path: Path) -> None:
    checkpoint = make()
    with torch.no_grad():
        checkpoint.model.state_dict()[MATRIX][3, 4] = bad
    with pytest.raises(StreamcorefError, match=rf"^the tensor {MATRIX} has numbers that are not finite, or too large"):
        save_checkpoint(tmp_path / "model", checkpoint, CARD, "int8")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("storage", ["float16", "int8"])
def test_numbers_beyond_16_bits_are_refused(storage: Storage, tmp_path: Path) -> None:
    checkpoint = make()
    with torch.no_grad():
        checkpoint.model.state_dict()[TABLE][0, 0] = 1e5
    with pytest.raises(
        StreamcorefError, match=rf"^the tensor {TABLE} has numbers too large for 16 bits; store .* float32"
    ):
        save_checkpoint(tmp_path / "model", checkpoint, CARD, storage)
    save_checkpoint(tmp_path / "model", checkpoint, CARD)
    assert lossless(checkpoint.model.state_dict()) == "float32"


def changed(change: Callable[[dict[str, Tensor]], object], metadata: dict[str, str] = ROWS) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        change(tensors)
        save_file(tensors, folder / "model.safetensors", metadata=metadata)

    return apply


def scales(change: Callable[[Tensor], Tensor]) -> Callable[[Path], None]:
    return changed(lambda tensors: tensors.update({SCALES: change(tensors[SCALES])}))


def one_scale(value: float) -> Callable[[Path], None]:
    def change(scale: Tensor) -> Tensor:
        scale[5] = value
        return scale

    return scales(change)


NO_SCALE = r"\.scale has numbers that are no scales: below zero, or not finite$"
FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "no scales": (changed(lambda t: t.pop(SCALES)), rf"model\.safetensors misses tensors: {SCALES}$"),
    "scales alone": (changed(lambda t: t.pop(MATRIX)), rf"model\.safetensors misses tensors: {MATRIX}$"),
    "scales of a matrix in floats": (
        changed(lambda t: t.update({MATRIX: t[MATRIX].half()})),
        rf"model\.safetensors has unknown tensors: {SCALES}$",
    ),
    "too few scales": (scales(lambda s: s[:-1]), rf"{SCALES} has shape \[31\], .* needs \[32\]$"),
    "a table of scales": (scales(lambda s: s[:, None]), rf"{SCALES} has shape \[32, 1\], .* needs \[32\]$"),
    "one scale": (scales(lambda s: s[0].clone()), rf"{SCALES} has shape \[\], .* needs \[32\]$"),
    "scales in 32 bits": (scales(lambda s: s.float()), rf"{SCALES} holds F32; scales are F16$"),
    "scales in whole numbers": (scales(lambda s: s.int()), rf"{SCALES} holds I32; scales are F16$"),
    "a scale below zero": (one_scale(-0.5), NO_SCALE),
    "a scale that is no number": (one_scale(float("nan")), NO_SCALE),
    "a scale without end": (one_scale(float("inf")), NO_SCALE),
    "a matrix in other whole numbers": (
        changed(lambda t: t.update({MATRIX: t[MATRIX].to(torch.int16)}) or t.pop(SCALES)),
        rf"{MATRIX} holds I16, but the model of config\.json needs floats$",
    ),
    "a matrix of another shape": (
        changed(lambda t: t.update({MATRIX: t[MATRIX][:, :-1].contiguous()})),
        rf"{MATRIX} has shape \[32, 31\], .* needs \[32, 32\]$",
    ),
    "a vector in rows": (
        changed(
            lambda t: t.update(
                {"new_entity_score": torch.ones(1).to(torch.int8), "new_entity_score.scale": torch.ones(1).half()}
            )
        ),
        "new_entity_score is no matrix, and only matrices have scales$",
    ),
    "int8 that nobody spoke of": (
        changed(len, {"format": "pt"}),
        r"has unknown tensors: .*\.scale",
    ),
    "a storage to come": (
        changed(len, {"storage": "int4-blocks"}),
        r"is stored as 'int4-blocks', which this version of streamcoref cannot read; install a newer one$",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_stored_rows_is_named(fault: str, saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "model")
    damage, said = FAULTS[fault]
    damage(folder)
    with pytest.raises(StreamcorefError, match=said) as caught:
        load_checkpoint(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_sizes_of_the_config_are_compared_before_memory_is_spent(saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "model")
    values = json.loads((folder / "config.json").read_text())
    values["encoder"]["architecture"]["vocab_size"] = 1 << 30
    (folder / "config.json").write_text(json.dumps(values))
    with pytest.raises(StreamcorefError, match=r"has shape \[400, 32\], but .* needs \[1073741824, 32\]$"):
        load_checkpoint(folder)


def test_a_stream_goes_on_with_the_model_however_it_is_stored(saved: Path, tmp_path: Path) -> None:
    first = streamcoref.load(saved)
    save_checkpoint(tmp_path, first.checkpoint, CARD)
    text = toy_resolver.plain_text(3, 60)
    stream = first.stream()
    stream.feed(text)
    assert streamcoref.load(tmp_path).stream(stream.state()).close() == stream.close()
