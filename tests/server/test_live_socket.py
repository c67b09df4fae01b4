"""The WebSocket of a stream: text in, events out, for everybody who listens; garbage and slow readers."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from streamcoref.server.listeners import Listener
from tests.server.running import PATIENCE, STORY, Running, running
from tests.server.test_streams_over_http import Events, alone, create, plain


def opened(server: Running, id_: str, **arguments: Any) -> ClientConnection:
    return connect(f"{server.url.replace('http', 'ws')}/v1/streams/{id_}/live", **arguments)


def until_fed(socket: ClientConnection) -> tuple[Events, dict[str, Any]]:
    """The events up to the record that says how far the stream is."""
    events: Events = []
    while True:
        one = json.loads(socket.recv(timeout=PATIENCE))
        if one["event"] in ("fed", "error"):
            return events, one
        events.append(one)


def test_a_chat(tmp_path: Path) -> None:
    turns: list[tuple[str, str | None]] = [("I saw the captain. ", "Anna"), ("He left. ", "Ben"), (STORY, None)]
    with running(tmp_path / "data") as server, server.client() as client:
        id_ = create(client)
        found: Events = []
        with opened(server, id_) as chat, opened(server, id_) as other:
            for text, speaker in turns:
                chat.send(json.dumps({"text": text, "speaker": speaker}))
                events, fed = until_fed(chat)
                found += events
            assert fed["position"] == sum(len(text) for text, _ in turns)
            chat.send(json.dumps({"flush": True}))
            events, fed = until_fed(chat)
            assert fed["safe_position"] == fed["position"]
            chat.send(json.dumps({"close": True}))
            found += events + until_fed(chat)[0]
            with pytest.raises(ConnectionClosed):
                chat.recv(timeout=PATIENCE)
            heard: Events = []
            for _ in range(len(turns) + 2):
                heard += until_fed(other)[0]
        assert client.get(f"/v1/streams/{id_}").json()["closed"]
    assert plain(found) == plain(heard) == alone([*turns, ("", None)])


def test_feeding_over_http_is_heard(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        id_ = create(client)
        with opened(server, id_) as listening:
            fed = client.post(f"/v1/streams/{id_}/feed", json={"text": STORY * 2}).json()
            events, told = until_fed(listening)
            assert events == fed["events"]
            assert events
            assert told["position"] == fed["position"]


GARBAGE = ["", "{", "[]", "null", "{}", '{"text": 5}', '{"text": "a", "file": "/etc/passwd"}', '{"flush": false}']
GARBAGE += ['{"text": "a", "call": 9}', '{"words": "a"}', "[" * 100_000, '{"text": "a", "words": [["a"]]}', "\x00"]


def test_garbage_is_answered_and_changes_nothing(tmp_path: Path) -> None:
    with running(tmp_path / "data", {"text_characters": 2000}) as server, server.client() as client:
        id_ = create(client)
        with opened(server, id_) as chat:
            for frame in [*GARBAGE, b"\xff\xfe", json.dumps({"text": "a" * 2001})]:
                chat.send(frame)
                assert until_fed(chat)[1]["event"] == "error", frame
            chat.send(json.dumps({"text": STORY}))
            events, fed = until_fed(chat)
            assert fed["position"] == len(STORY)
            assert fed["calls"] == 1
        closed = client.post(f"/v1/streams/{id_}/close").json()
    assert plain(events + closed["events"]) == alone([(STORY, None)])


def test_a_stream_that_is_not_there(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, pytest.raises(InvalidStatus, match="404"), opened(server, "0" * 32):
        pass


def test_who_vanishes_is_forgotten(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        id_ = create(client)
        for _ in range(20):
            with opened(server, id_) as chat:
                chat.send(json.dumps({"text": STORY}))
                chat.socket.shutdown(socket.SHUT_RDWR)
        until = time.monotonic() + PATIENCE
        while "streamcoref_listeners 0.0" not in client.get("/metrics").text:
            assert time.monotonic() < until
            time.sleep(0.05)
        position = client.get(f"/v1/streams/{id_}").json()["position"]
        assert position % len(STORY) == 0  # a frame is read whole, or not at all


def take_all(socket: ClientConnection) -> None:
    while True:
        socket.recv(timeout=PATIENCE)


def short_connection(server: Running) -> socket.socket:
    """One on which little is under way: how much a kernel would hold differs from machine to machine."""
    (listening,) = server.server.servers[0].sockets
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)  # also of the connections that it accepts
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    made.connect(listening.getsockname())
    return made


def test_few_long_answers_are_too_many_as_well() -> None:
    async def behind(length: int, answers: list[str]) -> list[bool]:
        listener, seen = Listener(length, 100), []
        for answer in answers:
            listener.tell([answer])
            seen.append(listener.behind.is_set())
        return seen

    assert asyncio.run(behind(2, ["a"] * 3)) == [False, False, True]
    assert asyncio.run(behind(9, ["a" * 60] * 3)) == [False, False, True]
    assert asyncio.run(behind(9, ["a" * 1000, "a"])) == [False, True]

    async def taken() -> bool:
        listener = Listener(9, 100)
        for _ in range(5):
            listener.tell(["a" * 1000])
            await listener.next()
        return listener.behind.is_set()

    assert not asyncio.run(taken())


@pytest.mark.slow
def test_a_slow_reader_is_let_go_and_disturbs_nobody(tmp_path: Path) -> None:
    words = [["captain", "y" * 20_000]] * 20
    with running(tmp_path / "data", {"frames_behind": 4, "save_seconds": 60}) as server, server.client() as client:
        id_ = create(client, options={"singletons": True, "evict": "none"})
        raw, fed = short_connection(server), 0
        with opened(server, id_, sock=raw, max_queue=1, compression=None, ping_interval=None) as slow:
            while "streamcoref_slow_readers_total 1.0" not in client.get("/metrics").text:
                assert client.post(f"/v1/streams/{id_}/feed", json={"words": words}).status_code == 200
                fed += 1
                assert fed < 100, "it is not noticed"
            with pytest.raises(ConnectionClosed) as closed:
                take_all(slow)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013
        assert client.get(f"/v1/streams/{id_}").json()["calls"] == fed
