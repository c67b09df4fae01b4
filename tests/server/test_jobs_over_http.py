"""Jobs of a real server: books in, progress, pages of what was found, cancelled, removed, taken up again."""

from __future__ import annotations

import gzip
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

import httpx

from streamcoref import Document
from streamcoref.formats import files, write_documents
from tests import toy_resolver
from tests.server.running import STORY, running, wait_for

BOOK = STORY * 8


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(tmp_path_factory.mktemp("data"), {"file_bytes": 50_000}) as server, server.client() as client:
        yield client


def begin(client: httpx.Client, content: bytes, name: str, **parameters: str) -> str:
    answer = client.post("/v1/jobs", files={"file": (name, content)}, params=parameters)
    assert answer.status_code == 202, answer.text
    assert answer.json()["state"] in ("queued", "reading", "done", "failed")
    return str(answer.json()["id"])


def everything(client: httpx.Client, job: str) -> list[list[tuple[int, int, str]]]:
    """The mentions of all entities, page by page."""
    found = []
    for entity in pages(client, f"/v1/jobs/{job}/entities", "entities", 3):
        path = f"/v1/jobs/{job}/entities/{entity['id']}/mentions"
        mentions = pages(client, path, "mentions", 2)
        assert len(mentions) == entity["size"]
        found.append([(one["start"], one["end"], one["text"]) for one in mentions])
    return sorted(found)


def pages(client: httpx.Client, path: str, name: str, limit: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while True:
        page = client.get(path, params={"offset": len(found), "limit": limit}).json()
        assert len(page[name]) <= limit
        if not page[name]:
            assert page["all"] == len(found)
            return found
        found += page[name]


def expected(text: str, **options: Any) -> list[list[tuple[int, int, str]]]:
    document = toy_resolver.resolver().resolve(text, **options)
    mentions = [[(m.start or 0, m.end or 0, m.text) for m in entity.mentions] for entity in document.entities]
    return sorted(mentions)


@pytest.mark.parametrize("packed", [False, True])
def test_a_book_in_and_its_entities_out(client: httpx.Client, packed: bool) -> None:
    content = BOOK.encode()
    job = begin(client, gzip.compress(content) if packed else content, "book.txt.gz" if packed else "book.txt")
    told = wait_for(client, job, "done", "failed")
    assert told["error"] is None
    assert told["characters"] == told["characters_in_all"] == len(BOOK)
    assert told["name"].startswith("book.txt")
    assert everything(client, job) == expected(BOOK)
    assert client.get(f"/v1/jobs/{job}/text").json() == {"start": 0, "end": len(BOOK), "text": BOOK}
    part = client.get(f"/v1/jobs/{job}/text", params={"start": 10, "end": 30}).json()
    assert part == {"start": 10, "end": 30, "text": BOOK[10:30]}
    for place in (len(BOOK), len(BOOK) + 1, (1 << 50) - 1):
        part = client.get(f"/v1/jobs/{job}/text", params={"start": place, "end": place + 1}).json()
        assert part == {"start": place, "end": place, "text": ""}
    split = Document.from_dict(client.get(f"/v1/jobs/{job}/record").json())
    assert split.words == toy_resolver.resolver().resolve(BOOK).words
    here = client.get(f"/v1/jobs/{job}/mentions", params={"start": 100, "end": 140}).json()["mentions"]
    around = [m for entity in expected(BOOK) for m in entity if m[0] < 140 and m[1] > 100]
    assert sorted((m["start"], m["end"], m["text"]) for m in here) == sorted(around)
    assert around
    assert job in [one["id"] for one in client.get("/v1/jobs").json()["jobs"]]


def test_the_store_is_a_store(client: httpx.Client, tmp_path: Path) -> None:
    job = begin(client, BOOK.encode(), "../../etc/passwd.txt", options='{"singletons": true}')
    wait_for(client, job, "done")
    path = tmp_path / "store.sqlite"
    path.write_bytes(client.get(f"/v1/jobs/{job}/store").content)
    with closing(sqlite3.connect(path)) as connection:
        mentions = connection.execute("SELECT start, end, text FROM mentions").fetchall()
        (origin,) = connection.execute("SELECT path || model FROM input").fetchall()
    assert sorted(mentions) == sorted(m for entity in expected(BOOK, singletons=True) for m in entity)
    assert "/" not in origin[0]  # nothing of the server's folders


def test_entities_by_name(client: httpx.Client) -> None:
    job = begin(client, BOOK.encode(), "book.txt")
    wait_for(client, job, "done")
    whole = pages(client, f"/v1/jobs/{job}/entities", "entities", 100)
    name = whole[0]["name"]
    found = client.get(f"/v1/jobs/{job}/entities", params={"name": name[1:]}).json()["entities"]
    assert whole[0]["id"] in [one["id"] for one in found]
    assert client.get(f"/v1/jobs/{job}/entities", params={"name": "%"}).json()["entities"] == []


def test_documents_of_other_formats_have_a_text_too(client: httpx.Client, tmp_path: Path) -> None:
    document = toy_resolver.resolver().resolve(words=[["Anna", "saw", "the", "captain", "."], ["He", "left", "."]] * 8)
    path = tmp_path / "one.jsonl"
    write_documents([document], path, "jsonlines")
    job = begin(client, path.read_bytes(), "one.jsonl")
    assert wait_for(client, job, "done", "failed")["error"] is None
    text = client.get(f"/v1/jobs/{job}/text").json()["text"]
    assert text == document.with_text().text
    assert client.get(f"/v1/jobs/{job}/record").json()["sentences"] == [list(words) for words in document.sentences]
    mentions = client.get(f"/v1/jobs/{job}/mentions").json()["mentions"]
    assert [text[one["start"] : one["end"]] for one in mentions] == [one["text"] for one in mentions]
    spans = sorted((m.word_start, m.word_end) for entity in document.entities for m in entity.mentions)
    assert sorted((one["word_start"], one["word_end"]) for one in mentions) == spans
    assert spans


@pytest.mark.parametrize(
    ("content", "name", "parameters", "said"),
    [
        (
            b"caf\xe9 au lait",
            "menu.txt",
            {},
            "menu.txt:1: not valid utf-8: byte 0xe9 at offset 3; name the encoding with ?encoding=",
        ),
        (b"%PDF-1.4 ...", "a.pdf", {}, "a.pdf: this PDF is damaged"),
        (b"{}", "a.jsonl", {}, "a.jsonl"),
        (gzip.compress(b"a" * 300_000, mtime=0), "a.gz", {}, "200,000 bytes when it is unpacked"),
        (gzip.compress(b"abc" * 500, mtime=0)[:-9], "a.gz", {}, "damaged gzip data"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    client: httpx.Client, content: bytes, name: str, parameters: dict[str, str], said: str
) -> None:
    told = wait_for(client, begin(client, content, name, **parameters), "failed")
    assert said in told["error"]
    assert "upload" not in told["error"]
    assert "/" not in told["error"].replace("://", "")
    assert client.get(f"/v1/jobs/{told['id']}/store").status_code == 409


def test_other_encodings(client: httpx.Client) -> None:
    job = begin(client, "Anna saw the café.".encode("latin-1"), "a.txt", encoding="latin-1")
    wait_for(client, job, "done")
    assert client.get(f"/v1/jobs/{job}/text").json()["text"] == "Anna saw the café."


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"encoding": "klingon"}, 400),
        ({"format": "poem"}, 400),
        ({"options": "{"}, 422),
        ({"options": "[]"}, 422),
        ({"options": '{"speed": 1}'}, 400),
        ({"options": '{"genre": "poem"}'}, 400),
        ({"name": "x" * 400}, 422),
    ],
)
def test_what_could_only_fail_is_refused_at_once(client: httpx.Client, parameters: dict[str, str], status: int) -> None:
    before = len(client.get("/v1/jobs").json()["jobs"])
    assert client.post("/v1/jobs", content=b"Anna left.", params=parameters).status_code == status
    assert len(client.get("/v1/jobs").json()["jobs"]) == before


