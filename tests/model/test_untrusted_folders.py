"""Whatever a stranger's model folder says: one sentence, at once, and no memory spent on its word."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from streamcoref.errors import StreamcorefError
from streamcoref.model.encoder import pretrained_encoder
from tests import toy_resolver
from tests.model.untrusted_folders import CASES, size

ROOT = Path(__file__).resolve().parent.parent.parent
MEGABYTES = 100  # that a refusal may cost, at most
SECONDS = 20.0


@pytest.mark.slow
def test_what_is_wrong_is_said_before_memory_is_spent(tmp_path: Path) -> None:
    """In a process of its own: the most memory that this one ever had says nothing."""
    saved = toy_resolver.save_model(tmp_path / "saved")
    done = subprocess.run(
        [sys.executable, "-m", "tests.model.untrusted_folders", str(saved), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
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
