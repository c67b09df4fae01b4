"""Who may call, and how much: keys, origins, limits, figures, logs, the description."""

from __future__ import annotations

import base64
import json
import logging
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

import httpx
from typer.testing import CliRunner
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from streamcoref.cli import app
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.server import ServerSettings, page_files
from streamcoref.server.keys import Keys, read_keys
from streamcoref.server.logs import JsonLines
from streamcoref.stream import Stream
from tests.server.running import STORY, Running, running, wait_for

ANNA, BEN = "anna-has-this-long-key", "ben-has-quite-another-key"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    limits = {"streams_per_key": 3, "jobs_per_key": 2}
    with running(tmp_path_factory.mktemp("data"), limits, keys=Keys([ANNA, BEN])) as server:
        yield server


def test_without_a_key_nothing_is_said(server: Running) -> None:
    calls: list[tuple[str, str]] = [
        ("GET", "/v1/jobs"),
        ("POST", "/v1/resolve"),
        ("GET", "/v1/streams/x"),
        ("GET", "/v1/x"),
    ]
    for key in (None, "x", ANNA[:-1], ANNA + "x", "ä" * 20):
        headers = {} if key is None else {"Authorization": f"Bearer {key}".encode()}
        for method, path in calls:
            answer = httpx.request(method, f"{server.url}{path}", headers=headers)  # type: ignore[arg-type]
            assert answer.status_code == 401
            assert "key" in answer.json()["error"]
    for path in ("/healthz", "/readyz", "/metrics", "/docs", "/openapi.json"):
        assert httpx.get(f"{server.url}{path}").status_code == 200


def test_one_key_never_sees_what_is_anothers(server: Running) -> None:
    with server.client(ANNA) as anna, server.client(BEN) as ben:
        stream = anna.post("/v1/streams", json={}).json()["id"]
        job = anna.post("/v1/jobs", content=STORY.encode()).json()["id"]
        wait_for(anna, job, "done")
        streams: list[tuple[str, str, Any]] = [("GET", name, None) for name in ("", "/entities", "/state")]
        streams += [
            ("POST", "/feed", {"text": "a"}),
            ("POST", "/flush", {}),
            ("POST", "/close", {}),
            ("DELETE", "", None),
        ]
        jobs = ["", "/progress", "/entities", "/entities/0/mentions", "/mentions", "/text", "/store", "/record"]
        for method, path, body in streams:
            for where in (f"/v1/streams/{stream}{path}", f"/v1/streams/{'0' * 32}{path}"):
                answer = ben.request(method, where, json=body)
                assert (answer.status_code, answer.json()) == (404, {"error": "there is no such stream"})
        for method, path in [*(("GET", path) for path in jobs), ("DELETE", "")]:
            answer = ben.request(method, f"/v1/jobs/{job}{path}")
            assert (answer.status_code, answer.json()) == (404, {"error": "there is no such job"})
        assert ben.get("/v1/jobs").json() == {"jobs": []}
        assert anna.get(f"/v1/streams/{stream}").json()["calls"] == 0
        assert anna.get(f"/v1/jobs/{job}").status_code == 200


