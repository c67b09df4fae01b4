"""TensorFlow's checkpoints: real ones read value for value, damaged and unusual ones refused in a sentence."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.convert.table_file import read_table
from streamcoref.convert.tensor_bundle import TensorBundle
from streamcoref.errors import InputError
from tests.convert.bundle_writer import entry, header, write_bundle, write_table
from tests.convert.fixture_values import baseline_variables

DATA = Path(__file__).parent / "data"
REAL = DATA / "spanbert_tiny" / "model.max.ckpt"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the real checkpoint, to be spoilt."""
    for path in REAL.parent.iterdir():
        shutil.copy(path, tmp_path)
    return tmp_path / REAL.name


def complaint(prefix: Path, variable: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        TensorBundle(prefix).read(variable or "genre_embeddings")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def spoil(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


def shard(prefix: Path) -> Path:
    return Path(f"{prefix}.data-00000-of-00001")


def index(prefix: Path) -> Path:
    return Path(f"{prefix}.index")


def test_a_real_checkpoint_bit_for_bit() -> None:
    bundle = TensorBundle(REAL)
    for name, values in baseline_variables().items():
        read = bundle.read(name)
        assert read.dtype == np.float32
        np.testing.assert_array_equal(read, values, strict=True)
    others = bundle.entries.keys() - baseline_variables().keys()
    assert {"global_step", "beta1_power", "genre_embeddings/Adam", "bert/pooler/dense/bias/adam_v"} <= others


def test_every_type() -> None:
    bundle = TensorBundle(DATA / "types" / "model.ckpt")
    for name in ("float32", "float64", "int32", "int64", "float16"):
        np.testing.assert_array_equal(bundle.read(name), np.array([[1, -2, 3]], name), strict=True)
    assert bundle.read("scalar").shape == ()
    assert bundle.read("scalar") == 2.5
    assert bundle.read("empty").shape == (0, 3)


def test_a_type_that_no_weight_has() -> None:
    assert "the variable text has TensorFlow's type 7" in complaint(DATA / "types" / "model.ckpt", "text")


def test_partitioned_variables_are_refused_by_name() -> None:
    message = complaint(DATA / "partitioned" / "model.ckpt")
    assert "table is stored in slices" in message


def test_reading_holds_no_second_copy() -> None:
    """A variable is a view of the file until somebody writes it elsewhere."""
    values = TensorBundle(REAL).read("coref_layer/f/output_weights")
    assert isinstance(values.base, np.memmap)
    assert not values.flags.writeable


def test_big_endian_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path / "m.index", [[(b"", header(big_endian=True))]])
    assert "big-endian" in complaint(tmp_path / "m")


def test_compressed_blocks_are_refused(tmp_path: Path) -> None:
    write_table(tmp_path / "m.index", [[(b"", header())]], compression=1)
    assert "compressed (type 1)" in complaint(tmp_path / "m")


def test_several_blocks_and_shared_beginnings(tmp_path: Path) -> None:
    arrays = {f"layer_{n}/kernel": np.full((2, 2), n, np.float32) for n in range(50)}
    write_bundle(tmp_path / "m", arrays, in_a_block=7)
    assert len(list(read_table(tmp_path / "m.index"))) == 51
    bundle = TensorBundle(tmp_path / "m")
    for name, array in arrays.items():
        np.testing.assert_array_equal(bundle.read(name), array)


def test_a_wrong_bit_of_a_variable(copy: Path) -> None:
    offset = TensorBundle(copy).entries["genre_embeddings"].offset
    spoil(shard(copy), offset + 5)
    message = complaint(copy)
    assert message.startswith(f"{shard(copy)}: ")
    assert "checksum of the variable genre_embeddings" in message
    TensorBundle(copy).read("span_width_embeddings")  # the others are still good


def test_a_wrong_bit_of_the_index(copy: Path) -> None:
    spoil(index(copy), 100)
    message = complaint(copy)
    assert message.startswith(f"{index(copy)}: ")
    assert "checksum of the index block" in message


def test_a_missing_shard(copy: Path) -> None:
    shard(copy).unlink()
    assert complaint(copy) == f"{shard(copy)}: the file is missing; model.max.ckpt.index needs it beside it"


def test_a_missing_index(copy: Path) -> None:
    index(copy).unlink()
    assert complaint(copy).startswith(f"{index(copy)}: cannot be read: ")


def test_a_shard_cut_off(copy: Path) -> None:
    data = shard(copy).read_bytes()
    shard(copy).write_bytes(data[:-10])
    assert "cut off before the end of the variable" in complaint(copy)


@pytest.mark.parametrize("length", [0, 10, 47, 48, 1000, -1])
def test_an_index_cut_off(copy: Path, length: int) -> None:
    index(copy).write_bytes(index(copy).read_bytes()[:length])
    assert "cut off" in complaint(copy)


def test_a_size_that_does_not_fit_the_shape(tmp_path: Path) -> None:
    array = np.ones((2, 3), np.float32)
    wrong = entry(array, 0).replace(b"\x08\x03", b"\x08\x04")  # the second side
    write_table(tmp_path / "m.index", [[(b"", header()), (b"x", wrong)]])
    shard(tmp_path / "m").write_bytes(array.tobytes())
    assert "the variable x of shape [2, 4] has 24 bytes" in complaint(tmp_path / "m", "x")


def test_a_shard_that_the_header_does_not_have(tmp_path: Path) -> None:
    array = np.ones(2, np.float32)
    write_table(tmp_path / "m.index", [[(b"", header()), (b"x", entry(array, 0) + b"\x18\x05")]])
    shard(tmp_path / "m").write_bytes(array.tobytes())
    assert "a shard 5 of 1" in complaint(tmp_path / "m", "x")


def test_a_table_of_something_else(tmp_path: Path) -> None:
    write_table(tmp_path / "m.index", [[(b"key", b"value")]])
    assert "it has no header" in complaint(tmp_path / "m")


@given(st.data())
def test_no_damage_to_an_index_is_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Messages as damaged as may be behind right checksums: an answer or a sentence, nothing else."""
    folder = tmp_path_factory.mktemp("damaged")
    good = entry(np.ones((2, 2), np.float32), 0)
    start = data.draw(st.integers(0, len(good)))
    bad = good[:start] + data.draw(st.binary(max_size=6)) + good[start + data.draw(st.integers(0, 3)) :]
    write_table(folder / "m.index", [[(b"", header()), (b"x", bad)]])
    shard(folder / "m").write_bytes(bytes(64))
    with contextlib.suppress(InputError):
        TensorBundle(folder / "m").read("x")
