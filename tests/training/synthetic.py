"""Small corpora that can be learnt completely: an entity is a name, said again and again."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from streamcoref.document import Document
from streamcoref.formats import write_documents
from streamcoref.training import Recipe, TrainingRun
from tests.model import toys

NAMES = ["Anna", "Berta", "Carl", "Doyle", "Emma", "Frank"]
FILLERS = ["saw", "met", "left", "found", "and", "but", "when", "near", "under", "asked"]


def document(seed: int, sentences: int = 8) -> Document:
    choose = random.Random(seed)
    people = choose.sample(NAMES, 3)
    said: dict[str, list[tuple[int, int]]] = {name: [] for name in people}
    text: list[list[str]] = []
    count = 0
    for _ in range(sentences):
        sentence: list[str] = []
        for _ in range(choose.randint(1, 2)):
            name = choose.choice(people)
            said[name].append((count + len(sentence), count + len(sentence) + 1))
            sentence += [name, choose.choice(FILLERS)]
        sentence.append(".")
        text.append(sentence)
        count += len(sentence)
    return Document.from_sentences(f"toy/{seed}", text, [spans for spans in said.values() if len(spans) > 1])


def corpus(path: Path, documents: int = 6) -> Path:
    write_documents([document(seed) for seed in range(documents)], path, "jsonlines")
    return path


def encoder_folder(path: Path) -> Path:
    """A tiny random encoder with its tokenizer, as a Hugging Face folder."""
    model = toys.model(toys.config(), 0, spread=1.0)
    model.encoder.model.save_pretrained(path)
    toys.tokenizer().tokenizer.save_pretrained(path)
    return path


# What makes a baseline of the preset `tiny`.
BASELINE: dict[str, Any] = {
    "kind": "baseline",
    "pair_score": {
        "name": "coarse_to_fine",
        "hidden": 32,
        "shortlist": 20,
        "features": ["distance", "speaker", "segment"],
        "feature_size": 4,
    },
}


def recipe(folder: Path, documents: int = 6, **training: Any) -> dict[str, Any]:
    """The preset `tiny` on synthetic documents, trained and evaluated on the same ones; files are made in `folder`."""
    path = folder / f"toy{documents}.jsonl"
    if not path.exists():
        corpus(path, documents)
    if not (folder / "encoder").exists():
        encoder_folder(folder / "encoder")
    return {
        "model": {"preset": "tiny", "changes": {"encoder": {"name": str(folder / "encoder")}}},
        "corpora": [
            {"name": "toy", "path": str(path), "use": "train"},
            {"name": "toy", "path": str(path), "use": "dev"},
        ],
        "training": {"epochs": 30, "encoder_rate": 1e-3, "head_rate": 3e-3, "schedule": "constant", **training},
        "run": {"folder": str(folder / "run"), "threads": 1},
    }


def new_run(values: dict[str, Any], **changes: Any) -> TrainingRun:
    """A run of a recipe, some values of its table `run` changed."""
    return TrainingRun(Recipe.model_validate({**values, "run": {**values["run"], **changes}}))


def log(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's log."""
    return [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]


def write_recipe(path: Path, values: dict[str, Any]) -> Path:
    path.write_text("".join(f"{key} = {toml(value)}\n" for key, value in values.items()), encoding="utf-8")
    return path


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)
