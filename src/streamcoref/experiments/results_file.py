"""results.json: what the cells of an experiment found, written whole after each, so that a killed one goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from streamcoref.errors import InputError, StreamcorefError
from streamcoref.experiments.base import Cell, Found, Progress, Values
from streamcoref.formats.files import open_output

RESULTS = "results.json"
_BLOCK = 1 << 20
_SHOWN = 5  # places in a message

# Gets the number of cells done, the key of the next one, and what that one's own progress should be told to.
Report = Callable[[int, str], Progress]


class ResultsFile:
    """The file of one experiment of one config in a folder; `found` is what it holds so far."""

    def __init__(self, folder: Path, head: Values) -> None:
        """`head` says which experiment it is: what is there already must have the same."""
        self.path = folder / RESULTS
        self.head: Values = json.loads(json.dumps(head))  # as it will be read again: tuples are lists there
        self.found: dict[str, Values] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StreamcorefError(f"cannot make the folder {folder}: {error.strerror}") from error
        if self.path.exists():
            self._load()

    def _load(self) -> None:
        try:
            values = json.loads(self.path.read_text(encoding="utf-8"))
            self.found = values.pop("cells")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError("these are not the results of an experiment; choose another folder", self.path) from error
        if values != self.head:
            places = _differences(values, self.head)
            more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
            raise InputError(
                f"these results were made with other values of {', '.join(places[:_SHOWN])}{more}; "
                "choose another folder, or delete this file to start anew",
                self.path,
            )

    def add(self, key: str, values: Values) -> None:
        self.found[key] = values
        with open_output(self.path, force=True) as stream:
            json.dump(self.head | {"cells": self.found}, stream, indent=1, allow_nan=False)
            stream.write("\n")


def run_cells(cells: Sequence[Cell], results: ResultsFile, report: Report) -> Found:
    """Compute what is not there yet, in order, each saved as soon as it is known."""
    for number, cell in enumerate(cells):
        progress = report(number, cell.key)
        if cell.key not in results.found:
            began = perf_counter()
            values = cell.work(progress)
            results.add(cell.key, values | {"seconds": round(perf_counter() - began, 3)})
        cell.tidy()
    return results.found


def fingerprints(paths: Iterable[Path]) -> dict[str, str]:
    """A hash of each file's content, so that a model or corpus that has changed under its name is noticed."""
    return {str(path): _hash(path) for path in paths}


def _hash(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from error
    return digest.hexdigest()


def _differences(old: Any, new: Any, place: str = "") -> list[str]:
    """The places where two values differ, by their keys."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = [name for name in (*old, *(n for n in new if n not in old)) if old.get(name) != new.get(name)]
        return [p for name in names for p in _differences(old.get(name), new.get(name), f"{place}.{name}".strip("."))]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(i, a, b) for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
        return [p for i, a, b in pairs for p in _differences(a, b, f"{place}.{i}")]
    return [place]
