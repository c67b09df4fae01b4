"""What is in a corpus, counted through Python."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from streamcoref.corpora import CorpusCounts, count_corpus
from streamcoref.errors import InputError


def put(path: Path, key: str, clusters: list[list[list[int]]], **values: object) -> Path:
    record = {"doc_key": key, "sentences": [["a", "b"], ["c"]], "clusters": clusters} | values
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return path


def test_a_folder_is_counted_as_published(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", "news/a", [[[0, 0], [0, 0], [1, 1]], [[1, 1]]], speakers=["x", "y"])
    put(tmp_path / "b.jsonl", "b", [])
    assert count_corpus(tmp_path) == CorpusCounts(
        documents=2,
        words=6,
        longest=3,
        mentions=3,
        clusters=2,
        singletons=1,
        multi_speaker_documents=1,
        genres={"news": 1},  # type: ignore[arg-type]
    )


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = put(tmp_path / "a.jsonl", "a", [[[0, 0]]]).read_text(encoding="utf-8")
    writer = threading.Thread(target=pipe.write_text, args=(content,))
    writer.start()
    assert count_corpus(pipe).mentions == 1
    writer.join()


def test_sums_and_plain_values(tmp_path: Path) -> None:
    one = count_corpus(put(tmp_path / "a.jsonl", "news/a", [[[0, 0]]]))
    both = CorpusCounts()
    both.merge(one)
    both.merge(one)
    assert both.to_dict() == {
        "documents": 2,
        "words": 6,
        "longest": 3,
        "mentions": 2,
        "clusters": 2,
        "singletons": 2,
        "multi_speaker_documents": 0,
        "genres": {"news": 2},
    }


def test_what_a_document_may_not_hold_is_found(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", "a", [], text="a b c", offsets=[[0, 1]])
    with pytest.raises(InputError, match=r"a\.jsonl:1: .*1 character offsets for 3 words"):
        count_corpus(path)
    (tmp_path / "what").write_text("?\n")
    with pytest.raises(InputError, match="not a format we know"):
        count_corpus(tmp_path / "what")
