"""Mentions in context: what stands around them in the text that the store was made from, and in no other."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.document import Document, Mention
from streamcoref.errors import InputError
from streamcoref.formats import write_documents
from streamcoref.store import Store, mentions_in_context
from streamcoref.store.listing import in_context
from tests import toy_resolver


@given(st.text(max_size=200), st.lists(st.integers(0, 200), min_size=2), st.integers(0, 30), st.integers(1, 50))
def test_context_is_what_stands_around(text: str, places: list[int], width: int, chunk: int) -> None:
    spans = sorted((a, b) for a, b in pairwise(places) if a < b <= len(text))
    mentions = [Mention(a, b, a, b, text[a:b], 0) for a, b in spans]
    chunks = (text[i : i + chunk] for i in range(0, len(text), chunk))
    found = list(in_context(mentions, chunks, width))
    assert [(c.before, c.mention.text, c.after) for c in found] == [
        (text[max(0, a - width) : a], text[a:b], text[b : b + width]) for a, b in spans
    ]


def check(store: Store, text: str) -> None:
    (entity, *_) = store.entities()
    found = list(mentions_in_context(store, entity.id, 10))
    assert len(found) == entity.size > 1
    for before, mention, after in found:
        assert mention.start is not None
        assert mention.end is not None
        assert text[mention.start : mention.end] == mention.text
        assert text[: mention.start].endswith(before)
        assert text[mention.end :].startswith(after)
        assert (len(before), len(after)) == (min(10, mention.start), min(10, len(text) - mention.end))


def test_the_text_of_a_store(tmp_path: Path) -> None:
    text = toy_resolver.plain_text(4, 300)
    path = tmp_path / "book.txt"
    path.write_bytes(text.encode("utf-16"))
    with toy_resolver.resolver().resolve_file(path, tmp_path / "book.sqlite", encoding="utf-16") as store:
        check(store, text)
        path.write_bytes(b"Something else.")
        with pytest.raises(InputError, match=r"book\.txt: the text is no longer there or has changed"):
            mentions_in_context(store, 0, 10)


def test_the_document_of_a_store(tmp_path: Path) -> None:
    """Words without a text of their own are shown joined by blanks, as everywhere."""
    document = Document.from_sentences("a", [toy_resolver.plain_text(4, 20).split() for _ in range(10)])
    path = tmp_path / "corpus.jsonl"
    write_documents([document], path, "jsonlines")
    with toy_resolver.resolver().resolve_file(path, tmp_path / "book.sqlite") as store:
        check(store, document.with_text().text or "")
        other = replace(document, words=("Carl", *document.words[1:]))
        for documents in ([replace(document, key="b"), document], [other]):
            write_documents(documents, path, "jsonlines", force=True)
            if documents == [other]:
                with pytest.raises(InputError, match="no longer there or has changed"):
                    mentions_in_context(store, 0, 10)
            else:
                check(store, document.with_text().text or "")
        path.unlink()
        with pytest.raises(InputError, match="no longer there or has changed"):
            mentions_in_context(store, 0, 10)


def test_the_example_of_the_docs_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text(toy_resolver.plain_text(4, 300))
    toy_resolver.resolver().resolve_file("book.txt", "book.sqlite", singletons=True).close()
    page = (Path(__file__).resolve().parents[2] / "docs" / "store.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    exec(compile(example, "docs/store.md", "exec", dont_inherit=True), {})
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\d+ words, \d+ entities, \d+ mentions", lines[0])
    assert len(lines) > 11
    assert "Anna" in lines[-1]
