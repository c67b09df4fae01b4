"""Small models, corpora and configs for tests of experiments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamcoref.document import Document
from streamcoref.experiments.run import run_experiment
from streamcoref.formats import write_documents
from streamcoref.model.checkpoint import save_checkpoint
from tests.evaluation import toy_evaluation as toy
from tests.training import synthetic

DOCUMENTS = [
    toy.document(1, 80, speakers=tuple("abcd" * 20)),
    toy.document(2, 40),
    toy.document(3, 400),
]
OTHERS = [toy.document(4, 60, singletons=5), toy.document(5, 100, singletons=8)]


def models(folder: Path) -> None:
    for kind in ("incremental", "baseline"):
        save_checkpoint(folder / kind, toy.checkpoint(kind), "# A model of a test\n")


def corpora(folder: Path) -> None:
    write_documents(DOCUMENTS, folder / "plain.jsonl", "jsonlines")
    write_documents(OTHERS, folder / "litbank.jsonl", "jsonlines")


def comparison(folder: Path) -> dict[str, Any]:
    """The config of `main` and `length` for what the other functions wrote."""
    return {
        "baseline": "baseline",
        "models": [
            {"name": "baseline", "path": str(folder / "baseline"), "paper": "JS-L"},
            {"name": "incremental", "path": str(folder / "incremental"), "paper": "ours"},
            {
                "name": "all stay",
                "path": str(folder / "incremental"),
                "evict": "none",
                "paper": "ours without eviction",
            },
        ],
        "corpora": [{"name": name, "path": str(folder / f"{name}.jsonl")} for name in ("plain", "litbank")],
    }


def write_config(path: Path, values: dict[str, Any]) -> Path:
    return synthetic.write_recipe(path, values)


def run(name: str, config: dict[str, Any], folder: Path, settings: Iterable[str] = ()) -> list[Path]:
    """Run an experiment with the config in the folder `folder`, without a progress bar."""
    folder.mkdir(parents=True, exist_ok=True)
    path = write_config(folder / "config.toml", config)

    def begin(_: int) -> Any:
        return lambda _number, _key: lambda _done, _of: None

    return run_experiment(name, path, folder / "out", list(settings), begin)


def table(page: str, title: str) -> list[list[str]]:
    """The rows of a Markdown table, its header first."""
    lines = page.split(f"### {title}\n\n")[1].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [rows[0], *rows[2:]]


def long_document(mentions: Iterable[tuple[int, int]], words: int, sentence: int = 10) -> Document:
    """One-word mentions (word, cluster) in a text of that many words."""
    clusters: dict[int, list[tuple[int, int]]] = {}
    for word, cluster in mentions:
        clusters.setdefault(cluster, []).append((word, word + 1))
    sentences = [["saw"] * min(sentence, words - start) for start in range(0, words, sentence)]
    return Document.from_sentences("long", sentences, clusters.values())
