"""Whatever a stranger's model folder says: one sentence, at once, and no memory spent on its word."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from streamcoref.errors import StreamcorefError
from streamcoref.model.encoder import pretrained_encoder
from streamcoref.resolver import load
from tests import toy_resolver
from tests.model.untrusted_folders import CASES, size
from tests.mutations import mutated
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parent.parent.parent
MEGABYTES = 100  # that a refusal may cost, at most
CHANGES = 400
SECONDS = 20.0  # of the CPU


@pytest.mark.slow
def test_what_is_wrong_is_said_before_memory_is_spent(tmp_path: Path) -> None:
    """In a process of its own: the most memory that this one ever had says nothing."""
    saved = toy_resolver.save_model(tmp_path / "saved")
    done = subprocess.run(
        [sys.executable, "-m", "tests.model.untrusted_folders", str(saved), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = {result["case"]: result for result in map(json.loads, done.stdout.splitlines())}
    assert results.keys() == CASES.keys()
    for name, result in results.items():
        assert result["raised"] == "StreamcorefError", result
        assert CASES[name][1] in result["said"], result
        assert result["folder"] in result["said"], result
        assert "\n" not in result["said"], result
        assert result["grown"] < MEGABYTES, result
        assert result["seconds"] < SECONDS, result


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("num_hidden_layers", 3000, "needs more than 20000 tensors"),
        ("num_hidden_layers", 1 << 40, "num_hidden_layers is"),
        ("vocab_size", 5_000_000, r"its config\.json needs \d+ numbers, but its weights have \d+ bytes only"),
        ("num_labels", 1 << 31, "num_labels is"),
        ("hidden_size", 0, "hidden_size is 0"),
        ("hidden_size", "wide", "hidden_size is 'wide'"),
        ("hidden_act", ["gelu"], "hidden_act"),
    ],
)
def test_an_encoder_is_compared_with_its_weights_too(key: str, value: object, said: str, tmp_path: Path) -> None:
    """transformers would make up whatever is missing."""
    folder = toy_resolver.save_model(tmp_path / "encoder")
    size(key, value)(folder)
    architecture = json.loads((folder / "config.json").read_text())["encoder"]["architecture"]
    (folder / "config.json").write_text(json.dumps(architecture))
    with pytest.raises(StreamcorefError, match=f"cannot load the encoder '{folder}': .*{said}"):
        pretrained_encoder(str(folder))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of other libraries, about values that they take
def test_whatever_is_changed_in_a_folder(tmp_path: Path) -> None:
    """Values of its files replaced, dropped, doubled: it is loaded and reads a text, or a sentence says why not."""
    good = toy_resolver.save_model(tmp_path / "good")
    folder = shutil.copytree(good, tmp_path / "changed")
    choose = random.Random(4)
    outcomes = {"read": 0, "refused": 0, "refused at length": 0}
    for _ in range(CHANGES):
        name = choose.choice(("config.json", "config.json", "tokenizer.json", "tokenizer_config.json"))
        (folder / name).write_text(json.dumps(mutated(choose, json.loads((good / name).read_text()))))
        try:
            load(folder).resolve("Anna met her brother, and she 👍 it é.", singletons=True)
            outcomes["read"] += 1
        except StreamcorefError as error:
            outcomes["refused" if "\n" not in str(error) else "refused at length"] += 1
        shutil.copy(good / name, folder / name)
    assert not outcomes.pop("refused at length")
    assert min(outcomes.values()) > CHANGES / 20, outcomes