def test_a_socket_has_its_key_in_a_header_or_a_protocol(server: Running) -> None:
    with server.client(ANNA) as anna:
        stream = anna.post("/v1/streams", json={}).json()["id"]
    url = f"{server.url.replace('http', 'ws')}/v1/streams/{stream}/live"

    def protocol(key: str) -> Any:
        return ["streamcoref", "key." + base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")]

    for way in ({"subprotocols": protocol(ANNA)}, {"additional_headers": {"Authorization": f"Bearer {ANNA}"}}):
        with connect(url, **way) as socket:
            socket.send('{"flush": true}')
            assert json.loads(socket.recv(timeout=60))["event"] == "fed"
    for wrong in ({}, {"subprotocols": protocol(BEN)}, {"subprotocols": ["streamcoref", "key.!"]}):
        with pytest.raises(InvalidStatus), connect(url, **wrong):
            pass


def test_how_many_streams_and_jobs_a_key_may_have(server: Running) -> None:
    with server.client(BEN) as ben:
        ids = [ben.post("/v1/streams", json={}).json()["id"] for _ in range(3)]
        refused = ben.post("/v1/streams", json={})
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        assert "3 open streams" in refused.json()["error"]
        ben.post(f"/v1/streams/{ids[0]}/close")
        assert ben.post("/v1/streams", json={}).status_code == 201
        answers = [ben.post("/v1/jobs", content=(STORY * 30).encode()) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [202, 202, 429]
        for answer in answers[:2]:
            ben.delete(f"/v1/jobs/{answer.json()['id']}")


def test_too_many_calls_are_told_to_come_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And those that were let in are answered; nothing is fed by those that were not."""
    go_on = threading.Event()
    feed = Stream.feed

    def slow(self: Stream, text: str, speaker: str | None = None) -> Any:
        go_on.wait(120)
        return feed(self, text, speaker)

    monkeypatch.setattr(Stream, "feed", slow)
    with running(tmp_path / "data", {"queue": 5}, workers=2) as server, server.client() as client:
        stream = client.post("/v1/streams", json={}).json()["id"]
        with ThreadPoolExecutor(12) as pool:
            waiting = [pool.submit(client.post, f"/v1/streams/{stream}/feed", json={"text": STORY}) for _ in range(12)]
            until = time.monotonic() + 60
            while sum(one.done() for one in waiting) < 7 and time.monotonic() < until:
                time.sleep(0.01)
            go_on.set()
            answers = [one.result() for one in waiting]
        assert sorted(answer.status_code for answer in answers) == [200] * 5 + [429] * 7
        assert all(answer.headers["retry-after"] for answer in answers if answer.status_code == 429)
        assert client.get(f"/v1/streams/{stream}").json()["position"] == 5 * len(STORY)


def test_a_call_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has begun is done, and its answer can be had; one that has not is not done."""
    go_on = threading.Event()
    feed = Stream.feed

    def slow(self: Stream, text: str, speaker: str | None = None) -> Any:
        go_on.wait(120)
        return feed(self, text, speaker)

    with running(tmp_path / "data", {"request_seconds": 2.0}, workers=1) as server, server.client() as client:
        stream = client.post("/v1/streams", json={}).json()["id"]
        monkeypatch.setattr(Stream, "feed", slow)
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(client.post, f"/v1/streams/{stream}/feed", json={"text": STORY, "call": 1})
            time.sleep(0.2)
            second = pool.submit(client.post, f"/v1/streams/{stream}/feed", json={"text": STORY})
            assert [one.result().status_code for one in (first, second)] == [504, 504]
        go_on.set()
        again = client.post(f"/v1/streams/{stream}/feed", json={"text": STORY, "call": 1})
        assert again.status_code == 200
        assert (again.json()["position"], again.json()["calls"]) == (len(STORY), 1)


def test_only_pages_of_this_server_may_change_something(tmp_path: Path) -> None:
    allowed = "https://reader.example"
    with running(tmp_path / "data", cors=(allowed,)) as server, server.client() as client:
        port = server.url.rsplit(":", 1)[1]

        def status(origin: str | None, host: str = f"localhost:{port}") -> int:
            headers = {"Host": host} | ({} if origin is None else {"Origin": origin})
            return client.post("/v1/resolve", json={"text": "Anna left."}, headers=headers).status_code

        assert status(None) == status(f"http://localhost:{port}") == status(allowed) == 200
        assert status("https://evil.example") == status("null") == status("http://localhost:1") == 403
        assert status(None, host="evil.example") == 403  # a name that somebody else lets point here
        stream = client.post("/v1/streams", json={}).json()["id"]
        url = f"ws://localhost:{port}/v1/streams/{stream}/live"
        with pytest.raises(InvalidStatus), connect(url, origin="https://evil.example"):  # type: ignore[arg-type]
            pass
        answer = client.post("/v1/resolve", json={"text": "a"}, headers={"Origin": allowed})
        assert answer.headers["access-control-allow-origin"] == allowed
    with running(tmp_path / "other") as server, server.client() as client:
        answer = client.options("/v1/resolve", headers={"Origin": allowed, "Access-Control-Request-Method": "POST"})
        assert "access-control-allow-origin" not in answer.headers


def test_off_loopback_it_needs_keys_or_the_word(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "192.168.1.5", "example.org", "::"):
        with pytest.raises(StreamcorefError, match="can be reached from other machines, and there are no keys"):
            ServerSettings(data=tmp_path, host=host).check()
        ServerSettings(data=tmp_path, host=host, open=True).check()
        ServerSettings(data=tmp_path, host=host, keys=Keys([ANNA])).check()
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        ServerSettings(data=tmp_path, host=host).check()
    result = CliRunner().invoke(app, ["serve", "--host", "0.0.0.0", "--data", str(tmp_path)])
    assert isinstance(result.exception, StreamcorefError)


def test_a_file_of_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(f"# for Anna\n{ANNA}\n\n  {BEN}  \n", encoding="utf-8")
    keys = read_keys(path)
    assert keys
    assert keys.owner(ANNA) not in (None, keys.owner(BEN))
    assert keys.owner("# for Anna") is keys.owner(None) is keys.owner("") is None
    for content, said in [("short\n", ":1:"), ("", "no key"), ("a key with blanks in it\n", ":1:"), ("ä" * 20, ":1:")]:
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            read_keys(path)
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="UTF-8"):
        read_keys(path)
    with pytest.raises(InputError, match="No such file"):
        read_keys(tmp_path / "none")


def broken(_: Stream, text: str, _speaker: str | None = None) -> Any:
    raise KeyError(text)


def test_logs_have_no_text(tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "Rumpelstiltskin"
    caplog.set_level(logging.INFO)

    with running(tmp_path / "data") as server, server.client() as client:
        client.post("/v1/resolve", json={"text": f"{secret} left.", "key": secret})
        stream = client.post("/v1/streams", json={}).json()["id"]
        client.post(f"/v1/streams/{stream}/feed", json={"text": secret, "speaker": secret})
        client.post(f"/v1/streams/{stream}/feed", json={"text": secret, secret: 1})
        client.post("/v1/jobs", content=secret.encode(), params={"name": secret})
        client.get(f"/v1/streams/{secret}")
        client.get(f"/{secret}")
        monkeypatch.setattr(Stream, "feed", broken)
        answer = client.post(f"/v1/streams/{stream}/feed", json={"text": secret})
        assert answer.status_code == 500
        assert secret not in answer.text
        figures = client.get("/metrics").text
    ours = [record for record in caplog.records if not record.name.startswith("httpx")]
    lines = [json.loads(JsonLines().format(record)) for record in ours]
    assert secret not in json.dumps(lines) + figures
    requests = [line for line in lines if line["message"] == "request"]
    assert [line["status"] for line in requests][:4] == [200, 201, 200, 422]
    assert {"request", "method", "route", "status", "seconds", "key", "time", "level"} <= set(requests[0])
    mistakes = [line for line in lines if line["message"] == "a mistake of ours"]
    assert mistakes[0]["error"] == "KeyError"
    assert any("test_keys_and_limits.py" in place for place in mistakes[0]["places"])


def test_after_a_mistake_a_stream_goes_on_from_what_is_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        stream = client.post("/v1/streams", json={}).json()["id"]
        client.post(f"/v1/streams/{stream}/feed", json={"text": STORY})
        client.post(f"/v1/streams/{stream}/flush")
        with monkeypatch.context() as patch:
            patch.setattr(Stream, "feed", broken)
            assert client.post(f"/v1/streams/{stream}/feed", json={"text": "a"}).status_code == 500
        assert client.get(f"/v1/streams/{stream}").json()["position"] == len(STORY)
        assert client.post(f"/v1/streams/{stream}/feed", json={"text": "a"}).json()["position"] == len(STORY) + 1


def test_figures(server: Running) -> None:
    with server.client(ANNA) as client:
        client.post("/v1/resolve", json={"text": STORY})
        figures = client.get("/metrics").text
    assert re.search(r'streamcoref_requests_total\{method="POST",route="/v1/resolve",status="200"\} [1-9]', figures)
    assert re.search(r"streamcoref_words_total [1-9]", figures)
    for name in ("streams_in_memory", "queue", "listeners", "segments_under_way", "jobs_waiting"):
        assert re.search(rf"^streamcoref_{name} \d", figures, re.MULTILINE)


def test_the_description_needs_nothing_from_outside(server: Running) -> None:
    page = httpx.get(f"{server.url}/docs")
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    for what in ("/v1/resolve", "/v1/streams/{stream}/feed", "/v1/jobs/{job}/store", "Anna saw the captain"):
        assert what in page.text
    assert not re.search(r"https?://", page.text)
    assert "<script" not in page.text
    assert httpx.get(f"{server.url}/docs.css").headers["content-type"].startswith("text/css")
    description = httpx.get(f"{server.url}/openapi.json").json()
    body = description["components"]["schemas"]["ResolveBody"]
    assert body["examples"]


def test_the_page_is_a_fixed_list_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"index.html": (b"<title>page</title>", page_files.TYPES[".html"]), "a.js": (b"1", page_files.TYPES[".js"])}
    monkeypatch.setattr(page_files, "read_page", lambda: files)
    with running(tmp_path / "data") as server, server.client() as client:
        page = client.get("/")
        assert (page.content, page.headers["content-type"]) == files["index.html"]
        assert page.headers["content-security-policy"].startswith("default-src 'self'")
        assert page.headers["x-content-type-options"] == "nosniff"
        assert client.get("/page/a.js").headers["content-type"] == "text/javascript; charset=utf-8"
        for name in ("b.js", "..%2f__init__.py", "%2e%2e/app.py", "a.js%00", "../keys.py"):
            assert client.get(f"/page/{name}").status_code == 404


def test_two_servers_do_not_share_a_folder(tmp_path: Path) -> None:
    from streamcoref.server.database import ServerDatabase

    first = ServerDatabase(tmp_path / "data")
    with pytest.raises(StreamcorefError, match="another server uses this folder"):
        ServerDatabase(tmp_path / "data")
    first.close()
    ServerDatabase(tmp_path / "data").close()
