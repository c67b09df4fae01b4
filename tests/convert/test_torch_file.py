"""PyTorch files: all layouts read, and nothing that is pickled in one ever run."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import pickletools
import subprocess
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from streamcoref.convert import inert_pickle
from streamcoref.convert.inert_pickle import Inert, InertUnpickler
from streamcoref.convert.torch_file import LEGACY_MAGIC, read_torch_file
from streamcoref.errors import InputError
from tests.convert import make_authors_checkpoint


def complaint(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_torch_file(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("as_objects", [False, True])
def test_every_layout_bit_for_bit(tmp_path: Path, legacy: bool, as_objects: bool) -> None:
    make_authors_checkpoint.save(tmp_path / "c.bin", 0.25, as_objects, legacy)
    saved = read_torch_file(tmp_path / "c.bin")
    wanted = make_authors_checkpoint.state_dict(0.25)
    assert list(saved["model"]) == list(wanted)
    for name, tensor in wanted.items():
        torch.testing.assert_close(saved["model"][name], tensor, rtol=0, atol=0)
    assert isinstance(saved["optimizer"], Inert) == as_objects


def test_torch_itself_would_refuse_the_objects(tmp_path: Path) -> None:
    """Or the restricted unpickler would be tested nowhere."""
    make_authors_checkpoint.save(tmp_path / "c.bin")
    with pytest.raises(pickle.UnpicklingError):
        torch.load(tmp_path / "c.bin", weights_only=True)


class Thing:
    """Makes torch's own loader refuse a file."""


@pytest.mark.parametrize("legacy", [False, True])
def test_types_views_and_parameters(tmp_path: Path, legacy: bool) -> None:
    base = torch.arange(24.0).reshape(4, 6)
    saved = {
        "thing": Thing(),
        "transposed": base.t(),
        "slice": base[1:3, ::2],
        "whole": base,
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "half": torch.tensor([1.5], dtype=torch.float16),
        "brain": torch.tensor([[1.5, -2.0]], dtype=torch.bfloat16),
        "double": torch.tensor(0.1, dtype=torch.float64),
        "long": torch.tensor([2**40]),
        "bool": torch.tensor([True, False, True]),
        "empty": torch.zeros(0, 3),
        "list": [torch.ones(1), (torch.zeros(1), "text", 3)],
    }
    torch.save(saved, tmp_path / "c.bin", _use_new_zipfile_serialization=not legacy)
    read = read_torch_file(tmp_path / "c.bin")
    assert isinstance(read.pop("thing"), Inert)
    del saved["thing"]
    one, (two, text, number) = read.pop("list")
    assert (one.item(), two.item(), text, number) == (1, 0, "text", 3)
    del saved["list"]
    for name, tensor in saved.items():
        assert read[name].dtype == tensor.dtype
        assert torch.equal(read[name], tensor)


def test_the_file_does_not_change_with_its_tensors(tmp_path: Path) -> None:
    torch.save({"thing": Thing(), "x": torch.ones(3)}, tmp_path / "c.bin")
    before = (tmp_path / "c.bin").read_bytes()
    read_torch_file(tmp_path / "c.bin")["x"].zero_()
    assert (tmp_path / "c.bin").read_bytes() == before


# What must never run. Each is given the file it would leave behind.


class Reduced:
    """Pickled as a call."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.call


class WithState:
    """Pickled as an object whose class would be called to take its state."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return (bytearray, (), {"x": 1}, None, iter([("k", Reduced(os.system, f"touch {self.trace}"))]))

    def __setstate__(self, state: dict[str, Any]) -> None:
        state["trace"].touch()


class Touching:
    """Its own code would run when it is given back its state."""

    def __init__(self, trace: str) -> None:
        self.trace = trace

    def __setstate__(self, state: dict[str, str]) -> None:
        Path(state["trace"]).touch()


