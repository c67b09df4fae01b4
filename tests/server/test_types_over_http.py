"""Types of entities over HTTP, from a server whose model tells them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

from streamcoref import EntityFinished
from streamcoref.client import Client
from tests.server.running import STORY, running
from tests.toy_resolver import TYPES, typed_resolver

BOOK = STORY * 4


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(tmp_path_factory.mktemp("data"), resolver=typed_resolver()) as server, Client(server.url) as client:
        yield client


def test_a_text_a_stream_and_a_job_answer_alike(client: Client, tmp_path: Path) -> None:
    expected = [(entity.name, entity.type, entity.type_score) for entity in typed_resolver().resolve(BOOK).entities]
    assert {kind for _, kind, _ in expected} <= set(TYPES)
    assert [(one.name, one.type, one.type_score) for one in client.resolve(BOOK).entities] == expected

    stream = client.stream()
    events = stream.feed(BOOK) + stream.close()
    told = [event for event in events if isinstance(event, EntityFinished)]
    assert sorted((event.name, event.type, event.type_score) for event in told) == sorted(expected)

    (tmp_path / "book.txt").write_text(BOOK, encoding="utf-8")
    job = client.submit(tmp_path / "book.txt")
    job.wait()
    assert sorted((one.name, one.type, one.type_score) for one in job.entities(limit=1000)) == sorted(expected)
    kind = expected[0][1]
    found = job.entities(limit=1000, type=kind)
    assert found
    assert sorted((one.name, one.type, one.type_score) for one in found) == sorted(e for e in expected if e[1] == kind)
    assert job.entities(name="no such name", type=kind) == []
