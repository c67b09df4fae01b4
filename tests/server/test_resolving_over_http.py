"""`/v1/resolve` against a real server: the answers of the library, at once or while a text is read."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

import httpx

from streamcoref import Document
from streamcoref.events import with_answer
from streamcoref.formats import FORMATS
from streamcoref.server import routes_resolve
from tests import toy_resolver
from tests.server.running import STORY, running

TURNS = [["Anna", "I saw the captain. He left."], [None, "the old ship"], ["Ben", "She told him that it was late."]]
INPUTS: list[dict[str, Any]] = [
    {"text": STORY * 6, "key": "a story"},
    {"text": ""},
    {"text": "Anna \ud800 saw the captain. He left."},
    {"words": [["Anna", "left", "."], ["She", "saw", "the", "captain", "."]] * 30},
    {"words": [["I", "left", "."], ["She", "saw", "me"]], "speakers": ["Anna", ["Ben", "Ben", "Cy"]]},
    {"turns": TURNS},
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    limits = {"text_characters": 100_000, "body_bytes": 1_000_000, "batch_texts": 5}
    with running(tmp_path_factory.mktemp("data"), limits) as server, server.client() as client:
        yield client


def send(client: httpx.Client, path: str, body: object, **headers: str) -> httpx.Response:
    """JSON as `json.dumps` makes it, which escapes half characters."""
    return client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json", **headers})


def expected(given: dict[str, Any], **options: Any) -> Any:
    """What the command line writes with `--format json`."""
    document = toy_resolver.resolver().resolve(**given, **options)
    stream = io.StringIO()
    writer = FORMATS["json"].write
    assert writer is not None
    writer([document], stream)
    return json.loads(stream.getvalue())[0]


@pytest.mark.parametrize("given", INPUTS, ids=lambda given: "-".join(given))
@pytest.mark.parametrize("options", [{}, {"singletons": True, "evict": "none"}], ids=["plain", "options"])
def test_the_answer_is_what_the_library_writes(
    client: httpx.Client, given: dict[str, Any], options: dict[str, Any]
) -> None:
    answer = send(client, "/v1/resolve", {**given, "options": options})
    assert answer.status_code == 200, answer.text
    assert answer.json() == expected(given, **options)


@pytest.mark.parametrize("given", INPUTS, ids=lambda given: "-".join(given))
@pytest.mark.parametrize("kind", ["application/x-ndjson", "text/event-stream"])
def test_events_while_it_is_read_make_the_same_answer(client: httpx.Client, given: dict[str, Any], kind: str) -> None:
    answer = send(client, "/v1/resolve", given, Accept=kind)
    assert answer.headers["content-type"].startswith(kind)
    lines = [line.removeprefix("data: ") for line in answer.text.split("\n") if line]
    records = [json.loads(line) for line in lines]
    whole = expected(given)
    assert records[-1] == {"event": "done"}
    told = [one for one in records if one["event"] == "progress"]
    in_all = whole["words"] if "words" in given else len(whole["text"])
    assert told[0] == {"event": "progress", "characters": 0, "characters_in_all": in_all, "words": 0, "entities": 0}
    assert told[-1]["characters"] == in_all
    assert told[-1]["words"] == whole["words"]
    found: dict[int, list[Any]] = {}
    for one in records:
        if "mention" in one:
            assert one["document"] == given.get("key", "text")
            found.setdefault(one["entity"], []).append(one["mention"])
    places = ("word_start", "word_end", "score") + (() if "words" in given else ("start", "end", "text"))
    seen = sorted([[mention[name] for name in places] for mention in mentions] for mentions in found.values())
    assert seen == sorted([[mention[name] for name in places] for mention in e["mentions"]] for e in whole["entities"])


def test_progress_comes_between_events(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes_resolve, "CHUNK", 200)
    answer = send(client, "/v1/resolve", {"text": STORY * 6}, Accept="application/x-ndjson")
    kinds = [json.loads(line)["event"] for line in answer.text.splitlines()]
    assert kinds.count("progress") > 5
    assert "mention_linked" in kinds[kinds.index("progress", 2) : -2]


def test_packed_both_ways(client: httpx.Client) -> None:
    body = gzip.compress(json.dumps({"text": STORY * 4}).encode())
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json", "Accept-Encoding": "gzip"}
    answer = client.post("/v1/resolve", content=body, headers=headers)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.json() == expected({"text": STORY * 4})
    plain = client.post("/v1/resolve", content=body, headers={**headers, "Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == answer.json()


@pytest.mark.parametrize("given", INPUTS, ids=lambda given: "-".join(given))
def test_a_text_is_split_as_it_is_read(client: httpx.Client, given: dict[str, Any]) -> None:
    answer = send(client, "/v1/split", given)
    document = toy_resolver.resolver().resolve(**given).with_text()
    split = Document.from_dict(answer.json())
    assert (split.words, split.sentence_ends, split.text, split.speakers, split.offsets) == (
        document.words,
        document.sentence_ends,
        document.text,
        document.speakers,
        document.offsets,
    )


def test_a_batch_is_the_texts_one_by_one(client: httpx.Client) -> None:
    texts: list[dict[str, Any]] = [{"text": STORY, "key": "one"}, {"turns": TURNS}, {"text": "", "key": "none"}]
    answer = send(client, "/v1/resolve/batch", {"texts": texts, "options": {"singletons": True}})
    assert answer.json() == [expected(one, singletons=True) for one in texts]
    assert send(client, "/v1/resolve/batch", {"texts": []}).json() == []


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/v1/resolve", {}, 422, "give one of text, words and turns"),
        ("/v1/resolve", {"text": "a", "words": [["b"]]}, 422, "give one of"),
        ("/v1/resolve", {"text": "a", "speakers": "Anna"}, 422, "speakers go with words"),
        ("/v1/resolve", {"words": [["a"]], "speakers": ["x", "y"]}, 422, "2 speakers for 1 sentences"),
        ("/v1/resolve", {"text": "a", "model": "/etc/passwd"}, 422, "model: unknown key"),
        ("/v1/resolve", {"text": "a", "options": {"speed": 1}}, 400, "there is no option 'speed'"),
        ("/v1/resolve", {"text": "a", "options": {"genre": "poem"}}, 400, "no genre 'poem'"),
        ("/v1/resolve", {"text": "a" * 100_001}, 413, "100,000 are allowed"),
        ("/v1/resolve", {"text": "a" * 1_000_001}, 413, "1,000,000 bytes are allowed"),
        ("/v1/resolve/batch", {"texts": [{"text": "a"}] * 6}, 413, "5 are allowed"),
        ("/v1/resolve/batch", {"texts": [{"text": "a" * 60_000}] * 2}, 413, "100,000 are allowed"),
        ("/v1/resolve/batch", {"texts": [{"text": "a"}], "options": {"genre": "poem"}}, 400, "no genre 'poem'"),
        ("/v1/nothing", {}, 404, "nothing of this name"),
    ],
)
def test_what_is_wrong_is_said(client: httpx.Client, path: str, body: object, status: int, said: str) -> None:
    answer = send(client, path, body)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert said in answer.json()["error"]
    if path == "/v1/resolve":  # the same before the first record of a stream of them
        assert send(client, path, body, Accept="application/x-ndjson").status_code == status


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        (b'{"text": "Anna"', "application/json", "no JSON; what is wrong is near character 15"),
        (b"[1]", "application/json", "must be a JSON object"),
        (b"", "application/json", "must be a JSON object"),
        (b'{"text": "Anna left."}', "application/x-www-form-urlencoded", "sent with Content-Type: application/json"),
    ],
)
def test_a_body_that_is_no_json_object(client: httpx.Client, content: bytes, kind: str, said: str) -> None:
    for path in ("/v1/resolve", "/v1/resolve/batch", "/v1/streams", "/v1/split"):
        answer = client.post(path, content=content, headers={"Content-Type": kind})
        assert answer.status_code == 422
        assert said in answer.json()["error"]


def test_a_small_body_cannot_become_a_large_one(client: httpx.Client) -> None:
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < 100_000
    assert client.post("/v1/resolve", content=bomb, headers=headers).status_code == 413
    assert client.post("/v1/resolve", content=bomb[:40], headers=headers).status_code == 400
    assert client.post("/v1/resolve", content=b"no gzip", headers=headers).status_code == 400
    headers["Content-Encoding"] = "br"
    assert client.post("/v1/resolve", content=b"{}", headers=headers).status_code == 415


def test_the_events_of_a_document_are_those_of_the_library() -> None:
    """Only to be sure that the comparison above could fail: events make clusters, and these are not empty."""
    stream = toy_resolver.resolver().stream()
    events = stream.feed(STORY * 6) + stream.close()
    document = toy_resolver.resolver().resolve(STORY * 6)
    assert with_answer(document, events).predicted_clusters == document.predicted_clusters
    assert len(expected({"text": STORY * 6})["entities"]) > 3
