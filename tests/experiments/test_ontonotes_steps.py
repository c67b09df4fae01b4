"""docs/reproducing.md from the LDC release's CoNLL-2012 files to each table, on a small corpus of the same form."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamcoref.cli import app
from streamcoref.experiments.catalogue import EXPERIMENTS
from streamcoref.model.config import ModelConfig, parse_config, preset
from streamcoref.training import recipe
from streamcoref.training.recipe import overlay
from tests.conftest import ROOT
from tests.model import toys
from tests.training import synthetic

FIXTURE = Path(__file__).with_name("harbour.v4_gold_conll")  # our text, the form and the key of OntoNotes
SECTION = (ROOT / "docs/reproducing.md").read_text(encoding="utf-8").split("\n## On OntoNotes\n")[1]
FILES, STEPS = re.findall(r"^```(?:sh)?\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)
SHORT_RUNS = [part for n in (1, 2) for part in ("--set", f'models.{n}.settings=["training.epochs=1"]')]
# What makes the steps short enough for a test, and does without a download.
SHORTER = {
    "train": ["--set", "training.epochs=1"],
    "main": ["--set", "models.1.seeds=[1, 2]", "--set", "models.2.seeds=[1, 2]", *SHORT_RUNS],
    "segments": ["--set", 'settings=["training.epochs=1"]'],
    "ablation": ["--set", 'settings=["training.epochs=1"]', "--set", "seeds=[1]"],
    "eviction": ["--set", "tokenizer=encoder"],
}


def small(name: str) -> ModelConfig:
    """The preset `tiny` in the place of the paper's, with an encoder that reads as long a segment."""
    values = preset("tiny").model_dump(mode="json")
    changes = {"encoder": {"name": "encoder"}, "genres": list(preset(name).genres)}
    if name.startswith("baseline"):
        changes |= synthetic.BASELINE
    return parse_config(overlay(values, changes), name)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recipe, "preset", small)
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    for part in ("train", "development", "test"):
        folder = tmp_path / f"conll-2012/v4/data/{part}/data/english/annotations/bn/cnn/00"
        folder.mkdir(parents=True)
        shutil.copy(FIXTURE, folder / "cnn_0040.v4_gold_conll")
    long = toys.config(encoder={"architecture": _long_architecture()})
    toys.model(long, 0, spread=1.0).encoder.model.save_pretrained(tmp_path / "encoder")
    toys.tokenizer().tokenizer.save_pretrained(tmp_path / "encoder")
    return tmp_path


def _long_architecture() -> dict[str, object]:
    architecture = preset("tiny").encoder.architecture
    assert architecture is not None
    return architecture | {"max_position_embeddings": 512}


@pytest.mark.slow
def test_from_the_release_to_every_table(here: Path) -> None:
    for name in ("matplotlib", "plotly", "openTSNE"):
        pytest.importorskip(name)
    script, *commands = FILES.splitlines()
    assert script.startswith("bash conll-2012/v3/scripts/skeleton2conll.sh")  # the shared task's own, with the release
    subprocess.run(["bash", "-e"], input="\n".join(commands), text=True, check=True)
    done = []
    for line in STEPS.splitlines():
        program, command, *arguments = shlex.split(line)
        assert program == "streamcoref"
        shorter = SHORTER.get(arguments[0] if command == "experiment" else command, [])
        outcome = CliRunner().invoke(app, [command, *arguments, *shorter])
        assert outcome.exit_code == 0, (line, outcome.exception, outcome.output)
        if command == "corpus":
            assert len(re.findall(r"english\.v4_gold_conll\s+2\s", outcome.output)) == 3
        if command == "experiment":
            done.append(arguments[0])
            folder = here / "results" / f"ontonotes-{arguments[0]}"
            assert (folder / "results.json").is_file()
            assert "OntoNotes 5.0" in (folder / f"{arguments[0]}.md").read_text() or arguments[0] == "clusters"
            assert list(folder.glob("*.png"))
            assert list(folder.glob("*.html"))
    assert sorted(done) == sorted(EXPERIMENTS.keys() - {"books"})  # which needs novels
    page = (here / "results/ontonotes-main/main.md").read_text(encoding="utf-8")
    assert "| paper: incremental | 348 |" in page
    assert "bn/cnn/00/cnn_0040_0" in (here / "results/ontonotes-clusters/clusters.md").read_text(encoding="utf-8")
