"""Who says what, over HTTP: of a text at once, and of a book page by page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

from streamcoref.client import AsyncClient, Client
from streamcoref.store import Store
from tests.server.running import running
from tests.toy_resolver import resolver

TALK = (
    'Anna saw the captain. "I have lost the ship," said Anna. "Where is it, captain?"\n\n'
    '"It is in the harbour," the captain said. He left her.\n\n"No," she said.\n\n'
) * 4


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(tmp_path_factory.mktemp("data")) as server, Client(server.url) as client:
        yield client


def test_a_text_answers_with_its_quotations(client: Client) -> None:
    found = client.resolve(TALK).quotations
    assert found == resolver().resolve(TALK).quotations
    assert len(found) == 16
    assert client.resolve("Nobody speaks.").quotations == ()


def test_those_of_a_book_come_page_by_page(client: Client, tmp_path: Path) -> None:
    job = client.submit(TALK.encode(), name="talk.txt")
    job.wait()
    with Store.open(job.save_store(tmp_path / "talk.sqlite")) as store:
        whole = list(store.quotations())
    assert job.quotations() == whole
    assert len(whole) == 16
    assert job.quotations(offset=3, limit=2) == whole[3:5]
    third = whole[2]
    assert third.start is not None
    assert job.quotations(third.start + 1, third.start + 2) == [third]
    speaker = next(one.speaker for one in whole if one.speaker is not None)
    assert job.quotations(speaker=speaker) == [one for one in whole if one.speaker == speaker]
    assert job.quotations(speaker=10**6) == []

    async def asked() -> list[object]:
        async with AsyncClient(client.url) as other:
            return list(await (await other.job(job.id)).quotations(limit=4))

    assert asyncio.run(asked()) == whole[:4]
