"""Who may call, and how much: keys, origins, limits, figures, logs, the description."""

from __future__ import annotations

import base64
import json
import logging
import re
import resource
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import escape
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
from streamcoref.server import Limits, ServerSettings, page_files, schemas
from streamcoref.server.crowd import allow_files
from streamcoref.server.keys import Keys, read_keys
from streamcoref.server.logs import JsonLines
from streamcoref.stream import Stream
from tests.server.running import PATIENCE, STORY, Running, running, wait_for

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
        found = 0
        for path, methods in anna.get("/openapi.json").json()["paths"].items():
            what = re.search(r"\{(stream|job)\}", path)
            for method in methods if what else ():
                body = {"text": "a"} if path.endswith(("/feed", "/preview")) else {}
                for id_ in ({"stream": stream, "job": job}[what[1]], "0" * 32):
                    where = path.replace(what[0], id_).replace("{entity}", "0")
                    answer = ben.request(method.upper(), where, json=body if method == "post" else None)
                    said = answer.status_code, answer.json()
                    assert said == (404, {"error": f"there is no such {what[1]}"}), (method, path)
                found += 1
        assert found > 15
        assert ben.get("/v1/jobs").json() == {"jobs": []}
        for key, known in ((ben, False), (anna, True)):
            assert (stream in [one["id"] for one in key.get("/v1/streams").json()["streams"]]) is known
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
            assert json.loads(socket.recv(timeout=PATIENCE))["event"] == "fed"
    wrong: list[tuple[int, dict[str, Any]]] = [
        (401, {}),
        (404, {"subprotocols": protocol(BEN)}),
        (401, {"subprotocols": ["streamcoref", "key.!"]}),
    ]
    for status, way in wrong:
        with pytest.raises(InvalidStatus) as refused, connect(url, **way):
            pass
        assert refused.value.response.status_code == status


