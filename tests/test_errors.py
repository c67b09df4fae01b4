"""Errors: one sentence each, said for Python by the library and with flags by the command line alone."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamcoref
from streamcoref.errors import InputError, Remedy, StreamcorefError

PACKAGE = Path(streamcoref.__file__).parent
FLAG = re.compile(r"(?<![\w-])--[a-z]")


def test_an_error_says_what_was_wrong_and_what_to_do() -> None:
    error = StreamcorefError("out.csv: the file exists", Remedy.REPLACE)
    assert str(error) == "out.csv: the file exists; give force=True to replace it"
    assert (error.problem, error.remedy) == ("out.csv: the file exists", Remedy.REPLACE)
    assert str(StreamcorefError("nothing to do")) == "nothing to do"


@pytest.mark.parametrize(
    ("path", "line", "said"),
    [(None, None, "not text"), (Path("a.txt"), None, "a.txt: not text"), ("a.txt", 3, "a.txt:3: not text")],
)
def test_an_error_of_a_file_names_its_place(path: str | Path | None, line: int | None, said: str) -> None:
    error = InputError("not text", path, line, Remedy.UTF_16)
    assert str(error) == f"{said}; {Remedy.UTF_16.value}"
    assert error.problem == said
    assert (error.message, error.path, error.line, error.remedy) == ("not text", path, line, Remedy.UTF_16)


def test_an_error_comes_out_of_another_process_whole() -> None:
    error = pickle.loads(pickle.dumps(InputError("not text", "a.txt", 3, Remedy.UTF_16)))
    assert str(error) == f"a.txt:3: not text; {Remedy.UTF_16.value}"
    assert (error.problem, error.remedy, error.line) == ("a.txt:3: not text", Remedy.UTF_16, 3)


def library() -> Iterator[Path]:
    return (path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] != "cli")


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Every string of a file with its line: docstrings and the parts of f-strings too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_the_library_names_no_flags() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in library()
        for line, text in strings(path)
        if FLAG.search(text)
    ]
    assert not found, "\n".join(found)