def test_a_file_too_large(client: httpx.Client) -> None:
    assert client.post("/v1/jobs", content=b"a" * 50_001).status_code == 413
    assert client.post("/v1/jobs", content=iter([b"a" * 30_000] * 2)).status_code == 413
    assert client.post("/v1/jobs", files={"file": ("a.txt", b"a" * 60_000)}).status_code == 413
    assert client.post("/v1/jobs", data={"file": "no file"}, files={"other": b"x"}).status_code == 422


def test_progress_as_server_sent_events(client: httpx.Client) -> None:
    job = client.post("/v1/jobs", content=BOOK.encode(), params={"name": "raw.txt"}).json()["id"]
    with client.stream("GET", f"/v1/jobs/{job}/progress") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        records = [json.loads(line.removeprefix("data: ")) for line in answer.iter_lines() if line]
    assert [one["event"] for one in records[:-1]] == ["progress"] * (len(records) - 1)
    assert (records[-1]["event"], records[-1]["state"], records[-1]["id"]) == ("done", "done", job)
    assert [one["words"] for one in records] == sorted(one["words"] for one in records)


def test_a_job_is_cancelled_and_then_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK_BYTES", 200)
    with running(tmp_path / "data") as server, server.client() as client:
        long = begin(client, (STORY * 300).encode(), "long.txt")
        waits = begin(client, BOOK.encode(), "waits.txt")
        wait_for(client, long, "reading")
        assert client.get(f"/v1/jobs/{waits}").json()["state"] == "queued"
        assert client.delete(f"/v1/jobs/{long}").json() == {"id": long, "state": "cancelled"}
        assert wait_for(client, waits, "done")  # its turn has come
        assert client.get(f"/v1/jobs/{long}").json()["state"] == "cancelled"
        assert client.get(f"/v1/jobs/{long}/entities").status_code == 200
        assert client.delete(f"/v1/jobs/{long}").json() == {"id": long, "state": "removed"}
        assert client.get(f"/v1/jobs/{long}").status_code == 404
        assert {path.name for path in (tmp_path / "data/jobs").iterdir()} == {waits}


def test_a_job_goes_on_when_the_server_is_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK_BYTES", 500)
    book = STORY * 20
    with running(tmp_path / "data") as server, server.client() as client:
        job = begin(client, book.encode(), "book.txt")
        while client.get(f"/v1/jobs/{job}").json()["words"] < 200:
            time.sleep(0.02)
    with running(tmp_path / "data") as server, server.client() as client:
        first = client.get(f"/v1/jobs/{job}/progress").text.split("\n")[0]
        assert json.loads(first.removeprefix("data: "))["words"] >= 200
        assert wait_for(client, job, "done")["characters"] == len(book)
        assert everything(client, job) == expected(book)
