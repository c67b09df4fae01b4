"""results.json: cell by cell, whole after each, and never of two configs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamcoref.errors import InputError, StreamcorefError
from streamcoref.experiments.base import Cell
from streamcoref.experiments.results_file import ResultsFile, fingerprints, run_cells

HEAD: dict[str, Any] = {"experiment": "main", "config": {"models": [{"name": "a"}, {"name": "b"}], "seed": 1}}


class StoppedError(Exception):
    pass


def cells(done: list[str], stop_at: str = "") -> list[Cell]:
    def cell(name: str) -> Cell:
        def work(progress: Any) -> dict[str, Any]:
            if name == stop_at:
                raise StoppedError
            progress(1, 1)
            done.append(name)
            return {"figure": len(name)}

        return Cell(name, work, lambda: done.append(f"tidied {name}"))

    return [cell(name) for name in ("one", "two", "three")]


def silent(_: int, __: str) -> Any:
    return lambda _done, _of: None


def test_a_stopped_experiment_goes_on_where_it_was(tmp_path: Path) -> None:
    first: list[str] = []
    with pytest.raises(StoppedError):
        run_cells(cells(first, "two"), ResultsFile(tmp_path, HEAD), silent)
    assert first == ["one", "tidied one"]
    assert list(json.loads((tmp_path / "results.json").read_text())["cells"]) == ["one"]
    second: list[str] = []
    found = run_cells(cells(second), ResultsFile(tmp_path, HEAD), silent)
    assert second == ["tidied one", "two", "tidied two", "three", "tidied three"]
    assert {name: values["figure"] for name, values in found.items()} == {"one": 3, "two": 3, "three": 5}
    values = json.loads((tmp_path / "results.json").read_text())
    assert values.pop("cells") == found
    assert values == HEAD
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]  # nothing half written is left


def test_progress_counts_the_cells_that_were_there(tmp_path: Path) -> None:
    seen: list[tuple[int, str]] = []

    def report(number: int, key: str) -> Any:
        seen.append((number, key))
        return lambda _done, _of: None

    for _ in range(2):
        run_cells(cells([]), ResultsFile(tmp_path, HEAD), report)
    assert seen == [(0, "one"), (1, "two"), (2, "three")] * 2


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"experiment": "length"}, "experiment"),
        ({"config": {"models": [{"name": "a"}, {"name": "c"}], "seed": 1}}, "config.models.1.name"),
        ({"config": {"models": [{"name": "a"}], "seed": 1}}, "config.models"),
        ({"config": {"models": HEAD["config"]["models"]}}, "config.seed"),
        ({"files": {"x": "y"}}, "files"),
    ],
)
def test_another_config_is_refused_by_what_differs(tmp_path: Path, changes: dict[str, Any], place: str) -> None:
    ResultsFile(tmp_path, HEAD).add("one", {})
    before = (tmp_path / "results.json").read_bytes()
    with pytest.raises(InputError) as caught:
        ResultsFile(tmp_path, HEAD | changes)
    assert str(caught.value) == (
        f"{tmp_path}/results.json: these results were made with other values of {place}; "
        "choose another folder, or delete this file to start anew"
    )
    assert (tmp_path / "results.json").read_bytes() == before


def test_many_differences_are_counted(tmp_path: Path) -> None:
    ResultsFile(tmp_path, {"files": {str(n): "old" for n in range(9)}}).add("one", {})
    with pytest.raises(InputError, match=r"files\.0, files\.1, files\.2, files\.3, files\.4 and 4 more; choose"):
        ResultsFile(tmp_path, {"files": {str(n): "new" for n in range(9)}})


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"cells": 1'])
def test_another_file_of_that_name_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(InputError, match="these are not the results of an experiment; choose another folder"):
        ResultsFile(tmp_path, HEAD)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StreamcorefError, match=f"cannot make the folder {tmp_path}/file: File exists"):
        ResultsFile(tmp_path / "file", HEAD)


def test_fingerprints_tell_contents_apart(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("same")
    b.write_text("same")
    found = fingerprints([a, b])
    assert found[str(a)] == found[str(b)]
    b.write_text("other")
    assert fingerprints([b])[str(b)] != found[str(b)]
    with pytest.raises(InputError, match="gone: cannot be read: No such file or directory"):
        fingerprints([tmp_path / "gone"])
