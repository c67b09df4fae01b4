"""Small files that would become endless: refused at once, and with little memory."""

from __future__ import annotations

import io
import json
import pickle
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from streamcoref.convert.tensor_bundle import TensorBundle
from streamcoref.convert.torch_file import LEGACY_MAGIC, read_torch_file
from streamcoref.errors import InputError
from tests.convert.bundle_writer import header, varint, write_table
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parent.parent.parent
PAIRS = b"2\x86"  # DUP, TUPLE2: a pair of what is there, twice
SIXTY = PAIRS * 60
STORAGE = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x01tQ"
NUMBER = b"\x8b" + (1_000_000).to_bytes(4, "little") + b"\xff" * 999_999 + b"\x7f"  # of a megabyte
UNKNOWN = b"cthing\nThing\n)\x81"  # an object of an unknown class


def zipped(path: Path, program: bytes, method: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("archive/data.pkl", program)
        archive.writestr("archive/byteorder", "little")
        if STORAGE in program:
            archive.writestr("archive/data/0", bytes(4))


def old(path: Path, program: bytes, keys: bytes | None = None) -> None:
    parts = [pickle.dumps(part, protocol=2) for part in (LEGACY_MAGIC, 1001, {"little_endian": True})]
    if keys is None:
        keys = pickle.dumps(["0"] if STORAGE in program else [], protocol=2)
    path.write_bytes(b"".join([*parts, program, keys, (1).to_bytes(8, "little"), bytes(4)]))


def pairs_of_lists() -> bytes:
    """Lists that hold one before twice, by way of the memo."""
    steps = [b"]q\x00"]
    for number in range(1, 60):
        before = bytes([number - 1])
        steps.append(b"](h" + before + b"h" + before + b"eq" + bytes([number]))
    return b"\x80\x02" + b"".join(steps) + b"."


def tensor(storage: bytes = STORAGE, shape: bytes = b"(K\x01t") -> bytes:
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\x00" + shape + b"(K\x01ttR"


PROGRAMS: dict[str, bytes] = {
    "pairs of an unknown object": b"\x80\x02" + UNKNOWN + SIXTY + b".",
    "pairs of nothing": b"\x80\x02N" + SIXTY + b".",
    "pairs as a key": b"\x80\x02}N" + SIXTY + b"Ns.",
    "pairs as keys": b"\x80\x02}(N" + SIXTY + b"Nu.",
    "pairs in a set": b"\x80\x04\x8f(N" + SIXTY + b"\x90.",
    "pairs in a frozen set": b"\x80\x04(N" + SIXTY + b"\x91.",
    "pairs as a key of an ordered one": b"\x80\x02ccollections\nOrderedDict\n(](N" + SIXTY + b"N\x86etR.",
    "pairs beside a model": b"\x80\x02}(X\x05\x00\x00\x00modelN" + b"X\x09\x00\x00\x00optimizerN" + SIXTY + b"u.",
    "pairs of lists": pairs_of_lists(),
    "a tensor of pairs as a key": b"\x80\x02}" + tensor() + b"(NK\x00N" + SIXTY + b"NtbNs.",
    "numbers under pairs": b"\x80\x02" + tensor(STORAGE + b"(N" + SIXTY + b"NK\x01tb") + b".",
    "a shape of endless numbers": b"\x80\x02" + tensor(shape=NUMBER + b"q\x000(" + b"h\x00" * 64 + b"t") + b".",
    "a shape without end": b"\x80\x02" + tensor(shape=b"(" + b"K\x02" * 400_000 + b"t") + b".",
    "an endless number as a key": b"\x80\x02}" + NUMBER + b"Ns.",
    "five gigabytes to be filled": b"\x80\x05\x96" + (5 << 30).to_bytes(8, "little") + b"abc.",
    "deep": b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "itself": b"\x80\x02]q\x00h\x00a.",
    "a place in the memo beyond all": b"\x80\x02Nr\xff\xff\xff\xff.",
    "a text of four gigabytes": b"\x80\x02X\xff\xff\xff\xffabc.",
    "bytes of exabytes": b"\x80\x04\x8e" + (1 << 60).to_bytes(8, "little") + b"abc.",
    "a number of gigabytes": b"\x80\x02\x8b\xff\xff\xff\x7fabc.",
    "a frame of exabytes": b"\x80\x04\x95" + (1 << 60).to_bytes(8, "little") + b"N.",
    "more steps than any": b"\x80\x02" + b"N0" * 600_000 + b"N.",
    "more lists than any": b"\x80\x02(" + b"]" * 1_200_000 + b"l.",
}


def wide_tensor(path: Path) -> None:
    """One number, told ten thousand times ten thousand times ten thousand times."""
    torch.save({"x": torch.ones(1).as_strided((10**4, 10**4, 10**4), (0, 0, 0))}, path)


def overlapping(path: Path) -> None:
    """A thousand members of one place in the file."""
    torch.save({"x": torch.ones(100_000)}, path)
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        data = next(entry for entry in entries if entry.filename.endswith("data/0"))
    with zipfile.ZipFile(path, "a") as archive:
        for number in range(1000):
            entry = zipfile.ZipInfo(data.filename[:-1] + str(number + 5))
            entry.header_offset, entry.file_size, entry.compress_size = (
                data.header_offset,
                data.file_size,
                data.file_size,
            )
            entry.CRC = data.CRC
            archive.filelist.append(entry)
        archive._didModify = True  # type: ignore[attr-defined]


class Zeros(io.RawIOBase):
    """So many, without holding them."""

    def __init__(self, count: int) -> None:
        self.left = count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = min(len(buffer), self.left)
        buffer[:count] = bytes(count)
        self.left -= count
        return count


def packed(name: str, method: int) -> Callable[[Path], None]:
    """A member of half a gigabyte, packed into half a megabyte."""

    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", method) as archive:
            if name != "data.pkl":
                archive.writestr("archive/data.pkl", b"\x80\x02}.")
            with archive.open(f"archive/{name}", "w") as member, Zeros(1 << 29) as zeros:
                while data := zeros.read(1 << 20):
                    member.write(data)

    return make


def empty_shard(index: Path) -> None:
    index.with_suffix(".data-00000-of-00001").touch()


def long_names(path: Path) -> None:
    """A thousand names of a quarter of a megabyte: each has nearly all of the one before in it, and costs six bytes."""
    names = [b"n" * (1 << 18) + number.to_bytes(2, "big") for number in range(1000)]
    write_table(path, [[(b"", header()), *((name, b"") for name in names)]])
    empty_shard(path)


def one_block(path: Path) -> None:
    """A block that is told of twenty thousand times."""
    names = [number.to_bytes(4, "big") for number in range(1, 5000)]
    write_table(path, [[(b"", header()), *((name, b"") for name in names)]], again=20_000)
    empty_shard(path)


def many_sides(path: Path) -> None:
    sides = b"\x12\x0b\x08" + b"\xff" * 9 + b"\x01"
    entry = b"\x08\x01\x12" + varint(len(sides) * 200_000) + sides * 200_000
    write_table(path, [[(b"", header()), (b"x", entry)]])
    empty_shard(path)


FILES: dict[str, Callable[[Path], None]] = {
    "long names.index": long_names,
    "one block.index": one_block,
    "many sides.index": many_sides,
    "pairs as a name of numbers": lambda path: old(path, b"\x80\x02}.", b"\x80\x02](N" + SIXTY + b"e."),
    "a wide tensor": wide_tensor,
    "members of one place": overlapping,
    "a packed pickle": packed("data.pkl", zipfile.ZIP_DEFLATED),
    "a packed pickle of another kind": packed("data.pkl", zipfile.ZIP_BZIP2),
    "a packed order of bytes": packed("byteorder", zipfile.ZIP_DEFLATED),
    "a packed tensor": packed("data/0", zipfile.ZIP_DEFLATED),
    **{f"{name} (zip)": lambda path, program=program: zipped(path, program) for name, program in PROGRAMS.items()},
    **{f"{name} (old)": lambda path, program=program: old(path, program) for name, program in PROGRAMS.items()},
}
HARMLESS = {"a place in the memo beyond all (zip)", "a place in the memo beyond all (old)"}  # and they cost nothing


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(folder: Path) -> None:
    limit = 6 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for name in FILES:
        before, began, raised = peak(), time.process_time(), ""
        try:
            if name.endswith(".index"):
                TensorBundle((folder / name).with_suffix("")).read("x")
            else:
                read_torch_file(folder / name)
        except InputError as error:
            raised = str(error)
        result = {"name": name, "said": raised, "grown": peak() - before, "seconds": time.process_time() - began}
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()


@pytest.mark.slow
def test_refused_at_once(tmp_path: Path) -> None:
    for name, make in FILES.items():
        make(tmp_path / name)
    assert (tmp_path / "pairs of an unknown object (zip)").stat().st_size < 500
    done = subprocess.run(
        [sys.executable, "-m", "tests.convert.test_bombs", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    results = {result["name"]: result for result in map(json.loads, done.stdout.splitlines())}
    assert results.keys() == FILES.keys(), done.stderr
    for name, result in results.items():
        assert bool(result["said"]) != (name in HARMLESS), result
        assert "\n" not in result["said"], result
        assert result["grown"] < 200, result
        assert result["seconds"] < 60, result


if __name__ == "__main__":
    main(Path(sys.argv[1]))
