"""Jobs of books as they come: the text that was taken out is the one that is shown, and all places are in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")
pytest.importorskip("lxml", reason="the extra books is not installed")

import httpx

from streamcoref import Document
from streamcoref.store import Store
from tests import toy_resolver
from tests.server.running import STORY, running, wait_for
from tests.text.books.making import epub, page, pdf

PROSE = STORY.strip()
TEXT = f"One\n\n{PROSE}\n\nTwo\n\n{PROSE}"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(tmp_path_factory.mktemp("data")) as server, server.client() as client:
        yield client


def job_of(client: httpx.Client, content: bytes, name: str, **parameters: str) -> dict[str, str]:
    answer = client.post("/v1/jobs", files={"file": (name, content)}, params=parameters)
    assert answer.status_code == 202, answer.text
    return wait_for(client, answer.json()["id"], "done", "failed")


@pytest.mark.parametrize("kind", ["epub", "html", "md"])
def test_a_book_in_and_its_entities_out(client: httpx.Client, tmp_path: Path, kind: str) -> None:
    pages = {f"{title}.xhtml": page(f"<h2>{title}</h2><p>{PROSE}</p>") for title in ("One", "Two")}
    content = {
        "epub": epub(pages),
        "html": f"<h2>One</h2><p>{PROSE}</p><h2>Two</h2><p>{PROSE}</p>".encode(),
        "md": f"# One\n\n{PROSE}\n\n# Two\n\n{PROSE}\n".encode(),
    }[kind]
    told = job_of(client, content, f"My book.{kind}")
    assert (told["state"], told["error"]) == ("done", None)
    job = told["id"]
    assert client.get(f"/v1/jobs/{job}/text").json()["text"] == TEXT
    found = client.get(f"/v1/jobs/{job}/mentions").json()["mentions"]
    expected = [m for entity in toy_resolver.resolver().resolve(TEXT).entities for m in entity.mentions]
    assert sorted((m["start"], m["end"], m["text"]) for m in found) == sorted(
        (m.start, m.end, m.text) for m in expected
    )
    assert found
    split = Document.from_dict(client.get(f"/v1/jobs/{job}/record").json())
    assert (split.text, [one.title for one in split.sections]) == (TEXT, ["One", "Two"])
    (tmp_path / "job.sqlite").write_bytes(client.get(f"/v1/jobs/{job}/store").content)
    with Store.open(tmp_path / "job.sqlite") as store:
        assert "".join(store.text() or ()) == TEXT
        assert [one.title for one in store.sections()] == ["One", "Two"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.epub", b"PK\x03\x04", "a.epub: this e-book is damaged: File is not a zip file"),
        ("a.pdf", pdf([[]]), "a.pdf: this PDF has no text layer"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40), "a.doc: this is an old Office file"),
        ("a.html", "<p>Café".encode("latin-1"), "go on with ?errors=replace"),
    ],
)
def test_what_cannot_be_read_is_a_job_that_failed(client: httpx.Client, name: str, content: bytes, said: str) -> None:
    told = job_of(client, content, name)
    assert told["state"] == "failed"
    assert said in told["error"]
    assert "\n" not in told["error"]
