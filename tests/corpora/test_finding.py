"""Corpora as a user names them: files, folders, lists of names."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from streamcoref.corpora import corpus_files, read_corpus
from streamcoref.errors import InputError


def put(path: Path, *keys: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps({"doc_key": key, "sentences": [["Ann", "slept", "."]]}) + "\n" for key in keys)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines, encoding="utf-8")
    return path


def keys(path: Path) -> list[str]:
    return [document.key for document in read_corpus(path)]


def test_a_file_is_itself(tmp_path: Path) -> None:
    file = put(tmp_path / "one.jsonl", "b", "a")
    assert corpus_files(file) == [file]
    assert corpus_files(str(file)) == [file]
    assert keys(file) == ["b", "a"]


def test_a_folder_is_its_files_in_order(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        put(tmp_path / f"{name}.jsonl", name)
    put(tmp_path / ".hidden.jsonl", "hidden")
    put(tmp_path / "below" / "d.jsonl", "d")
    (tmp_path / "dev.ids").write_text("a\n")
    for name in ("README.md", "index.html", "guidelines.pdf", "paper.docx", "book.epub", "notes.md.gz"):
        (tmp_path / name).write_text("nothing annotated")
    assert keys(tmp_path) == ["a", "b", "c"]


def test_a_list_names_files_anywhere_below_it_in_its_order(tmp_path: Path) -> None:
    put(tmp_path / "x" / "one.jsonl", "1")
    put(tmp_path / "y" / "z" / "two.v4.jsonl.gz", "2")
    put(tmp_path / "three.jsonl", "3")
    put(tmp_path / "x" / "four.jsonl", "4")
    (tmp_path / "three.ids").write_text("one\n")  # a list is never a document of another
    names = tmp_path / "dev.ids"
    names.write_text("three\n\n  two.v4  \none\n")
    assert keys(names) == ["3", "2", "1"]


def test_other_things_about_the_documents_may_lie_beside_them(tmp_path: Path) -> None:
    put(tmp_path / "documents" / "one.jsonl.gz", "1")
    for folder, suffix in (("a", "tsv"), ("z", "tsv"), ("b", "csv"), ("c", "txt")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"one.{suffix}").write_text("MENTION")
    names = tmp_path / "dev.ids"
    names.write_text("one\n")
    assert keys(names) == ["1"]
    (tmp_path / "documents" / "one.jsonl.gz").unlink()
    assert corpus_files(names) == [tmp_path / "c" / "one.txt"]
    (tmp_path / "c" / "one.txt").unlink()
    with pytest.raises(InputError, match=r"one may be .*a/one\.tsv or .*b/one\.csv; keep only one"):
        corpus_files(names)


def test_documents_come_one_by_one(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", "a")
    (tmp_path / "b.jsonl").write_text("{broken\n")
    documents = read_corpus(tmp_path)
    assert next(documents).key == "a"
    with pytest.raises(InputError, match=r"b\.jsonl:1"):
        next(documents)


def test_the_format_can_be_forced(tmp_path: Path) -> None:
    file = tmp_path / "story.jsonl"
    file.write_text("Ann slept. She snored.\n")
    assert [len(document.sentence_ends) for document in read_corpus(file, "text")] == [2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("one\nmissing\nlost\n", r"dev\.ids:2: no files below .* for missing, lost$"),
        ("one\n" + "".join(f"m{i}\n" for i in range(9)), r"dev\.ids:2: .* for m0, m1, m2, m3, m4 and 4 more$"),
        ("one\none\n", r"dev\.ids:2: one is listed twice, first in line 1"),
        ("\n", r"dev\.ids: this list names no documents"),
        ("twin\n", r"dev\.ids:1: twin may be .*a/twin\.jsonl or .*b/twin\.jsonl"),
    ],
)
def test_what_is_wrong_with_a_list(tmp_path: Path, text: str, message: str) -> None:
    put(tmp_path / "one.jsonl", "1")
    put(tmp_path / "a" / "twin.jsonl", "2")
    put(tmp_path / "b" / "twin.jsonl", "3")
    names = tmp_path / "dev.ids"
    names.write_text(text)
    with pytest.raises(InputError, match=message):
        corpus_files(names)


def test_what_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        corpus_files(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no files in this folder"):
        corpus_files(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="only once"):
        corpus_files(tmp_path / "pipe")


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "documents", "words"), [("litbank", 10, 20438), ("ontogum", 20, 18432)])
def test_published_lists(shared: Path, name: str, documents: int, words: int) -> None:
    found = [len(document.words) for document in read_corpus(shared / "corpora" / name / "dev.ids")]
    assert (len(found), sum(found)) == (documents, words)
