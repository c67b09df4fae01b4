"""A server that is killed, stopped, or has no room: nothing that was acknowledged is lost, and events are the same."""

from __future__ import annotations

import json
import random
import re
import resource
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

import httpx

from tests import toy_resolver
from tests.server.running import PATIENCE, STORY, Command, running, wait_for
from tests.server.test_jobs_over_http import everything
from tests.server.test_jobs_over_http import expected as expected_of_book
from tests.server.test_streams_over_http import Events, alone, call, create, plain

Chunks = list[tuple[str, str | None]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_resolver.save_model(tmp_path_factory.mktemp("model"))


class Feeder:
    """One who feeds a stream, knows what is safe, and after a restart begins again there."""

    def __init__(self, seed: int, id_: str) -> None:
        text = toy_resolver.plain_text(seed, 150)
        bounds = range(0, len(text), 60)
        self.calls: list[dict[str, Any]] = []
        self.chunks: Chunks = []
        for number, first in enumerate(bounds):
            speaker = ["Anna", "Ben"][number % 7 == 3]
            self.calls.append({"text": text[first : first + 60], "speaker": speaker})
            self.chunks.append((text[first : first + 60], speaker))
            if number % 5 == 4:
                self.calls.append({})
                self.chunks.append(("", None))
        self.id = id_
        self.answers: list[Events] = []
        self.safe = 0  # calls
        self.safe_position = 0

    def feed(self, client: httpx.Client) -> None:
        """Go on until all is fed, or there is no server any more."""
        try:
            while (number := len(self.answers) + 1) <= len(self.calls):
                body = self.calls[number - 1]
                what = "feed" if body else "flush"
                answer = call(client, f"{self.id}/{what}", **body, call=number)
                self.answers.append(answer["events"])
                self.safe, self.safe_position = answer["safe_calls"], answer["safe_position"]
        except httpx.TransportError:
            pass

    def go_back(self, client: httpx.Client) -> None:
        """To where the server stands. What it said was safe must be there."""
        told = client.get(f"/v1/streams/{self.id}").json()
        assert told["calls"] >= self.safe
        assert told["position"] >= self.safe_position
        assert told["calls"] <= len(self.answers) + 1  # the last call may have been done, and its answer lost
        del self.answers[told["calls"] :]

    def finish(self, client: httpx.Client) -> Events:
        self.feed(client)
        answers = [*self.answers, call(client, f"{self.id}/close")["events"]]
        return plain([event for events in answers for event in events])


def submit(client: httpx.Client, book: str) -> str | None:
    """A job's id, if the server has lived to tell it."""
    try:
        return str(client.post("/v1/jobs", content=book.encode()).json()["id"])
    except httpx.TransportError:
        return None


def states_of_jobs(client: httpx.Client) -> list[str]:
    return [str(job["state"]) for job in client.get("/v1/jobs").json()["jobs"]]


def mentions_of(client: httpx.Client, job: str, length: int) -> list[list[tuple[int, int, str]]]:
    """The mentions of all entities of a long book, by parts of its text."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    for start in range(0, length, 5000):
        page = client.get(f"/v1/jobs/{job}/mentions", params={"start": start, "end": start + 5000, "limit": 10_000})
        for one in page.json()["mentions"]:
            if start <= one["start"]:  # others have been seen in the part before
                found.setdefault(one["entity"], []).append((one["start"], one["end"], one["text"]))
    return sorted(found.values())


@pytest.mark.parametrize(("streams", "kills"), [(10, 2), (100, 2)], ids=["few", "many"])
@pytest.mark.slow
def test_killed_with_streams_and_jobs_it_goes_on(tmp_path: Path, model: Path, streams: int, kills: int) -> None:
    """Every stream has a caller of its own, books are being read and handed in, and SIGKILL ends the server."""
    choose = random.Random(11)
    data = tmp_path / "data"
    server = Command(model, data, "--jobs", 2)
    with server.client() as client:
        feeders = [Feeder(seed, create(client)) for seed in range(streams)]
        books = {submit(client, STORY * length): STORY * length for length in (50, 20, 3)}
    for kill in range(kills):
        with server.client() as client, ThreadPoolExecutor(streams + 1) as pool:
            before = sum(len(feeder.answers) for feeder in feeders)
            feeding = [pool.submit(feeder.feed, client) for feeder in feeders]
            # at any moment of their feeding, on a quick machine and on a slow one
            enough = before + choose.randint(streams, 3 * streams)
            while sum(len(feeder.answers) for feeder in feeders) < enough:
                assert not all(one.done() for one in feeding)
                time.sleep(0.001)
            book = STORY * (50 + kill)
            submitting = pool.submit(submit, client, book)
            while "reading" not in (states := states_of_jobs(client)):
                assert not all(one.done() for one in feeding), states
            active = sum(not one.done() for one in feeding)
            server.kill()
        for one in feeding:
            one.result()
        assert active > streams / 2
        books[submitting.result()] = book
        server = Command(model, data, "--jobs", 2)
        with server.client() as client:
            for feeder in feeders:
                feeder.go_back(client)
    with server.client() as client:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda feeder: feeder.finish(client), feeders))
        books.pop(None, "")  # nobody was told of it
        assert len(books) >= 3
        for job, book in books.items():
            assert wait_for(client, str(job), "done")["characters"] == len(book)
            assert mentions_of(client, str(job), len(book)) == expected_of_book(book)
    assert server.terminate() == 0
    assert found == [alone(feeder.chunks) for feeder in feeders]


def begun(client: httpx.Client) -> float:
    """The calls of feed that have been answered or are under way, this one's own metrics not counted."""
    figures = client.get("/metrics").text
    answered = re.search(r'^streamcoref_requests_total\{.*/feed",status="200"\} (.+)', figures, re.MULTILINE)
    under_way = re.search(r"^streamcoref_queue (.+)", figures, re.MULTILINE)
    assert answered
    assert under_way
    return float(answered[1]) + float(under_way[1])


@pytest.mark.slow
def test_sigterm_finishes_what_has_begun_and_saves(tmp_path: Path, model: Path) -> None:
    data = tmp_path / "data"
    server = Command(model, data)
    with server.client() as client:
        ids = [create(client) for _ in range(5)]
        found = [call(client, f"{id_}/feed", text=STORY)["events"] for id_ in ids]
        job = client.post("/v1/jobs", content=(STORY * 300).encode()).json()["id"]
        wait_for(client, job, "reading")
        with ThreadPoolExecutor(5) as pool, client.stream("GET", f"/v1/jobs/{job}/progress"):
            last = [pool.submit(call, client, f"{id_}/feed", text=STORY * 3) for id_ in ids]
            while begun(client) < 2 * len(ids):
                time.sleep(0.01)
            assert server.terminate() == 0
            for events, one in zip(found, last, strict=True):
                events += one.result()["events"]
    log = [json.loads(line) for line in server.log.read_text(encoding="utf-8").splitlines()]
    assert all(line["level"] == "info" for line in log), log
    server = Command(model, data)
    with server.client() as client:
        for events, id_ in zip(found, ids, strict=True):
            assert client.get(f"/v1/streams/{id_}").json()["safe_position"] == 4 * len(STORY)
            events += call(client, f"{id_}/close")["events"]
        assert client.get(f"/v1/jobs/{job}").json()["state"] in ("queued", "reading")
    assert server.terminate(signal.SIGINT) == 0
    assert [plain(events) for events in found] == [alone([(STORY, None), (STORY * 3, None)])] * 5


@contextmanager
def no_room(size: int = 4096) -> Iterator[None]:
    """A limit on how large this process may make a file, which is what a full disk is to SQLite and to us.

    It ends with the block, whatever happens there: pytest itself may have to write to a file, of what went wrong.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_is_said_and_survived(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        id_, other = create(client), create(client)
        job = client.post("/v1/jobs", content=STORY.encode()).json()["id"]
        wait_for(client, job, "done")
        first = call(client, f"{id_}/feed", text=STORY)
        safe = call(client, f"{id_}/flush")
        with no_room():
            fed = call(client, f"{id_}/feed", text=STORY)  # it goes on, and does not claim to be safe
            flushed = call(client, f"{id_}/flush")
            assert flushed["position"] == 2 * len(STORY)
            assert flushed["safe_position"] == safe["position"] == len(STORY)
            refused = client.post("/v1/streams", json={})
            assert refused.status_code == 507
            assert refused.headers["retry-after"]
            assert client.post("/v1/jobs", content=(STORY * 100).encode()).status_code == 507
            assert client.delete(f"/v1/streams/{other}").status_code == 507
            assert client.delete(f"/v1/jobs/{job}").status_code == 507
            assert client.get("/readyz").status_code == 503
            assert "saved" in client.get("/readyz").json()["reason"]
            assert client.get("/healthz").status_code == 200
        until = time.monotonic() + PATIENCE
        while client.get("/readyz").status_code != 200:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert create(client)
        assert client.delete(f"/v1/streams/{other}").status_code == 200
        assert client.delete(f"/v1/jobs/{job}").status_code == 200
        closed = call(client, f"{id_}/close")
        assert closed["safe_position"] == closed["position"]
        found = [answer["events"] for answer in (first, safe, fed, flushed, closed)]
    expected = alone([(STORY, None), ("", None)] * 2)
    assert plain([event for events in found for event in events]) == expected


def test_a_job_waits_for_room_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamcoref.server import jobs
    from streamcoref.store import job as store_job

    monkeypatch.setattr(jobs, "TRY_AGAIN_SECONDS", 0.3)
    monkeypatch.setattr(store_job, "SAVE_SECONDS", 0.0)
    book = STORY * 20
    with running(tmp_path / "data") as server, server.client() as client:
        id_ = client.post("/v1/jobs", content=book.encode(), params={"name": "book.txt"}).json()["id"]
        wait_for(client, id_, "reading")
        with no_room():
            until = time.monotonic() + PATIENCE
            while client.get(f"/v1/jobs/{id_}").json()["error"] is None:
                assert time.monotonic() < until
                time.sleep(0.02)
            told = client.get(f"/v1/jobs/{id_}").json()
            assert told["state"] in ("queued", "reading")
        assert wait_for(client, id_, "done")["error"] is None
        assert everything(client, id_) == expected_of_book(book)


@pytest.mark.slow
def test_callers_who_vanish_leave_nothing_behind(tmp_path: Path) -> None:
    """In the middle of a request, of an upload, of a stream of events."""
    threads = threading.active_count()
    with running(tmp_path / "data", {"stall_seconds": 1.0}) as server, server.client() as client:
        place = "127.0.0.1", int(server.url.rsplit(":", 1)[1])
        head = (
            b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
        )
        for path in (b"/v1/resolve", b"/v1/jobs", b"/v1/jobs?name=x"):
            with socket.create_connection(place) as raw:
                raw.sendall(head % path + b'{"text": "Anna')
        body = json.dumps({"text": STORY * 40}).encode()
        accept = head.replace(b"%s", b"/v1/resolve").replace(b"100000\r\n", b"%d\r\nAccept: application/x-ndjson\r\n")
        for _ in range(5):
            with socket.create_connection(place) as raw:
                raw.sendall(accept % len(body) + body)
                assert raw.recv(100)
        with socket.create_connection(place) as raw:  # who says nothing more is told so, and left
            raw.settimeout(PATIENCE)
            raw.sendall(head % b"/v1/resolve" + b"{")
            assert b" 408 " in raw.recv(1000)
        until = time.monotonic() + PATIENCE
        while "streamcoref_queue 0.0" not in client.get("/metrics").text:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert client.get("/v1/jobs").json() == {"jobs": []}
        assert not list((tmp_path / "data/jobs").iterdir())
        assert client.post("/v1/resolve", json={"text": STORY}).status_code == 200
    assert threading.active_count() < threads + 5  # of the resolver, which stays