ATTACKS: dict[str, Callable[[Path], Any]] = {
    "system": lambda trace: Reduced(os.system, f"touch {trace}"),
    "eval": lambda trace: Reduced(eval, f"__import__('os').system('touch {trace}')"),
    "exec": lambda trace: Reduced(exec, f"open({str(trace)!r}, 'w')"),
    "open": lambda trace: Reduced(open, str(trace), "w"),
    "popen": lambda trace: Reduced(subprocess.Popen, ["touch", str(trace)]),
    "state": lambda trace: Touching(str(trace)),
    "items": WithState,
    "nested": lambda trace: {"a": [({"b": OrderedDict(c=Reduced(os.system, f"touch {trace}"))},)]},
    "key": lambda trace: {Reduced(os.system, f"touch {trace}"): 1},
    "bytes": lambda trace: Reduced(torch.storage._load_from_bytes, pickle.dumps(Reduced(os.system, f"touch {trace}"))),
    "inner": lambda trace: Reduced(pickle.loads, pickle.dumps(Reduced(os.system, f"touch {trace}"))),
    "torch.load": lambda trace: Reduced(torch.load, str(trace)),
    "map": lambda trace: Reduced(list, Reduced(map, os.system, [f"touch {trace}"])),
}


def with_pickle(target: Path, value: Any, legacy: bool) -> None:
    """A file with a good tensor whose pickle was replaced by one of a tensor and `value`."""
    torch.save({"x": torch.ones(3), "evil": value}, target, _use_new_zipfile_serialization=not legacy)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_runs(tmp_path: Path, attack: str, legacy: bool) -> None:
    trace = tmp_path / "it-ran"
    with_pickle(tmp_path / "c.bin", ATTACKS[attack](trace), legacy)
    read = read_torch_file(tmp_path / "c.bin")
    assert not trace.exists()
    assert torch.equal(read["x"], torch.ones(3))


@pytest.mark.parametrize("attack", ["system", "state", "bytes"])
def test_the_attacks_are_real(tmp_path: Path, attack: str) -> None:
    """A careless reader runs them, or the test above would prove nothing."""
    trace = tmp_path / "it-ran"
    with_pickle(tmp_path / "c.bin", ATTACKS[attack](trace), legacy=False)
    try:
        torch.load(tmp_path / "c.bin", weights_only=False)
    except Exception:  # what is returned may be no tensor; it has run all the same
        assert attack == "bytes"
    assert trace.exists()


@pytest.mark.parametrize("place", ["magic", "version", "system", "keys"])
def test_nothing_runs_in_the_other_pickles_of_an_old_file(tmp_path: Path, place: str) -> None:
    trace = tmp_path / "it-ran"
    evil = Reduced(os.system, f"touch {trace}")
    parts = {"magic": LEGACY_MAGIC, "version": 1001, "system": {"little_endian": True}, "value": {}, "keys": []}
    parts[place] = evil
    (tmp_path / "c.bin").write_bytes(b"".join(pickle.dumps(part, protocol=2) for part in parts.values()))
    with contextlib.suppress(InputError):
        read_torch_file(tmp_path / "c.bin")
    assert not trace.exists()


def load(program: bytes) -> Any:
    return InertUnpickler(io.BytesIO(program)).load()


@pytest.mark.parametrize(
    "program",
    [
        b"cos\nsystem\n(S'touch {trace}'\ntR.",  # GLOBAL, REDUCE
        b"(S'touch {trace}'\nios\nsystem\n.",  # INST
        b"(cos\nsystem\nS'touch {trace}'\no.",  # OBJ
        b"cos\nsystem\n(S'touch {trace}'\nt\x81.",  # NEWOBJ
        b"cos\nsystem\n(S'touch {trace}'\nt}\x92.",  # NEWOBJ_EX
        b"\x80\x04\x8c\x02os\x8c\x06system\x93(S'touch {trace}'\ntR.",  # STACK_GLOBAL
        b"\x80\x04\x8c\x08builtins\x8c\x0dstr.__class__\x93(S'touch {trace}'\ntR.",  # a dotted name
    ],
)
def test_every_way_of_calling(tmp_path: Path, program: bytes) -> None:
    trace = tmp_path / "it-ran"
    program = program.replace(b"{trace}", str(trace).encode())
    assert isinstance(load(program), Inert)
    assert not trace.exists()


