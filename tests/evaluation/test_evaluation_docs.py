"""docs/evaluation.md: its options exist, its keys are printed, its Python says what its commands say."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from typer.main import get_command
from typer.testing import CliRunner

from streamcoref.cli import app
from streamcoref.evaluation import Evaluation, to_dict
from streamcoref.evaluation.gold import SINGLETON_SHARE
from streamcoref.evaluation.groups import LENGTHS, GroupKind
from streamcoref.formats import write_documents
from streamcoref.metrics import score_document
from streamcoref.model.checkpoint import save_checkpoint
from tests.conftest import ROOT
from tests.evaluation import toy_evaluation as toy
from tests.evaluation.test_groups import result

TEXT = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", TEXT, re.DOTALL)


GOLD = replace(toy.document(1, 60, singletons=3), key="one")
UNPRINTED = ("Singletons", "Types")  # the second only of models that tell types, as in test_types_of_entities.py


def table_places(first: int, end: int) -> list[str]:
    """Sentence and word of the first and the last word of a mention, as LitBank counts them."""
    starts = (0, *GOLD.sentence_ends)
    sentences = [GOLD.sentence_of_word[word] for word in (first, end - 1)]
    return [str(n) for s, w in zip(sentences, (first, end - 1), strict=True) for n in (s, w - starts[s])]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the examples find what they name."""
    monkeypatch.chdir(tmp_path)
    save_checkpoint("my-model", toy.checkpoint(), "# A model of a test\n")
    save_checkpoint("my-baseline", toy.checkpoint("baseline"), "# A model of a test\n")
    for name in ("litbank", "ontogum"):
        (Path(name) / "conll").mkdir(parents=True)
        write_documents([GOLD], Path(name, "conll", "one.jsonl"), "jsonlines")
        Path(name, "dev.ids").write_text("one\n")
    (first, last), *_ = GOLD.clusters[0]
    Path("litbank", "tsv").mkdir()
    table = "\t".join(["MENTION", "T0", *table_places(first, last), " ".join(GOLD.words[first:last]), "PER", "NOM"])
    Path("litbank", "tsv", "one.tsv").write_text(f"{table}\n", encoding="utf-8")
    write_documents([toy.document(2, 60)], Path("dev.english.v4_gold_conll"), "jsonlines")
    return tmp_path


def test_the_commands_run(here: Path) -> None:
    lines = next(block for language, block in BLOCKS if not language).splitlines()
    for line in lines:
        program, *arguments = shlex.split(line, comments=True)
        assert program == "streamcoref"
        outcome = CliRunner().invoke(app, arguments)
        assert outcome.exit_code == 0, (line, outcome.exception)
    assert (here / "answers.jsonl").is_file()


@pytest.mark.usefixtures("here")
def test_the_python_says_what_the_command_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The page's blocks, one after the other as in one session, next to `evaluate --json` and to scoring by hand."""
    names: dict[str, Any] = {"work": lambda: torch.zeros(1_000_000).sum()}
    for code in (block for language, block in BLOCKS if language == "python"):
        exec(compile(code, "docs/evaluation.md", "exec"), names)
    printed = capsys.readouterr().out
    outcome = CliRunner().invoke(app, ["evaluate", "my-model", "litbank/dev.ids", "--json"])
    told = json.loads(outcome.stdout)

    found, best = names["found"], names["best"]
    assert to_dict(found)["groups"] == told["groups"]
    assert found.peak_entities == told["model"]["peak_entities"] > 0
    assert found.peak_bytes > 0
    assert [document.pieces for document in found.documents] == [d["pieces"] for d in told["model"]["documents"]]
    assert [line for line in printed.splitlines() if line.startswith("###")] == [
        f"### {title}" for title in re.findall(r"^\*\*([A-Z][\w 1]+)\*\*", TEXT, re.MULTILINE) if title not in UNPRINTED
    ]
    assert f"| all | 1 | {100 * found.scores.conll_f1:.2f} |" in printed

    assert (best.document.key, best.document.clusters) == (GOLD.key, GOLD.clusters)
    assert best.result.scores == score_document(GOLD.clusters, best.document.predicted_clusters) == found.scores
    assert 0 < best.result.scores.conll_f1 < 1
    assert 4_000_000 <= names["peak"].bytes < 5_000_000


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    rows = {f"{low}+" if high is None else f"{low}-{high}" for low, high in LENGTHS}
    assert rows - set(re.findall(r"\d+-\d+|\d+\+", TEXT)) <= {"129-256", "257-512", "513-768"}, "those left out by …"
    assert f"at least {SINGLETON_SHARE:.0%} of its gold" in " ".join(TEXT.split())
    assert set(re.findall(r"`(\w+)`", re.search(r"`kind` \(([^)]*)\)", TEXT)[1])) == set(get_args(GroupKind))  # type: ignore[index]


def test_its_imports_are_public() -> None:
    for module, imported in re.findall(r"^from (streamcoref[\w.]*) import (.*)$", TEXT, re.MULTILINE):
        public = import_module(module).__all__
        assert set(imported.split(", ")) <= set(public), module


def test_options_and_keys_are_those_there_are() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    known = {
        option
        for name in ("evaluate", "score")
        for parameter in commands[name].params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", TEXT)) <= known
    found = to_dict(Evaluation([], [result()]), Evaluation([], [result()]))
    for key in (*found, *found["groups"][0], *found["model"]):
        assert f"`{key}`" in TEXT
