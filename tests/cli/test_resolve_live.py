"""`streamcoref resolve --live`: events while the text comes in."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from streamcoref.resolver import load
from tests.cli.toy_resolving import run, start, text

STORY = text(150)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("story.txt").write_text(STORY, encoding="utf-8", newline="")
    return tmp_path


@pytest.mark.slow
def test_live_events_come_while_the_text_flows(model: Path) -> None:
    process = start("resolve", "--live", "--format", "events", "--model", model, stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    cut = STORY.encode().index("é".encode(), 700) + 1  # in the middle of a character
    process.stdin.buffer.write(STORY.encode()[:cut])
    process.stdin.buffer.flush()
    first = json.loads(process.stdout.readline())  # comes though the input is still open: there was a pause
    assert first["event"] == "entity_started"
    process.stdin.buffer.write(STORY.encode()[cut:])
    process.stdin.close()
    rest, said = process.stdout.read(), process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert (process.wait(), said) == (0, "")
    events = [first, *map(json.loads, rest.splitlines())]
    mentions = [event["mention"] for event in events if "mention" in event]
    assert all(STORY[m["start"] : m["end"]] == m["text"] for m in mentions)
    assert max(m["start"] for m in mentions) > cut
    assert events[-1]["event"] == "entity_finished"


def test_live_lines_to_read(model: Path) -> None:
    lines = run(model, "story.txt", "--live").splitlines()
    expected = load(model).resolve(STORY)
    verbs = [line.split()[1] for line in lines]
    assert verbs.count("begins") == verbs.count("ends") == len(expected.entities)
    assert verbs.count("begins") + verbs.count("again") == sum(e.size for e in expected.entities)
    assert any(line.endswith("(2 mentions)") for line in lines)
