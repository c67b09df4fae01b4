"""The bundled model: what its card promises, and a wheel that needs nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import streamcoref
from streamcoref.model.checkpoint import BUNDLED, load_checkpoint

ROOT = Path(__file__).resolve().parent.parent
CORPORA = {"LitBank": "litbank/dev.ids", "OntoGUM": "ontogum/dev.ids"}


def promised() -> dict[str, float]:
    """The dev F1 of each corpus, from the card's first table."""
    lines = (BUNDLED / "README.md").read_text(encoding="utf-8").splitlines()
    header = next(line for line in lines if "LitBank dev" in line and line.startswith("|"))
    figures = next(line for line in lines if line.startswith("| incremental, with eviction"))
    names = [cell.split(" dev")[0].strip() for cell in header.split("|")[2:-1]]
    return dict(zip(names, (float(cell) for cell in figures.split("|")[2:-1]), strict=True))


@pytest.mark.model
@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("name", CORPORA)
def test_dev_figures_are_the_cards(name: str, shared: Path) -> None:
    from streamcoref.corpora import read_corpus
    from streamcoref.evaluation import EvaluationCorpus, evaluate

    documents = list(read_corpus(shared / "corpora" / CORPORA[name], None))
    result = evaluate(load_checkpoint("default"), [EvaluationCorpus(name.lower(), documents)])
    assert 100 * result.scores.conll_f1 >= promised()[name] - 0.2


@pytest.mark.model
def test_the_bundle_is_small_and_complete() -> None:
    files = {file.name for file in BUNDLED.iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "README.md"} <= files
    assert sum(file.stat().st_size for file in BUNDLED.iterdir()) <= 60e6
    _, config, _ = load_checkpoint("default")
    assert config.encoder.name is None or not Path(config.encoder.name).is_absolute()


@pytest.mark.model
@pytest.mark.slow
def test_a_wheel_resolves_text_with_no_repository_around(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    place = tmp_path / "installed"
    subprocess.run([*pip, "install", "--no-deps", "--target", place, wheel], check=True)
    code = (
        "import streamcoref; print(streamcoref.__file__); "
        "doc = streamcoref.load().resolve('Anna Weber lost her keys. She looked for them.'); "
        "print([[m.text for m in e.mentions] for e in doc.entities])"
    )
    environment = {**os.environ, "PYTHONPATH": str(place), "HF_HUB_OFFLINE": "1"}
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    where, answer = run.stdout.splitlines()
    assert Path(where).is_relative_to(place)  # not the repository's own
    assert re.search(r"'Anna Weber', 'her', 'She'", answer)


@pytest.mark.model
def test_a_short_text_loses_no_mentions() -> None:
    """The spans that are kept are a share of its words, and nearly all of these may be mentions."""
    found = streamcoref.load().resolve("Anna Weber wrote to her brother. She missed him.").entities
    assert [[mention.text for mention in entity.mentions] for entity in found] == [
        ["Anna Weber", "her", "She"],
        ["her brother", "him"],
    ]
