"""The files around the package that others read by machine: the citation, the issue templates, what is named where."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import streamcoref

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


def test_citation() -> None:
    """What the schema of version 1.2.0 requires, with the values of this release."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert str(citation["version"]) == streamcoref.__version__
    assert citation["license"] == PROJECT["license"]
    for work in (citation, *citation["references"]):
        assert work["authors"]
        assert all("name" in author or {"family-names", "given-names"} <= set(author) for author in work["authors"])
    (paper,) = citation["references"]
    assert re.fullmatch(r"10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;\-.()\[\]]+", paper["doi"])


def test_security_names_a_way_to_report() -> None:
    assert "Report a vulnerability" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", [path for path in TEMPLATES if path.name != "config.yml"], ids=lambda path: path.name)
def test_issue_templates(path: Path) -> None:
    """The keys that forms need, and ids of their own."""
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    questions = [part for part in form["body"] if part["type"] != "markdown"]
    assert questions
    assert len({part["id"] for part in questions}) == len(questions)
    assert all(part["attributes"]["label"] for part in questions)
    assert any(part.get("validations", {}).get("required") for part in questions)


def test_there_are_issue_templates() -> None:
    assert len(TEMPLATES) >= 3


def test_commands_that_install_name_extras_that_there_are() -> None:
    extras = set(PROJECT["optional-dependencies"])
    named = {
        name
        for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "src").rglob("*.py")]
        for names in re.findall(r"streamcoref\[([a-z,]+)\]", path.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    assert {"plots", "spacy"} <= named <= extras


def test_only_one_python_is_named() -> None:
    """The one that all tests have run on; a newer one is named when they have."""
    versions = [name.rsplit(" ", 1)[1] for name in PROJECT["classifiers"] if "Python :: 3." in name]
    assert versions == ["3.11"]
