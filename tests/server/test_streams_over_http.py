"""Streams of a real server: in order, the same whoever else is there, safe on disk, in memory only while used."""

from __future__ import annotations

import base64
import json
import random
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

import httpx

from streamcoref.formats.event_lines import json_line
from streamcoref.server.database import ServerDatabase
from streamcoref.server.streams import FORGET
from streamcoref.stream import Stream
from tests import toy_resolver
from tests.server.running import PATIENCE, STORY, running

Events = list[dict[str, Any]]
# A stream is saved only when somebody says so, however long a test takes.
UNSAVED = {"save_seconds": 3600, "idle_seconds": 3600}


def create(client: httpx.Client, **body: Any) -> str:
    answer = client.post("/v1/streams", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def call(client: httpx.Client, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/streams/{path}", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def plain(events: Events) -> Events:
    """Without the key of the document, which is the stream's id."""
    return [{name: value for name, value in event.items() if name != "document"} for event in events]


def alone(chunks: list[tuple[str, str | None]]) -> Events:
    """What the library says of the same chunks; None ends a turn with a flush."""
    stream = toy_resolver.resolver().stream()
    events = []
    for text, speaker in chunks:
        events += stream.feed(text, speaker) if text else stream.flush()
    return plain([json.loads(json_line(event, "")) for event in events + stream.close()])


def chunks_of(seed: int) -> list[tuple[str, str | None]]:
    choose = random.Random(seed)
    text = toy_resolver.plain_text(seed, 100) + STORY
    chunks: list[tuple[str, str | None]] = []
    while text:
        length = choose.randint(1, 120)
        chunks.append((text[:length], choose.choice([None, "Anna", "Ben"])))
        text = text[length:]
        if choose.random() < 0.1:
            chunks.append(("", None))
    return chunks


@pytest.mark.slow
def test_fifty_streams_at_once_are_fifty_alone(tmp_path: Path) -> None:
    """Fed in a random order by several threads, with memory for a few of them only."""
    texts = [chunks_of(seed) for seed in range(50)]
    found: list[Events] = [[] for _ in texts]
    with running(tmp_path / "data", {"streams_in_memory": 8}) as server, server.client() as client:
        ids = [create(client) for _ in texts]
        waiting = [list(reversed(chunks)) for chunks in texts]
        choose = random.Random(3)

        def feed(number: int) -> None:
            text, speaker = waiting[number].pop()
            body = {"text": text, "speaker": speaker}
            answer = call(client, f"{ids[number]}/feed", **body) if text else call(client, f"{ids[number]}/flush")
            found[number] += answer["events"]

        with ThreadPoolExecutor(8) as pool:
            while any(waiting):
                left = [number for number, chunks in enumerate(waiting) if chunks]
                list(pool.map(feed, choose.sample(left, min(8, len(left)))))
            for number, answer in enumerate(pool.map(lambda id_: call(client, f"{id_}/close"), ids)):
                found[number] += answer["events"]
        until = time.monotonic() + PATIENCE
        while not re.search(r"^streamcoref_streams_in_memory [0-8]\.0$", client.get("/metrics").text, re.MULTILINE):
            assert time.monotonic() < until
            time.sleep(0.05)
    assert [plain(events) for events in found] == [alone(chunks) for chunks in texts]
    assert sum(map(len, found)) > 500


def test_streams_that_are_only_opened_leave_memory(tmp_path: Path) -> None:
    """Ten thousand chats may be opened before one of them says a word."""
    with running(tmp_path / "data", {"streams_in_memory": 3, **UNSAVED}) as server, server.client() as client:
        ids = [create(client) for _ in range(12)]
        until = time.monotonic() + PATIENCE
        while "streamcoref_streams_in_memory 3.0" not in client.get("/metrics").text:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert all(client.get(f"/v1/streams/{id_}").json()["position"] == 0 for id_ in ids)


def test_what_every_answer_says(tmp_path: Path) -> None:
    with running(tmp_path / "data", UNSAVED) as server, server.client() as client:
        id_ = create(client, options={"singletons": True})
        fed = call(client, f"{id_}/feed", text=STORY)
        assert (fed["position"], fed["safe_position"], fed["calls"], fed["safe_calls"]) == (len(STORY), 0, 1, 0)
        assert fed["alive"] > 0
        flushed = call(client, f"{id_}/flush")
        assert flushed["safe_position"] == flushed["position"] == len(STORY)
        assert (flushed["calls"], flushed["safe_calls"], flushed["closed"]) == (2, 2, False)
        told = client.get(f"/v1/streams/{id_}").json()
        assert told == {name: value for name, value in flushed.items() if name != "events"}
        stream = toy_resolver.resolver().stream(singletons=True)
        events = stream.feed(STORY) + stream.flush()
        assert plain(fed["events"] + flushed["events"]) == plain([json.loads(json_line(e, "")) for e in events])
        alive = client.get(f"/v1/streams/{id_}/entities").json()["entities"]
        assert plain(alive) == plain([json.loads(json_line(e, "")) for e in stream.entities()])
        closed = call(client, f"{id_}/close")
        assert plain(closed["events"]) == plain([json.loads(json_line(e, "")) for e in stream.close()])
        assert plain(alive)[0] in plain(closed["events"])
        assert client.get(f"/v1/streams/{id_}").json()["closed"]
        refused = client.post(f"/v1/streams/{id_}/feed", json={"text": "more"})
        assert refused.status_code == 409
        assert "closed" in refused.json()["error"]
        assert client.delete(f"/v1/streams/{id_}").json() == {"id": id_, "state": "removed"}
        assert client.get(f"/v1/streams/{id_}").status_code == 404


def test_all_streams_are_listed_page_by_page(tmp_path: Path) -> None:
    with running(tmp_path / "data", {"streams_in_memory": 2, **UNSAVED}) as server, server.client() as client:
        ids = [create(client) for _ in range(5)]
        call(client, f"{ids[0]}/close")
        fed = call(client, f"{ids[3]}/feed", text=STORY)
        whole = client.get("/v1/streams").json()
        assert [one["id"] for one in whole["streams"]] == ids
        assert (whole["all"], whole["offset"]) == (5, 0)
        assert [one["closed"] for one in whole["streams"]] == [True, False, False, False, False]
        assert whole["streams"][3] == {name: value for name, value in fed.items() if name != "events"}
        assert whole["streams"] == [client.get(f"/v1/streams/{id_}").json() for id_ in ids]
        part = client.get("/v1/streams", params={"offset": 3, "limit": 1}).json()
        assert part == {"streams": whole["streams"][3:4], "all": 5, "offset": 3}
        assert client.get("/v1/streams", params={"limit": 0}).status_code == 422


def test_what_is_swept_is_found_without_going_over_all_streams(tmp_path: Path) -> None:
    """Twice a second, with ten thousand chats of a megabyte each on disk."""
    database = ServerDatabase(tmp_path / "data")
    plan = [row["detail"] for row in database.rows(f"EXPLAIN QUERY PLAN {FORGET}", (0.0,))]
    database.close()
    assert plan
    assert not [step for step in plan if step.startswith("SCAN")], plan


def test_words_and_speakers(tmp_path: Path) -> None:
    words = [["Anna", "saw", "the", "captain", "."], ["He", "left", "her", "."]] * 5
    speakers: list[Any] = ["Anna", ["Ben", "Ben", "Cy", "Cy"]] * 5
    stream = toy_resolver.resolver().stream()
    events = stream.feed_words(words, speakers) + stream.close()
    with running(tmp_path / "data") as server, server.client() as client:
        id_ = create(client)
        found = (
            call(client, f"{id_}/feed", words=words, speaker=speakers)["events"]
            + call(client, f"{id_}/close")["events"]
        )
        assert plain(found) == plain([json.loads(json_line(event, "")) for event in events])
        for wrong in (
            {"words": words, "speaker": ["x"]},
            {"text": "a", "speaker": ["x"]},
            {},
            {"text": "a", "call": 0},
        ):
            assert client.post(f"/v1/streams/{create(client)}/feed", json=wrong).status_code == 422


def test_a_preview_says_what_would_come_and_changes_nothing(tmp_path: Path) -> None:
    stream = toy_resolver.resolver().stream()
    with running(tmp_path / "data", {"text_characters": 2000, **UNSAVED}) as server, server.client() as client:
        id_ = create(client)
        found = call(client, f"{id_}/feed", text=STORY, speaker="Anna")["events"]
        before = client.get(f"/v1/streams/{id_}").json()
        for length in range(20, len(STORY), 40):
            copy = toy_resolver.resolver().stream(stream.state())
            copy.feed(STORY, "Anna")
            events = copy.feed(STORY[:length], "Ben") + copy.flush()
            told = call(client, f"{id_}/preview", text=STORY[:length], speaker="Ben")
            assert plain(told["events"]) == plain([json.loads(json_line(event, "")) for event in events])
            assert told["events"]
        assert client.get(f"/v1/streams/{id_}").json() == before
        found += call(client, f"{id_}/close")["events"]
        assert client.post(f"/v1/streams/{id_}/preview", json={"text": "a"}).status_code == 409
        assert client.post(f"/v1/streams/{id_}/preview", json={}).status_code == 422
        assert client.post(f"/v1/streams/{id_}/preview", json={"text": "a" * 2001}).status_code == 413
        assert client.post(f"/v1/streams/{'0' * 32}/preview", json={"text": "a"}).status_code == 404
    assert plain(found) == alone([(STORY, "Anna")])


def test_a_call_that_is_sent_again_is_done_once(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        id_ = create(client)
        first = call(client, f"{id_}/feed", text=STORY, call=1)
        assert call(client, f"{id_}/feed", text=STORY, call=1) == first
        out_of_order = client.post(f"/v1/streams/{id_}/feed", json={"text": STORY, "call": 5})
        assert out_of_order.status_code == 409
        assert "has had 1" in out_of_order.json()["error"]
        second = call(client, f"{id_}/close", call=2)
        assert call(client, f"{id_}/close", call=2) == second
    assert plain(first["events"] + second["events"]) == alone([(STORY, None)])


def test_a_stream_moves_by_its_state(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        id_ = create(client, options={"min_score": 0.05})
        first = call(client, f"{id_}/feed", text=STORY)["events"]
        state = client.get(f"/v1/streams/{id_}/state").content
        text = base64.b64encode(state).decode()
        other = create(client, state=text)
        told = client.get(f"/v1/streams/{other}").json()
        assert told["position"] == told["safe_position"] == len(STORY)
        here, there = (first + call(client, f"{one}/close")["events"] for one in (id_, other))
        assert plain(here) == plain(there)
        assert client.post("/v1/streams", json={"state": text, "options": {"min_score": 0.5}}).status_code == 400
        for damaged in (text[:-8], "AAAA", "no base64!", ""):
            assert client.post("/v1/streams", json={"state": damaged}).status_code == 400
    stream = toy_resolver.resolver().stream(state)  # the same bytes as in Python
    assert stream.position == len(STORY)


def test_idle_streams_leave_memory_and_come_back(tmp_path: Path) -> None:
    limits = {"idle_seconds": 0.2, "save_seconds": 600}
    with running(tmp_path / "data", limits) as server, server.client() as client:
        id_ = create(client)
        fed = call(client, f"{id_}/feed", text=STORY)
        assert fed["safe_position"] == 0
        until = time.monotonic() + PATIENCE
        while "streamcoref_streams_in_memory 0.0" not in client.get("/metrics").text:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert client.get(f"/v1/streams/{id_}").json()["safe_position"] == len(STORY)
        found = fed["events"] + call(client, f"{id_}/close")["events"]
    assert plain(found) == alone([(STORY, None)])


def test_to_be_saved_no_stream_waits_for_the_texts_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While all threads that read are busy for long, chats are put away, found and listed all the same."""
    go_on = threading.Event()
    feed, close = Stream.feed, Stream.close

    def wait_until(true: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < until
            time.sleep(0.02)

    def waiting(calls: int) -> bool:
        return f"streamcoref_queue {calls}.0" in client.get("/metrics").text

    def until_another_waits(self: Stream, text: str, speaker: str | None = None) -> Any:
        wait_until(lambda: waiting(2))
        return feed(self, text, speaker)

    def slow(self: Stream) -> Any:
        go_on.wait(PATIENCE)
        return close(self)

    limits = {"idle_seconds": 0.2, "save_seconds": 3600}
    with running(tmp_path / "data", limits, workers=1) as server, server.client() as client:
        chat, long = create(client), create(client)
        monkeypatch.setattr(Stream, "feed", until_another_waits)
        monkeypatch.setattr(Stream, "close", slow)
        with ThreadPoolExecutor(2) as pool:
            feeding = pool.submit(call, client, f"{chat}/feed", text=STORY)
            wait_until(lambda: waiting(1))
            closing = pool.submit(call, client, f"{long}/close")
            assert feeding.result()["safe_position"] == 0
            wait_until(lambda: client.get(f"/v1/streams/{chat}").json()["safe_position"] == len(STORY))
            assert len(client.get("/v1/streams").json()["streams"]) == 2
            assert not closing.done()
            go_on.set()
            assert closing.result()["closed"]


def test_a_server_that_is_started_again_goes_on(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        id_ = create(client)
        found = call(client, f"{id_}/feed", text=STORY)["events"]
    with running(tmp_path / "data") as server, server.client() as client:
        assert client.get(f"/v1/streams/{id_}").json()["safe_position"] == len(STORY)
        found += call(client, f"{id_}/feed", text=STORY)["events"] + call(client, f"{id_}/close")["events"]
    assert plain(found) == alone([(STORY, None)] * 2)


def test_streams_saved_by_another_model_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        id_ = create(client)
    monkeypatch.setitem(toy_resolver.resolver().__dict__, "fingerprint", "another")
    with running(tmp_path / "data") as server, server.client() as client:
        answer = client.post(f"/v1/streams/{id_}/feed", json={"text": "a"})
        assert answer.status_code == 400
        assert "another model" in answer.json()["error"]
