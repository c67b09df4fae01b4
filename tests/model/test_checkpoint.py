"""Models on disk: what is saved comes back, and whatever is wrong with a folder is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from streamcoref.errors import StreamcorefError
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.checkpoint import BUNDLED, Checkpoint, find_checkpoint, load_checkpoint, save_checkpoint
from streamcoref.model.config import build_encoder, preset
from streamcoref.model.reading import Link
from tests.model import toys
from tests.model.test_exactness import CASES, COARSE_TO_FINE
from tests.model.toy_answers import answer, decisions

CARD = "# A model of a test\n"


def make(**changes: Any) -> Checkpoint:
    config = toys.config(**changes)
    return Checkpoint(toys.model(config, 7), config, toys.tokenizer())


def run(checkpoint: Checkpoint) -> list[tuple[list[Link], list[int]]]:
    segments = checkpoint.segmenter.cut(toys.document(3, 150))
    return decisions(toys.read(checkpoint.model, checkpoint.config, segments))


@pytest.mark.parametrize("case", ["paper", "light", "size times distance"])
def test_the_same_predictions_after_a_round_trip(case: str, tmp_path: Path) -> None:
    checkpoint = make(**CASES[case])
    save_checkpoint(tmp_path / "model", checkpoint, CARD)
    loaded = load_checkpoint(tmp_path / "model")
    assert not loaded.model.training
    assert run(loaded) == run(checkpoint)
    for name, tensor in checkpoint.model.state_dict().items():
        torch.testing.assert_close(loaded.model.state_dict()[name], tensor, atol=0, rtol=0)
    left_out = {"encoder"}  # its architecture is written out in full
    assert loaded.config.model_dump(exclude=left_out) == checkpoint.config.model_dump(exclude=left_out)
    assert loaded.tokenizer(["the", "lighthouse", "\u200b"]) == checkpoint.tokenizer(["the", "lighthouse", "\u200b"])
    # and once more: what was loaded saves as the same
    save_checkpoint(tmp_path / "again", loaded, CARD)
    for name in ("model.safetensors", "config.json", "README.md", "tokenizer.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes(), name


def test_a_baseline_comes_back_too(tmp_path: Path) -> None:
    checkpoint = make(kind="baseline", pair_score=COARSE_TO_FINE)
    save_checkpoint(tmp_path, checkpoint, CARD)
    loaded = load_checkpoint(tmp_path)
    assert isinstance(loaded.model, BaselineModel)
    document = toys.document(3, 120)
    assert answer(loaded, document) == answer(checkpoint, document)
    assert answer(loaded, document).predicted_clusters


def test_sixteen_bits_on_disk(tmp_path: Path) -> None:
    checkpoint = make()
    save_checkpoint(tmp_path / "32", checkpoint, CARD)
    save_checkpoint(tmp_path / "16", checkpoint, CARD, "float16")
    sizes = [(tmp_path / bits / "model.safetensors").stat().st_size for bits in ("16", "32")]
    assert sizes[0] < 0.6 * sizes[1]
    loaded = load_checkpoint(tmp_path / "16")
    for name, tensor in checkpoint.model.state_dict().items():
        value = loaded.model.state_dict()[name]
        assert value.dtype == torch.float32
        torch.testing.assert_close(value, tensor, atol=1e-4, rtol=1e-3)
    (first, _), (second, _) = run(checkpoint)[0], run(loaded)[0]
    agree = [(a, b) for a, b in zip(first, second, strict=False) if (a.span, a.entity) == (b.span, b.entity)]
    assert len(agree) > 0.8 * len(first)
    assert all(a.mention_score == pytest.approx(b.mention_score, abs=0.05) for a, b in agree)


def test_the_files_of_a_folder(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "deep" / "model", make(), CARD)
    names = {file.name for file in (tmp_path / "deep" / "model").iterdir()}
    assert {"model.safetensors", "config.json", "README.md", "tokenizer.json", "tokenizer_config.json"} <= names
    assert not any(name.endswith(".part") for name in names)
    assert (tmp_path / "deep" / "model" / "README.md").read_text() == CARD


def test_saving_again_replaces_the_weights(tmp_path: Path) -> None:
    checkpoint = make()
    save_checkpoint(tmp_path, checkpoint, CARD)
    with torch.no_grad():
        next(checkpoint.model.spans.parameters()).add_(1)
    save_checkpoint(tmp_path, checkpoint, "another card")
    assert run(load_checkpoint(tmp_path)) == run(checkpoint)
    assert (tmp_path / "README.md").read_text() == "another card"


def encoder_named(name: str) -> dict[str, Any]:
    return {"name": name, "architecture": preset("tiny").encoder.architecture}


def paths_inside(folder: Path, path: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if str(path).encode() in file.read_bytes()]


def test_no_path_of_the_machine_is_saved(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "one", make(), CARD)
    save_checkpoint(tmp_path / "two", load_checkpoint(tmp_path / "one"), CARD)
    assert paths_inside(tmp_path / "one", tmp_path) == []
    assert paths_inside(tmp_path / "two", tmp_path) == []


def test_nor_that_of_the_folder_an_encoder_came_from(tmp_path: Path) -> None:
    build_encoder(toys.config(), pretrained=False).save_pretrained(tmp_path / "encoder")
    save_checkpoint(tmp_path / "model", make(encoder=encoder_named(str(tmp_path / "encoder"))), CARD)
    assert paths_inside(tmp_path / "model", tmp_path) == []


def test_the_hub_name_an_encoder_came_from_is_kept(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, make(encoder=encoder_named("owner/encoder")), CARD)
    assert json.loads((tmp_path / "config.json").read_text())["encoder"]["name"] == "owner/encoder"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    save_checkpoint(folder, make(), CARD)
    return folder


TENSOR = "pair_score.net.hidden.weight"


def without_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()


def tensors_changed(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        change(tensors)
        save_file(tensors, folder / "model.safetensors")

    return apply


def config_changed(place: str, value: Any) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        values = json.loads((folder / "config.json").read_text())
        values[place] = value
        (folder / "config.json").write_text(json.dumps(values))

    return apply


def without_some(tensors: dict[str, torch.Tensor]) -> None:
    for name in [name for name in tensors if name.startswith("encoder.")]:
        tensors.pop(name)


def other_tokenizer(folder: Path) -> None:
    for file in folder.glob("*token*"):
        file.unlink()
    for file in BUNDLED.glob("*token*"):
        shutil.copy(file, folder)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda f: (f / "config.json").unlink(), r"not a model folder: it has no config\.json"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), r"not a model folder: it has no model\.safetensors"),
    "no tokenizer": (without_tokenizer, "tokenizer of .*model"),
    "broken tokenizer": (lambda f: (f / "tokenizer.json").write_text("{"), r"tokenizer\.json is not valid JSON"),
    "another model's tokenizer": (other_tokenizer, r"its tokenizer has a piece 30521, but its encoder knows 400"),
    "broken JSON": (lambda f: (f / "config.json").write_text("{"), r"config\.json is not valid JSON: .*line 1"),
    "not text": (lambda f: (f / "config.json").write_bytes(b"\xff\xfe\x00"), r"config\.json is not valid JSON"),
    "not a table": (lambda f: (f / "config.json").write_text("[1]"), r"config\.json: .*dictionary"),
    "unknown key": (config_changed("colour", 1), r"config\.json: colour: unknown key"),
    "unknown part": (config_changed("update", {"name": "nope"}), r"config\.json: update: .*'nope'; known: alpha"),
    "cut off": (
        lambda f: (f / "model.safetensors").write_bytes((f / "model.safetensors").read_bytes()[:-10]),
        r"model\.safetensors is damaged",
    ),
    "not weights": (lambda f: (f / "model.safetensors").write_bytes(b"hello"), r"model\.safetensors is damaged"),
    "empty": (lambda f: (f / "model.safetensors").write_bytes(b""), r"model\.safetensors is damaged"),
    "missing tensor": (
        tensors_changed(lambda t: t.pop(TENSOR)),
        r"model\.safetensors misses tensors: pair_score\.net\.hidden\.weight$",
    ),
    "missing tensors": (tensors_changed(without_some), r"misses tensors: encoder\.model\..* and \d+ more$"),
    "unknown tensor": (
        tensors_changed(lambda t: t.update(colour=torch.zeros(1))),
        r"model\.safetensors has unknown tensors: colour$",
    ),
    "wrong shape": (
        tensors_changed(lambda t: t.update({TENSOR: t[TENSOR][:, :-3].contiguous()})),
        r"the tensor pair_score\.net\.hidden\.weight has shape \[32, 301\], .* needs \[32, 304\]$",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_a_folder_is_named(fault: str, saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(saved, folder)
    damage, said = FAULTS[fault]
    damage(folder)
    with pytest.raises(StreamcorefError, match=said) as caught:
        load_checkpoint(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize("name", ["nowhere", "./nowhere", "./a/b", "a/b/c", "/a/b", "../a"])
def test_a_missing_folder_is_not_looked_for_on_the_hub(name: str) -> None:
    with pytest.raises(StreamcorefError, match=rf"there is no model folder {name}, and a name on the hub has the form"):
        find_checkpoint(name)


def test_a_folder_is_itself(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_checkpoint(saved) == saved
    monkeypatch.chdir(saved.parent.parent)
    assert find_checkpoint(f"{saved.parent.name}/model") == Path(f"{saved.parent.name}/model")


# Prints what it finds; the environment says where the cache of the hub is, and that there is no network.
SCRIPT = """
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import find_checkpoint, load_checkpoint

print(find_checkpoint("owner/name"))
print(load_checkpoint("owner/name").config.kind)
try:
    find_checkpoint("owner/other")
except StreamcorefError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_hub_name_loads_from_the_local_cache(saved: Path, tmp_path: Path) -> None:
    revision = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "hub" / "models--owner--name"
    shutil.copytree(saved, repository / "snapshots" / revision)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(revision)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGINGFACE_", "TRANSFORMERS_"))}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**kept, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    folder, kind, error = done.stdout.splitlines()
    assert folder == str(repository / "snapshots" / revision)
    assert kind == "incremental"
    assert error.startswith("there is no model folder owner/other, and the hub did not give one: ")
