"""docs/evaluation.md: its options exist, its keys are printed, its Python runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from streamcoref.cli import app
from streamcoref.evaluation.report import to_dict
from streamcoref.evaluation.results import Evaluation
from streamcoref.formats import write_documents
from streamcoref.model.checkpoint import save_checkpoint
from tests.conftest import ROOT
from tests.evaluation import toy_evaluation as toy
from tests.evaluation.test_groups import result

TEXT = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the examples find what they name."""
    monkeypatch.chdir(tmp_path)
    save_checkpoint("my-model", toy.checkpoint(), "# A model of a test\n")
    save_checkpoint("my-baseline", toy.checkpoint("baseline"), "# A model of a test\n")
    for name in ("litbank", "ontogum"):
        Path(name).mkdir()
        write_documents([toy.document(1, 60, singletons=3)], Path(name, "one.jsonl"), "jsonlines")
        Path(name, "dev.ids").write_text("one\n")
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


def test_the_python_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for code in (block for language, block in BLOCKS if language == "python"):
        exec(compile(code, "docs/evaluation.md", "exec"), {"work": lambda: None})
    assert "### Scores" in capsys.readouterr().out
    assert here.is_dir()


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
