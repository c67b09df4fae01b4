"""The clients against a real server: what the library says, also when the server is killed in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra client is not installed")

from streamcoref import ReadingProgress, Store
from streamcoref.client import AsyncClient, Client, ServerError, StreamStatus
from streamcoref.client.unsafe_calls import pause
from streamcoref.server.keys import Keys
from streamcoref.server.limits import Limits
from tests import toy_resolver
from tests.server.running import STORY, Command, Running, running

KEY = "a-key-for-the-clients"
TURNS: list[tuple[str | None, str]] = [("Anna", "I saw the captain. He left."), (None, "the old ship")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("data"), keys=Keys([KEY])) as server:
        yield server


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    with Client(server.url, KEY, patience=0.0) as client:
        yield client


def expected_events(*texts: str) -> list[Any]:
    stream = toy_resolver.resolver().stream()
    return [event for text in texts for event in stream.feed(text)] + stream.close()


def test_texts(client: Client) -> None:
    resolver = toy_resolver.resolver()
    document = resolver.resolve(STORY * 3, key="a", singletons=True)
    found = client.resolve(STORY * 3, key="a", options={"singletons": True})
    assert (found.key, found.text, found.entities) == (document.key, document.text, document.entities)
    assert (found.words, found.sentences) == (len(document.words), len(document.sentence_ends))
    assert client.resolve(turns=TURNS).entities == resolver.resolve(turns=TURNS).entities
    many = client.resolve_many([STORY, {"turns": TURNS, "key": "b"}], singletons=True)
    assert [one.entities for one in many] == [
        resolver.resolve(STORY, singletons=True).entities,
        resolver.resolve(turns=TURNS, singletons=True).entities,
    ]
    records = list(client.events(STORY * 3))
    assert isinstance(records[0], ReadingProgress)
    assert [one for one in records if not isinstance(one, ReadingProgress)] == expected_events(STORY * 3)
    assert client.split(STORY).words == resolver.resolve(STORY).words


def test_a_client_waits_no_longer_than_it_is_patient() -> None:
    until = time.monotonic() + 1.0
    for error in (None, ServerError("busy", 429, 3600.0), ServerError("busy", 503)):
        assert 0.0 < pause(error, 20, until) <= 1.0
    assert pause(ServerError("busy", 429, 0.25), 20, until) == 0.25
    assert pause(None, 0, until - 10) == 0.0


def test_a_stream(client: Client) -> None:
    stream = client.stream(min_score=0.05)
    local = toy_resolver.resolver().stream(min_score=0.05)
    assert stream.feed(STORY, "Anna") == local.feed(STORY, "Anna")
    assert stream.feed("He left", end_turn=True) == local.feed("He left") + local.end_turn()
    assert stream.feed_words([["She", "left"]], ["Ben"]) == local.feed_words([["She", "left"]], ["Ben"])
    assert stream.flush() == local.flush()
    assert stream.status.position == stream.status.safe_position == local.position
    assert stream.entities() == local.entities()
    copy = toy_resolver.resolver().stream(local.state())
    assert stream.preview(STORY, "Anna") == copy.feed(STORY, "Anna") + copy.flush()
    other = client.stream(stream.state())
    assert [one.id for one in client.streams(limit=1000)][-2:] == [stream.id, other.id]
    assert client.streams(limit=1000)[-2].status == client.open_stream(stream.id).status
    assert client.open_stream(stream.id).close() == other.close() == local.close()
    with pytest.raises(ServerError, match="closed") as refused:
        other.feed("more")
    assert refused.value.status == 409
    other.remove()
    with pytest.raises(ServerError, match="no such stream"):
        client.open_stream(other.id)


def test_a_live_stream(client: Client) -> None:
    stream = client.stream()
    with stream.live() as live:
        live.feed(STORY, "Anna")
        live.flush()
        live.close()
        records = list(live)
    local = toy_resolver.resolver().stream()
    events = local.feed(STORY, "Anna") + local.flush() + local.close()
    assert [one for one in records if not isinstance(one, StreamStatus)] == events
    told = [one for one in records if isinstance(one, StreamStatus)]
    assert [one.closed for one in told] == [False, False, True]
    with client.stream().live() as live:
        live.feed("x" * (Limits().text_characters + 1))
        with pytest.raises(ServerError, match="2,000,000 are allowed at once, so send parts"):
            next(iter(live))


def test_a_job(client: Client, tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text(STORY * 4, encoding="utf-8", newline="")
    job = client.submit(book, singletons=True)
    assert [status.state for status in job.progress()][-1] == "done"
    assert job.wait().name == "book.txt"
    document = toy_resolver.resolver().resolve(STORY * 4, singletons=True)
    entities = job.entities(limit=1000)
    assert sorted(tuple(job.mentions(entity.id)) for entity in entities) == sorted(
        entity.mentions for entity in document.entities
    )
    assert job.entities(name=entities[0].name)[0].name == entities[0].name
    assert job.text(3, 9) == (STORY * 4)[3:9]
    assert (job.document().words, job.document().text) == (document.words, document.text)
    around = [m for _, m in job.mentions_between(10, 60)]
    assert sorted(around) == sorted(m for e in document.entities for m in e.mentions if m.start < 60 and m.end > 10)  # type: ignore[operator]
    with Store.open(job.save_store(tmp_path / "book.sqlite")) as store:
        assert store.counts()[0] == len(entities)
    assert job.id in [one.id for one in client.jobs()]
    assert client.job(job.id).end() == "removed"
    broken = client.submit(b"\xff\xfe\xff", name="bad.txt")
    with pytest.raises(ServerError, match=r"bad\.txt"):
        broken.wait()


def test_refusals_are_errors(server: Running, client: Client) -> None:
    with pytest.raises(ServerError, match="there is no option 'speed'") as wrong:
        client.resolve("a", options={"speed": 1})
    assert wrong.value.status == 400
    with (
        Client(server.url, "not-the-right-key", patience=0.0) as other,
        pytest.raises(ServerError, match="no such key"),
    ):
        other.jobs()
    with Client("http://127.0.0.1:9", patience=0.0) as nobody, pytest.raises(ServerError, match="cannot be reached"):
        nobody.jobs()


def test_the_same_to_be_awaited(server: Running, tmp_path: Path) -> None:
    async def everything() -> None:
        resolver = toy_resolver.resolver()
        async with AsyncClient(server.url, KEY, patience=0.0) as client:
            texts = [STORY, STORY * 2]
            found = await asyncio.gather(*(client.resolve(text) for text in texts))
            assert [one.entities for one in found] == [resolver.resolve(text).entities for text in texts]
            assert [one.entities for one in await client.resolve_many(texts)] == [one.entities for one in found]
            assert (await client.split(STORY)).words == resolver.resolve(STORY).words
            records = [one async for one in client.events(STORY)]
            assert [one for one in records if not isinstance(one, ReadingProgress)] == expected_events(STORY)
            stream, local = await client.stream(), resolver.stream()
            assert await stream.feed(STORY) == local.feed(STORY)
            assert await stream.feed_words([["He", "left"]]) == local.feed_words([["He", "left"]])
            assert await stream.flush() == local.flush()
            assert await stream.entities() == local.entities()
            copy = resolver.stream(local.state())
            assert await stream.preview(STORY) == copy.feed(STORY) + copy.flush()
            other = await client.stream(await stream.state())
            async with other.live() as live:
                await live.feed("He left.")
                await live.flush()
                await live.close()
                heard = [one async for one in live if not isinstance(one, StreamStatus)]
            assert await stream.feed("He left.") + await stream.flush() + await stream.close() == heard
            await (await client.open_stream(stream.id)).remove()
            book = tmp_path / "book.txt"
            book.write_text(STORY, encoding="utf-8")
            job = await client.submit(book)
            assert (await job.wait()).state == "done"
            entities = await job.entities()
            assert len(entities) == len(resolver.resolve(STORY).entities)
            assert len(await job.mentions(entities[0].id)) == entities[0].size
            assert await job.mentions_between(0, len(STORY))
            assert await job.text(0, 4) == STORY[:4]
            assert (await job.save_store(tmp_path / "book.sqlite")).stat().st_size > 0
            assert job.id in [one.id for one in await client.jobs()]
            assert await (await client.job(job.id)).end() == "removed"
            with pytest.raises(ServerError, match="no such job"):
                await client.job(job.id)

    asyncio.run(everything())


@pytest.mark.slow
def test_a_server_that_is_killed_is_not_noticed(tmp_path: Path) -> None:
    """Fed again is what it has lost; the events are those of a stream that nobody has disturbed."""
    model = toy_resolver.save_model(tmp_path / "model")
    text = toy_resolver.plain_text(4, 200)
    parts = [text[first : first + 40] for first in range(0, len(text), 40)]
    server = Command(model, tmp_path / "data")
    port = server.url.rsplit(":", 1)[1]
    found: list[Any] = []
    killed = False
    with Client(server.url) as client:
        stream = client.stream()
        for number, part in enumerate(parts):
            if number >= 7 and stream.status.safe_calls < number and not killed:
                server.kill()
                server = Command(model, tmp_path / "data", "--port", port)
                killed = True
            found += stream.feed(part)
        found += stream.close()
        assert stream.status.calls == len(parts) + 1
    assert killed, "with something that was not saved"
    assert server.terminate() == 0
    assert found == expected_events(*parts)
