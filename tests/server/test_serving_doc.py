"""docs/serving.md says what is true: its routes, its defaults, its example."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

from streamcoref.cli.serve import serve
from streamcoref.server import Limits, ServerSettings
from tests.server.running import STORY, running

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")


def test_every_route_is_on_the_page(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        paths = client.get("/openapi.json").json()["paths"]
    assert len(paths) > 20
    for path in paths:
        last = re.sub(r"\{(stream|job)\}", "{id}", path)
        assert last in PAGE or f"…/{last.split('{id}/')[-1]}" in PAGE, path


def test_the_command_the_page_and_the_library_have_the_same_defaults(tmp_path: Path) -> None:
    given = {name: parameter.default for name, parameter in inspect.signature(serve).parameters.items()}
    limits, settings = Limits(), ServerSettings(data=tmp_path)
    assert (given["max_body"] << 20, given["max_file"] << 20) == (limits.body_bytes, limits.file_bytes)
    assert (given["max_text"], given["max_streams"]) == (limits.text_characters, limits.streams_per_key)
    assert (given["in_memory"], given["queue"]) == (limits.streams_in_memory, limits.queue)
    assert given["connections"] == limits.connections
    assert given["timeout"] == limits.request_seconds
    assert (given["host"], given["port"]) == (settings.host, settings.port)
    assert (given["workers"], given["jobs"]) == (settings.workers, settings.jobs_at_once)
    for option in ("max_body", "max_text", "max_file", "max_streams", "queue", "connections", "timeout"):
        row = re.search(rf"^\| `--{option.replace('_', '-')}`[^|]*\| ([\d,]+) \|", PAGE, re.MULTILINE)
        assert row is not None, option
        assert int(row.group(1).replace(",", "")) == given[option]
    assert f"| {limits.jobs_per_key} | 429" in PAGE
    assert f"{limits.frames_behind} answers behind" in PAGE
    assert f"nothing for {limits.stall_seconds:g} seconds" in PAGE


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "book.txt").write_text(STORY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    with running(tmp_path / "data") as server:
        exec(code.replace("http://127.0.0.1:8000", server.url), {})
    assert f"{len(STORY)} {len(STORY)}\n" in capsys.readouterr().out
