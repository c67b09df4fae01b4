"""The command's version, its module, and what a shell completes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import streamcoref

COMMAND = Path(sys.executable).with_name("streamcoref")


def run(*command: str | Path, **environment: str) -> str:
    result = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    return result.stdout


def complete(words: str) -> list[str]:
    place = str(len(words.split(" ")) - 1)
    return run(COMMAND, _STREAMCOREF_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=place).split()


def test_version() -> None:
    said = f"streamcoref {streamcoref.__version__}\n"
    assert run(COMMAND, "--version") == said
    assert run(sys.executable, "-m", "streamcoref", "--version") == said


def test_the_module_is_the_command(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.txt")
    result = subprocess.run([sys.executable, "-m", "streamcoref", "resolve", missing], capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith("streamcoref: ")
    assert "no such file" in result.stderr


def test_a_shell_completes_commands_and_options() -> None:
    assert complete("streamcoref ent") == ["entities"]
    assert complete("streamcoref corpus ") == ["info", "convert"]
    assert {"--format", "--force"} <= set(complete("streamcoref resolve --fo"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell(shell: str) -> None:
    script = run(COMMAND, _STREAMCOREF_COMPLETE=f"source_{shell}")
    assert "_STREAMCOREF_COMPLETE" in script
    assert f"complete_{shell}" in script


def test_the_options_that_install_it() -> None:
    assert {"--install-completion", "--show-completion"} <= set(complete("streamcoref --"))
