"""The README's examples: each command is run, and what it prints is what the README shows."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def tidy(output: str) -> str:
    """Without blanks at line ends and empty lines around, which no reader sees."""
    return "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.model
def test_shell_examples(workplace: Path) -> None:
    shown = [step for block in blocks("console") for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert len(shown) >= 4
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"PATH": path}
    for step in shown:
        command, _, expected = step.partition("\n")
        result = subprocess.run(
            command,
            shell=True,
            cwd=workplace,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert tidy(result.stdout) == tidy(expected), command


@pytest.mark.model
def test_python_examples(workplace: Path) -> None:
    assert workplace
    (block,) = blocks("pycon")
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.summarize().failed == 0
    assert test.examples


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "formats.md"):
        for link in re.findall(r"\]\(([^)#:]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_format_is_described() -> None:
    from streamcoref.formats import FORMATS

    pages = README, (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    for name in FORMATS:
        assert all(f"`{name}`" in page for page in pages), name
