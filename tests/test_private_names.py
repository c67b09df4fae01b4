"""Tests hold on to what is public, so that what is behind it may change: none reaches for a private name of ours."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import streamcoref

TESTS = Path(__file__).resolve().parent
OTHERS = [path for folder in ("benchmarks", "examples") for path in (TESTS.parent / folder).rglob("*.py")]
PACKAGE = Path(streamcoref.__file__).parent
_PRIVATE = re.compile(r"_[A-Za-z]\w*(?<!_)")  # _repr_html_ and the like are called by others


def trees(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


@cache
def private_names() -> set[str]:
    """Functions, classes, values and attributes of the package that begin with `_`; its modules may be imported."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in trees(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                found.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    modules = {path.stem for path in PACKAGE.rglob("_*.py")}
    return {name for name in found - modules if _PRIVATE.fullmatch(name)}


def reached(path: Path, private: set[str]) -> list[str]:
    """What a file takes of another module, of an object that is not its own, or names to patch it."""
    found = []
    for node in trees(path):
        names: list[str] = []
        if isinstance(node, ast.Attribute) and not (
            isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        ):
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("streamcoref"):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            if called in ("setattr", "getattr", "delattr"):
                texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                names = [text.rpartition(".")[2] for text in texts]
        found += [f"{path.name}:{node.lineno}: {name}" for name in names if name in private]
    return found


def test_nothing_reaches_for_a_private_name() -> None:
    private = private_names()
    assert len(private) > 300
    assert [place for path in [*TESTS.rglob("*.py"), *OTHERS] for place in reached(path, private)] == []


@pytest.mark.parametrize(
    "source",
    [
        "model._window.clear()",
        "from streamcoref.text.decoding import TextDecoder, _wide",
        'monkeypatch.setattr(decoding, "_wide", None)',
        'monkeypatch.setattr("streamcoref.text.decoding._wide", None)',
    ],
)
def test_each_way_to_reach_is_seen(source: str, tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(source, encoding="utf-8")
    assert len(reached(path, private_names())) == 1
