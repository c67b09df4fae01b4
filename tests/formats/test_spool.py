"""Documents set aside on disk come back as they were."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from generated_documents import documents
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.formats.spool import DocumentSpool


@given(st.lists(documents(words=st.text(max_size=3), texts=True), max_size=3))
def test_what_is_added_comes_back_in_order(given_documents: list[Document]) -> None:
    with DocumentSpool() as spool:
        for document in given_documents:
            spool.add(document)
        assert list(spool) == given_documents
        assert list(spool) == given_documents, "as often as it is read"


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with DocumentSpool() as spool:
        spool.add(Document.from_sentences("a", [["b"]]))
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told_to_those_who_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        return Path("/dev/full").open("r+", encoding="ascii")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with DocumentSpool() as spool:
        for size in (1, 100_000, 1):
            spool.add(Document.from_sentences("a", [["b"] * size]))
        with pytest.raises(StreamcorefError, match=r"documents cannot be set aside in .*: No space left"):
            list(spool)