@pytest.mark.parametrize("name", [b"torch._utils\n_rebuild_tensor_v2", b"collections\nOrderedDict"])
def test_a_pickle_cannot_change_what_outlives_it(name: bytes) -> None:
    """BUILD may set any attribute of what is on the stack, such as a function that we lent to the pickle."""
    before = vars(inert_pickle).copy()
    program = b"c" + name + b"\nN}S'__defaults__'\nNs\x86b."
    pickletools.dis(program, io.StringIO())  # a well-formed program
    with pytest.raises(pickle.UnpicklingError, match="change what it has made"):
        load(program)
    assert vars(inert_pickle) == before


def test_a_dictionary_takes_no_attributes() -> None:
    """They could stand in the way of its methods."""
    read = load(b"ccollections\nOrderedDict\n)R}S'items'\nNsb.")
    assert list(read.items()) == []


def test_an_unknown_class_changes_no_other() -> None:
    """Each name in a pickle gets a class of its own, so that one cannot spoil what another file sees."""
    assert load(b"cos\nsystem\n.") is not load(b"cos\nsystem\n.")
    assert load(b"cos\nsystem\n.") is not Inert


@pytest.mark.parametrize(
    ("shape", "strides", "offset"), [((4,), (1,), 0), ((2,), (3,), 0), ((1,), (1,), 3), ((2, 2), (1, 2), 0)]
)
def test_a_tensor_cannot_reach_outside_its_storage(
    tmp_path: Path, shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> None:
    storage = torch.storage.TypedStorage(
        wrap_storage=torch.ones(3).untyped_storage(), dtype=torch.float32, _internal=True
    )

    class Reaching:
        def __reduce__(self) -> tuple[Any, ...]:
            return (torch._utils._rebuild_tensor_v2, (storage, offset, shape, strides, False, OrderedDict()))

    torch.save({"x": Reaching(), "thing": Thing()}, tmp_path / "c.bin")
    assert "damaged" in complaint(tmp_path / "c.bin")


def test_files_that_are_none(tmp_path: Path) -> None:
    assert "cannot be read" in complaint(tmp_path / "missing.bin")
    (tmp_path / "text.bin").write_text("hello", encoding="utf-8")
    assert "not a PyTorch file" in complaint(tmp_path / "text.bin")
    (tmp_path / "empty.bin").touch()
    assert "not a PyTorch file" in complaint(tmp_path / "empty.bin")
    with zipfile.ZipFile(tmp_path / "other.bin", "w") as archive:
        archive.writestr("readme", "hello")
    assert "no data.pkl" in complaint(tmp_path / "other.bin")


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_files_cut_off(tmp_path: Path, legacy: bool, share: float) -> None:
    make_authors_checkpoint.save(tmp_path / "c.bin", legacy=legacy)
    data = (tmp_path / "c.bin").read_bytes()
    (tmp_path / "c.bin").write_bytes(data[: int(share * len(data))])
    assert complaint(tmp_path / "c.bin").startswith(f"{tmp_path / 'c.bin'}: ")


def test_cut_off_in_what_is_left_unread(tmp_path: Path) -> None:
    """Old files hold their storages in the order of their addresses: the last may belong to the optimizer."""
    thing = Thing()
    thing.__dict__["numbers"] = torch.ones(100)
    torch.save({"thing": thing}, tmp_path / "c.bin", _use_new_zipfile_serialization=False)
    assert isinstance(read_torch_file(tmp_path / "c.bin")["thing"], Inert)
    data = (tmp_path / "c.bin").read_bytes()
    (tmp_path / "c.bin").write_bytes(data[:-1])
    assert "cut off" in complaint(tmp_path / "c.bin")


def rewritten(path: Path, compression: int, byteorder: bytes) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in parts.items():
            archive.writestr(name, byteorder if name.endswith("byteorder") else data)


def test_unusual_zip_files_are_refused(tmp_path: Path) -> None:
    torch.save({"thing": Thing(), "x": torch.ones(100)}, tmp_path / "c.bin")
    rewritten(tmp_path / "c.bin", zipfile.ZIP_DEFLATED, b"little")
    assert "compressed" in complaint(tmp_path / "c.bin")
    rewritten(tmp_path / "c.bin", zipfile.ZIP_STORED, b"big")
    assert "big-endian" in complaint(tmp_path / "c.bin")
    rewritten(tmp_path / "c.bin", zipfile.ZIP_STORED, b"little")
    assert torch.equal(read_torch_file(tmp_path / "c.bin")["x"], torch.ones(100))
