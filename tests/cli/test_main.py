"""What holds for all commands: the version, what a message looks like, how a command is ended, that docs name each."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer.main

import streamcoref
from streamcoref.cli import app
from tests.cli.toy_resolving import invoke, run, text

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
COMMAND = [sys.executable, "-c", "from streamcoref.cli import main; main()"]


def commands() -> list[str]:
    """Every command with those below it, as a user writes it."""
    group: Any = typer.main.get_command(app)
    return [
        f"streamcoref {name} {below}".strip()
        for name, command in group.commands.items()
        for below in getattr(command, "commands", [""])
    ]


def test_the_version() -> None:
    assert invoke("--version").stdout == f"streamcoref {streamcoref.__version__}\n"


def test_the_page_names_every_command() -> None:
    assert len(commands()) > 8
    assert [command for command in commands() if not re.search(rf"{command}\b", PAGE)] == []


def test_the_page_names_no_other_command() -> None:
    named = set(re.findall(r"`streamcoref ([a-z]+)", PAGE))
    assert named <= {command.split()[1] for command in commands()}


def test_names_of_files_are_no_commands_to_a_terminal(tmp_path: Path, model: Path) -> None:
    """Whether they are named by a message or by what was done."""
    name = "a\x1b[31mb\nc\u202ed"
    shown = r"a\x1b[31mb\nc\u202ed"
    assert run(model, tmp_path / f"{name}.txt", status=2).endswith(f"{shown}.txt: no such file or folder\n")
    story = tmp_path / f"{name}.txt"
    story.write_text("Anna saw the ship. Anna left.")
    result = invoke("resolve", "--model", model, story, "-o", tmp_path / f"{name}.sqlite")
    assert f"{shown}.sqlite: complete: 8 words" in result.stderr
    listed = invoke("entities", tmp_path / f"{name}.sqlite").stdout
    assert listed.split(":")[0].endswith(f"{shown}.txt")
    result = invoke("corpus", "convert", story, tmp_path / f"{name}.jsonl", "--from", "text")
    assert f"{shown}.jsonl: 1 document as jsonlines" in result.stderr
    assert invoke("corpus", "info", tmp_path / f"{name}.jsonl").stdout.count(f"{shown}.jsonl") == 1


def test_a_link_that_leads_nowhere_is_reported(tmp_path: Path, model: Path) -> None:
    (tmp_path / "a.txt").write_text("Anna saw the ship.")
    (tmp_path / "b.txt").symlink_to(tmp_path / "gone.txt")
    (tmp_path / "chapters").symlink_to(tmp_path / "gone")
    (tmp_path / "notes.log").symlink_to(tmp_path / "gone.log")  # no text, whether it is there or not
    result = invoke("resolve", "--model", model, tmp_path)
    assert result.exit_code == 1
    assert "b.txt: this is a link to a file that is not there" in result.stderr
    assert "chapters: this is a link to a file that is not there" in result.stderr
    assert "notes.log" not in result.stderr
    assert result.stdout.startswith("a: 5 words")
    assert "b.txt: this is a link to a file that is not there" in invoke("corpus", "info", tmp_path).stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM")
def test_sigterm_leaves_no_half_written_file(tmp_path: Path) -> None:
    """A corpus that never ends, so that the file is being written whenever the signal comes."""
    command = [*COMMAND, "corpus", "convert", "-", str(tmp_path / "out.jsonl"), "--from", "jsonlines"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.iterdir()):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.stdin is not None
    assert list(tmp_path.iterdir()) == []


def test_csv_for_spreadsheets(tmp_path: Path, model: Path) -> None:
    corpus = tmp_path / "=corpus.jsonl"
    words = text(150).split()
    record = {"doc_key": "=1+1", "sentences": [words[a : a + 15] for a in range(0, len(words), 15)]}
    corpus.write_text(json.dumps({**record, "clusters": [[[0, 0]]]}))
    assert invoke("corpus", "convert", corpus, tmp_path / "a.csv", "--defuse").exit_code == 0
    assert (tmp_path / "a.csv").read_text().splitlines()[1].startswith("'=1+1,")
    result = invoke("resolve", "--model", model, "--singletons", corpus, "--format", "csv", "--defuse")
    assert all(line.startswith("'=1+1,") for line in result.stdout.splitlines()[1:])
    plain = invoke("resolve", "--model", model, "--singletons", corpus, "--format", "csv")
    assert plain.stdout.splitlines()[1].startswith("=1+1,")
    assert plain.stdout.count("\n") == result.stdout.count("\n") > 5
    said = run(model, corpus, "--format", "json", "--defuse", status=2)
    assert (
        said == "streamcoref: --defuse is for csv and quotations, whose cells spreadsheets may run, and not for json\n"
    )
