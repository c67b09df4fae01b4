"""Weights in several files: none too large, the same model, and an index that is not taken at its word."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import streamcoref
from streamcoref.errors import StreamcorefError
from streamcoref.experiments.options import model_files
from streamcoref.model import weight_files
from streamcoref.model.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from streamcoref.model.weight_files import split
from tests.model import toys

CARD = "# A model of a test\n"
INDEX = "model.safetensors.index.json"
FIRST = "model-00001-of-00003.safetensors"
SECOND = "model-00002-of-00003.safetensors"
MB = 0.03  # of the toy's 0.065 in int8


def make(seed: int = 7) -> Checkpoint:
    config = toys.config()
    return Checkpoint(toys.model(config, seed), config, toys.tokenizer())


def weights_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if "safetensors" in file.name)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    save_checkpoint(folder, make(), CARD, "int8", MB)
    return folder


def test_no_file_is_larger_and_the_model_is_the_same(saved: Path, tmp_path: Path) -> None:
    files = weights_in(saved)
    assert files[:2] == [FIRST, SECOND]
    assert files[-1] == INDEX
    assert all((saved / name).stat().st_size <= 1e6 * MB for name in files[:-1])
    assert all((saved / name).stat().st_mode & 0o777 == 0o644 for name in files[:-1])
    index = json.loads((saved / INDEX).read_text())
    for name in files[:-1]:
        assert {t for t, file in index["weight_map"].items() if file == name} == load_file(saved / name).keys()
    save_checkpoint(tmp_path, make(), CARD, "int8")
    assert weights_in(tmp_path) == ["model.safetensors"]
    assert streamcoref.load(saved).fingerprint == streamcoref.load(tmp_path).fingerprint


def test_transformers_would_find_the_same_parts(saved: Path) -> None:
    from transformers.utils.hub import get_checkpoint_shard_files

    files, said = get_checkpoint_shard_files(str(saved), str(saved / INDEX))
    assert [Path(file).name for file in files] == weights_in(saved)[:-1]
    assert said["total_size"] == sum(
        t.nbytes for name in weights_in(saved)[:-1] for t in load_file(saved / name).values()
    )


def test_one_way_replaces_the_other(tmp_path: Path) -> None:
    for seed, limit in enumerate((None, MB, 2 * MB, MB, None)):
        checkpoint = make(seed)
        save_checkpoint(tmp_path, checkpoint, CARD, "float16", limit)
        files = weights_in(tmp_path)
        assert (files == ["model.safetensors"]) == (limit is None)
        assert limit is None or (INDEX in files and len({name[-17:] for name in files if name != INDEX}) == 1)
        loaded = load_checkpoint(tmp_path).model.state_dict()
        assert all(torch.equal(loaded[name], t.half().float()) for name, t in checkpoint.model.state_dict().items())


def test_stopped_while_parts_are_written_the_old_ones_stay(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(saved, tmp_path / "model")
    before = streamcoref.load(folder).fingerprint
    written: list[Path] = []

    def stopped(_tensors: Any, path: Path, **_: Any) -> None:
        path.write_bytes(b"half")
        written.append(path)
        if len(written) == 2:
            raise SystemExit

    monkeypatch.setattr(weight_files, "save_file", stopped)
    with pytest.raises(SystemExit):
        save_checkpoint(folder, make(8), CARD, "int8", MB)
    assert streamcoref.load(folder).fingerprint == before
    assert weights_in(folder) == weights_in(saved)


def test_stopped_while_parts_are_moved_nothing_is_mixed(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(saved, tmp_path / "model")
    replace = Path.replace

    def stopped(self: Path, target: Path) -> Path:
        if target.name == FIRST:  # the last one that is moved
            raise SystemExit
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(SystemExit):
        save_checkpoint(folder, make(8), CARD, "int8", MB)
    with pytest.raises(StreamcorefError, match=r"is not a model folder: it has no model\.safetensors$"):
        load_checkpoint(folder)


def test_a_tensor_that_fits_nowhere(tmp_path: Path) -> None:
    with pytest.raises(
        StreamcorefError,
        match=r"^the tensor encoder\.\S+\.word_embeddings\.weight alone has 0\.1 MB, which fits into no file",
    ):
        save_checkpoint(tmp_path, make(), CARD, max_file_mb=0.04)
    assert weights_in(tmp_path) == []


def test_what_goes_into_which_file() -> None:
    sizes = {"a": 600_000, "b": 300_000, "c": 500_000, "d": 10}
    assert split(sizes, 1) == {
        "model-00001-of-00002.safetensors": ["a", "b"],
        "model-00002-of-00002.safetensors": ["c", "d"],
    }
    assert split(sizes, 2) == split(sizes, None) == {"model.safetensors": list(sizes)}


def test_experiments_depend_on_all_parts(saved: Path) -> None:
    assert [file.name for file in model_files(saved)] == ["config.json", INDEX, *weights_in(saved)[:-1]]


def index_changed(change: Callable[[dict[str, str]], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        values = json.loads((folder / INDEX).read_text())
        change(values["weight_map"])
        (folder / INDEX).write_text(json.dumps(values))

    return apply


def elsewhere(name: Any) -> Callable[[Path], None]:
    return index_changed(lambda names: names.update({min(names): name}))


def swapped(folder: Path) -> None:
    (folder / FIRST).rename(folder / "kept")
    (folder / SECOND).rename(folder / FIRST)
    (folder / "kept").rename(folder / SECOND)


def twice(folder: Path) -> None:
    tensors = load_file(folder / FIRST)
    save_file(load_file(folder / SECOND) | {min(tensors): tensors[min(tensors)]}, folder / SECOND)


def a_pipe(folder: Path) -> None:
    (folder / FIRST).unlink()
    os.mkfifo(folder / FIRST)


PARTS_ARE_CALLED = r"for a tensor; parts of weights are called model-00001-of-00002\.safetensors, and lie beside it$"
FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a part is gone": (lambda f: (f / FIRST).unlink(), rf"{INDEX} names {FIRST}, which is not there; fetch or copy it"),
    "a part is a pipe": (a_pipe, f"{FIRST} is not a file"),
    "a part is cut off": (lambda f: (f / FIRST).write_bytes((f / FIRST).read_bytes()[:-9]), f"{FIRST} is damaged"),
    "parts of each other": (swapped, rf"{INDEX} .*says that {FIRST} has the tensor .*; it is another model's$"),
    "a tensor in two parts": (twice, rf"{INDEX} does not say that {SECOND} has the tensor .*; it is another model's$"),
    "another tensor": (
        index_changed(lambda names: names.update(colour=FIRST)),
        rf"{INDEX} says that {FIRST} has the tensor colour; it is another model's$",
    ),
    "a folder above": (elsewhere("../model-00001-of-00002.safetensors"), PARTS_ARE_CALLED),
    "a place of its own": (elsewhere("/etc/passwd"), PARTS_ARE_CALLED),
    "a name of lines": (elsewhere("model\n.safetensors"), PARTS_ARE_CALLED),
    "a number for a name": (elsewhere(7), PARTS_ARE_CALLED),
    "no map": (lambda f: (f / INDEX).write_text("{}"), f"{INDEX} has no table weight_map"),
    "an empty map": (index_changed(dict.clear), f"{INDEX} has no table weight_map"),
    "a list": (lambda f: (f / INDEX).write_text("[]"), f"{INDEX} holds a list where a table is expected"),
    "broken JSON": (lambda f: (f / INDEX).write_text("{"), f"{INDEX} is not valid JSON"),
    "nested": (lambda f: (f / INDEX).write_text("[" * 100_000 + "]" * 100_000), f"{INDEX} is not a sensible JSON file"),
    "no index": (lambda f: (f / INDEX).unlink(), r"is not a model folder: it has no model\.safetensors$"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_parts_is_named(fault: str, saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "model")
    damage, said = FAULTS[fault]
    damage(folder)
    with pytest.raises(StreamcorefError, match=said) as caught:
        load_checkpoint(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_a_part_misses_nothing_but_the_config_wants_more(saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "model")
    tensors = load_file(folder / FIRST)
    name = min(tensors)
    tensors.pop(name)
    save_file(tensors, folder / FIRST, metadata={"storage": "int8-rows"})
    index_changed(lambda names: names.pop(name))(folder)
    with pytest.raises(StreamcorefError, match=rf"{INDEX} misses tensors: {name}$"):
        load_checkpoint(folder)