def test_how_many_streams_and_jobs_a_key_may_have(server: Running) -> None:
    with server.client(BEN) as ben:
        ids = [ben.post("/v1/streams", json={}).json()["id"] for _ in range(3)]
        refused = ben.post("/v1/streams", json={})
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        assert "3 open streams" in refused.json()["error"]
        ben.post(f"/v1/streams/{ids[0]}/close")
        assert ben.post("/v1/streams", json={}).status_code == 201
        answers = [ben.post("/v1/jobs", content=(STORY * 300).encode()) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [202, 202, 429]
        for answer in answers[:2]:
            ben.delete(f"/v1/jobs/{answer.json()['id']}")


def test_jobs_that_are_sent_at_the_same_time_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "jobs"
    with running(tmp_path / "data", {"jobs_per_key": 1}) as server, server.client() as client:
        others = []

        def slowly() -> Iterator[bytes]:
            yield b"Anna"
            until = time.monotonic() + PATIENCE
            while not list(folder.iterdir()):  # it was let in
                assert time.monotonic() < until
                time.sleep(0.01)
            with server.client() as other:
                others.append(other.post("/v1/jobs", content=(STORY * 300).encode()))
            yield b" left."

        refused = client.post("/v1/jobs", content=slowly())
        assert others[0].status_code == 202
        assert refused.status_code == 429
        assert refused.headers["retry-after"]
        assert [one.name for one in folder.iterdir()] == [others[0].json()["id"]]


def test_too_many_connections_are_told_to_come_again(tmp_path: Path) -> None:
    """Those that are there go on, and how the server is can be asked."""
    with running(tmp_path / "data", {"connections": 2}) as server, server.client() as client:
        stream = client.post("/v1/streams", json={}).json()["id"]
        url = f"{server.url.replace('http', 'ws')}/v1/streams/{stream}/live"
        with connect(url) as socket:
            with connect(url):
                refused = client.get(f"/v1/streams/{stream}")
                assert refused.status_code == 429
                assert int(refused.headers["retry-after"]) > 0
                assert "2 connections" in refused.json()["error"]
                with pytest.raises(InvalidStatus) as denied, connect(url):
                    pass
                assert denied.value.response.status_code == 429
                assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
                socket.send('{"flush": true}')
                assert json.loads(socket.recv(timeout=PATIENCE))["event"] == "fed"
            until = time.monotonic() + PATIENCE
            while (answer := client.get(f"/v1/streams/{stream}")).status_code == 429:
                assert time.monotonic() < until
                time.sleep(0.02)
            assert answer.json()["calls"] == 1


def test_files_enough_for_all_connections_may_be_open() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] not in (resource.RLIM_INFINITY,) and before[1] < 1500:
        pytest.skip("this machine allows no more open files")
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
        assert allow_files(Limits(connections=200)) == resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 1400
        assert allow_files(Limits(connections=1)) == resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 1400
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_too_many_calls_are_told_to_come_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And those that were let in are answered; nothing is fed by those that were not."""
    go_on = threading.Event()
    feed = Stream.feed

    def slow(self: Stream, text: str, speaker: str | None = None) -> Any:
        go_on.wait(PATIENCE)
        return feed(self, text, speaker)

    monkeypatch.setattr(Stream, "feed", slow)
    with running(tmp_path / "data", {"queue": 5}, workers=2) as server, server.client() as client:
        stream = client.post("/v1/streams", json={}).json()["id"]
        with ThreadPoolExecutor(12) as pool:
            waiting = [pool.submit(client.post, f"/v1/streams/{stream}/feed", json={"text": STORY}) for _ in range(12)]
            until = time.monotonic() + PATIENCE
            while sum(one.done() for one in waiting) < 7 and time.monotonic() < until:
                time.sleep(0.01)
            # One who wants events while the text is read is told with a status, too.
            records = client.post("/v1/resolve", json={"text": "a"}, headers={"Accept": "application/x-ndjson"})
            assert (records.status_code, records.headers["retry-after"]) == (429, "1")
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
        go_on.wait(PATIENCE)
        return feed(self, text, speaker)

    with running(tmp_path / "data", {"request_seconds": 2.0}, workers=1) as server, server.client() as client:

        def in_the_end(path: str, **body: Any) -> dict[str, Any]:
            """Two seconds may be too few for anything on a busy machine."""
            until = time.monotonic() + PATIENCE
            while (answer := client.post(f"/v1/streams{path}", json=body)).status_code == 504:
                assert time.monotonic() < until
            assert answer.is_success
            found: dict[str, Any] = answer.json()
            return found

        stream = in_the_end("")["id"]
        monkeypatch.setattr(Stream, "feed", slow)
        with ThreadPoolExecutor(3) as pool:
            waiting = [pool.submit(client.post, f"/v1/streams/{stream}/feed", json={"text": STORY, "call": 1})]
            waiting.append(pool.submit(client.post, f"/v1/streams/{stream}/feed", json={"text": STORY, "call": 1}))
            assert [one.result().status_code for one in waiting] == [504, 504]
            assert client.get(f"/v1/streams/{stream}").status_code == 504  # which waits for its turn, too
        go_on.set()
        again = in_the_end(f"/{stream}/feed", text=STORY, call=1)
        assert (again["position"], again["calls"]) == (len(STORY), 1)


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


def test_who_asks_for_the_head_gets_no_body(server: Running) -> None:
    for path in ("/", "/healthz", "/readyz", "/docs", "/page/main.js"):
        head, whole = (httpx.request(method, f"{server.url}{path}") for method in ("HEAD", "GET"))
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-type"] == whole.headers["content-type"]
    assert httpx.head(f"{server.url}/page/none.js").status_code == 404
    assert httpx.head(f"{server.url}/v1/jobs", headers={"Authorization": f"Bearer {ANNA}"}).status_code == 405


def test_the_description_needs_nothing_from_outside(server: Running) -> None:
    page = httpx.get(f"{server.url}/docs")
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    for what in ("/v1/resolve", "/v1/streams/{stream}/feed", "/v1/jobs/{job}/store", "Anna saw the captain"):
        assert what in page.text
    assert not re.search(r"https?://", page.text)
    assert "<script" not in page.text
    (sheet,) = re.findall(r'rel="stylesheet" href="([^"]+)"', page.text)
    assert httpx.get(f"{server.url}/{sheet}").headers["content-type"].startswith("text/css")


def test_every_body_and_answer_has_an_example_that_is_true(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server, server.client() as client:
        description, page = client.get("/openapi.json").json(), client.get("/docs").text
        shapes = description["components"]["schemas"]
        stream = client.post("/v1/streams", json={}).json()["id"]
        tried = 0
        for path, methods in description["paths"].items():
            for method, operation in methods.items():
                contents = [operation.get("requestBody", {}).get("content", {})]
                contents += [one.get("content", {}) for status, one in operation["responses"].items() if status < "3"]
                for content in contents:
                    if "application/json" not in content:
                        continue
                    name = named(content["application/json"]["schema"])
                    assert shapes[name].get("examples"), (method, path, name)
                    for example in shapes[name]["examples"]:
                        shown = [json.dumps(one, indent=1, ensure_ascii=False) for one in (example, [example])]
                        assert any(escape(one) in page for one in shown), name
                        if (model := getattr(schemas, name, None)) is not None:
                            assert model.model_validate(example).model_dump(exclude_unset=True) == example
                for example in examples_of(operation, shapes):
                    answer = client.request(method, path.format(stream=stream), json=example)
                    assert answer.is_success, (path, example, answer.text)
                    tried += 1
        assert tried > 8


def named(schema: dict[str, Any]) -> str:
    return str(schema.get("items", schema).get("$ref", "")).rpartition("/")[2]


def examples_of(operation: dict[str, Any], shapes: dict[str, Any]) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return list(shapes[named(content["schema"])].get("examples", ())) if content else []


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
