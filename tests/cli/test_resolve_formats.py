"""`streamcoref resolve` on files that have words, sentences and speakers already."""

from __future__ import annotations

import json
import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.cli.resolve.inputs import file_name
from streamcoref.document import Document
from streamcoref.formats import FORMATS, read_documents, write_documents
from streamcoref.formats.conll2012 import FORMAT as CONLL
from streamcoref.resolver import load
from streamcoref.text import document_from_text
from tests.cli.toy_resolving import invoke, rows, run, save_model, text
from tests.model import toys

STORY = text(150)


def document(key: str, seed: int = 3, words: int = 120) -> Document:
    """With gold clusters and speakers, which are the document's own."""
    plain = replace(toys.document(seed, words), key=key)
    return replace(plain, clusters=(((0, 1), (4, 6)),), speakers=tuple(f"s{i % 2}" for i in range(words)))


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spans(given: list[dict[str, object]]) -> list[tuple[object, object]]:
    return sorted((m["word_start"], m["word_end"]) for e in given for m in e["mentions"])  # type: ignore[attr-defined]


@pytest.mark.parametrize("format_name", ["jsonlines", "conll", "conllu", "litbank"])
def test_documents_are_resolved_by_their_own_words(format_name: str, model: Path) -> None:
    documents = [document("a"), document("b", 4)]
    if format_name in ("conllu", "litbank"):
        documents = [replace(one, speakers=()) for one in documents]
    path = "given" + FORMATS[format_name].endings[0]
    write_documents(documents, path, format_name)
    expected = [load(model).resolve(document=one) for one in read_documents(path)]
    answered = json.loads(run(model, path, "--format", "json"))
    assert [one["key"] for one in answered] == [one.key for one in expected]
    for one, other in zip(answered, expected, strict=True):
        assert one["words"] == len(other.words) == 120
        assert one["sentences"] == len(other.sentence_ends)
        assert spans(one["entities"]) == sorted(m for cluster in other.predicted_clusters or () for m in cluster)
        assert len(one["entities"]) > 5


def test_what_a_document_has_is_kept(model: Path) -> None:
    given = replace(document("a"), genre="novel")
    write_documents([given], "given.jsonl", "jsonlines")
    run(model, "given.jsonl", "-o", "answer.jsonl")
    (answered,) = read_documents("answer.jsonl")
    assert answered == load(model).resolve(document=given)
    assert (answered.speakers, answered.genre, answered.clusters) == (given.speakers, given.genre, given.clusters)
    assert answered.predicted_clusters


def test_a_text_and_its_words_have_one_answer(model: Path) -> None:
    """A text that was written as a document is read again to the same entities, with the same characters."""
    Path("story.txt").write_text(STORY, encoding="utf-8", newline="")
    run(model, "story.txt", "-o", "story.jsonl")
    for arguments in ([], ["--format", "json"], ["--format", "csv"], ["--format", "resolved"]):
        assert run(model, "story.jsonl", *arguments) == run(model, "story.txt", *arguments)
    events = [json.loads(line) for line in run(model, "story.jsonl", "--format", "events").splitlines()]
    assert [e["mention"] for e in events if "mention" in e] == [
        e["mention"]
        for e in map(json.loads, run(model, "story.txt", "--format", "events").splitlines())
        if "mention" in e
    ]


def test_a_baseline_reads_documents_too(place: Path) -> None:
    baseline = save_model(place / "baseline", kind="baseline")
    write_documents([document("a")], "given.jsonl", "jsonlines")
    (answered,) = json.loads(run(baseline, "given.jsonl", "--format", "json"))
    expected = load(baseline).resolve(document=document("a"))
    assert spans(answered["entities"]) == sorted(m for c in expected.predicted_clusters or () for m in c)


def test_texts_and_documents_together(model: Path) -> None:
    Path("story.txt").write_text(STORY, encoding="utf-8", newline="")
    write_documents([document("a"), document("b")], "given.conll", "conll")
    answered = json.loads(run(model, "story.txt", "given.conll", "--format", "json"))
    assert [one["key"] for one in answered] == ["story", "a", "b"]


# Folders and stores


def test_in_a_folder_each_document_has_its_own_file(model: Path) -> None:
    keys = ["bc/cctv/00", "../up", ".hidden", "é é"]
    write_documents([document(key) for key in keys], "given.jsonl", "jsonlines")
    run(model, "given.jsonl", "-o", "out/", "--format", "json")
    names = ["%2E.%2Fup", "%2Ehidden", "bc%2Fcctv%2F00", "é é"]
    assert sorted(p.name for p in Path("out").iterdir()) == [f"{name}.json" for name in names]
    assert json.loads(Path("out/%2E.%2Fup.json").read_text(encoding="utf-8"))[0]["key"] == "../up"
    run(model, "given.jsonl", "-o", "stores/", "--format", "sqlite")
    assert sorted(p.name for p in Path("stores").iterdir()) == [f"{name}.sqlite" for name in names]
    stores = [rows(path) for path in sorted(Path("stores").iterdir())]
    assert all(store["mentions"] == stores[0]["mentions"] for store in stores)
    assert all(store["input"][0][-1] == 1 for store in stores)
    result = invoke("resolve", "--model", model, "given.jsonl", "-o", "stores/", "--format", "sqlite")
    assert result.stderr.count("complete already, nothing to do") == len(keys)


def test_a_folder_of_another_format(model: Path) -> None:
    for folder in ("in/deep", "in"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_documents([document(Path(folder).name)], Path(folder, "x.conll"), "conll")
    Path("in/notes.txt").write_text("Anna ran.")
    run(model, "in", "--from", "conll", "-o", "out/", "--format", "json")
    assert sorted(str(p) for p in Path("out").rglob("*.json")) == ["out/deep/deep.json", "out/in.json"]
    assert [d["key"] for d in json.loads(run(model, "in", "--format", "json"))] == ["notes"]


def test_a_store_holds_one_text(model: Path) -> None:
    write_documents([document("a"), document("b")], "given.jsonl", "jsonlines")
    said = run(model, "given.jsonl", "-o", "a.sqlite", status=2)
    assert said == "streamcoref: a.sqlite: a store holds one text, and there are 2; name a folder, as in -o stores/\n"
    content = Path("given.jsonl").read_bytes()
    said = run(model, "-", "--from", "jsonlines", "-o", "a.sqlite", status=2, given=content)
    assert "-: a store holds one text, and this file has several; name a folder, as in -o stores/" in said
    assert not Path("a.sqlite").exists()
    write_documents([document("a")], "given.jsonl", "jsonlines", force=True)
    run(model, "given.jsonl", "-o", "a.sqlite")
    expected = load(model).resolve(document=document("a"))
    found = [row[4:6] for row in rows(Path("a.sqlite"))["mentions"]]
    assert sorted(found) == sorted(m for cluster in expected.predicted_clusters or () for m in cluster)


def test_two_documents_of_one_key_are_not_written_over_each_other(model: Path) -> None:
    write_documents([document("a"), document("a", 5)], "given.jsonl", "jsonlines")
    said = run(model, "given.jsonl", "-o", "out/", "--format", "json", status=2)
    assert "two documents of given.jsonl would both be written to out/a.json" in said
    assert len(json.loads(run(model, "given.jsonl", "--format", "json"))) == 2
    content = Path("given.jsonl").read_bytes()
    said = run(model, "-", "--from", "jsonlines", "-o", "out/", "--format", "json", status=2, given=content)
    assert "out/a.json: two documents would be written to it" in said


# Standard input


def test_standard_input_is_prose_unless_it_is_said_what_it_is(model: Path) -> None:
    write_documents([document("a"), document("b")], "given.conll", "conll")
    content = Path("given.conll").read_bytes()
    assert "-: this looks like the format conll, not like plain text; say what it is with --from" in run(
        model, status=2, given=content
    )
    for arguments in (["-", "--from", "conll"], ["--from", "conll"]):
        assert run(model, *arguments, given=content) == run(model, "given.conll")
    assert run(model, "--from", "text", given=content).startswith("standard-input: ")
    run(model, "--from", "conll", "-o", "out/", "--format", "sqlite", given=content)
    assert sorted(path.name for path in Path("out").iterdir()) == ["a.sqlite", "b.sqlite"]


def test_live_reads_documents_too(model: Path) -> None:
    write_documents([document("a"), document("b", 4)], "given.jsonl", "jsonlines")
    events = run(model, "given.jsonl", "--format", "events")
    assert run(model, "given.jsonl", "--live", "--format", "events") == events
    assert {json.loads(line)["document"] for line in events.splitlines()} == {"a", "b"}
    assert run(model, "--live", "--from", "jsonlines", given=Path("given.jsonl").read_bytes()).count("begins") > 5


# What a user may get wrong


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["broken.jsonl"], "broken.jsonl:2: "),
        (["empty.jsonl"], "empty.jsonl: there is no document in this file"),
        (["good.jsonl", "--encoding", "latin-1"], "good.jsonl: files of the format jsonlines are UTF-8"),
        (["good.jsonl", "--from", "conllu"], "good.jsonl"),
        (["good.jsonl", "-o", "good.jsonl", "--force"], "good.jsonl: this is the text itself"),
        (["answer.json"], "say what it is with --from"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], said: str, place: Path, model: Path) -> None:
    write_documents([document("a")], "good.jsonl", "jsonlines")
    Path("broken.jsonl").write_text(Path("good.jsonl").read_text() + '{"doc_key": "b", "sentences": 7}\n')
    Path("empty.jsonl").write_text("")
    Path("answer.json").write_text('[{"key": "a", "entities": []}]\n')
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert said in run(model, *arguments, status=2)
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


def test_one_bad_file_among_many(model: Path) -> None:
    write_documents([document("a"), document("b")], "good.jsonl", "jsonlines")
    Path("broken.jsonl").write_text("{}\n")
    said = run(model, "broken.jsonl", "good.jsonl", "-o", "all.json", status=1)
    assert said.startswith("streamcoref: broken.jsonl:1: ")
    assert [d["key"] for d in json.loads(Path("all.json").read_text(encoding="utf-8"))] == ["a", "b"]


def test_one_document_that_a_format_cannot_hold(model: Path) -> None:
    short = Document.from_sentences("short", [["Anna"]])
    write_documents([short, document_from_text("long", STORY)], "given.jsonl", "jsonlines")
    said = run(model, "given.jsonl", "-o", "all.conll", status=1)
    assert "document 'long'" in said
    assert [d.key for d in read_documents("all.conll", CONLL.name)] == ["short"]


@given(st.text(), st.text())
def test_keys_are_safe_and_different_as_file_names(key: str, other: str) -> None:
    name = file_name(key)
    assert name
    assert not name.startswith(".")
    assert not set(name) & set('/\\\0\n:*?<>|"')
    assert len(name.encode()) <= 200
    assert (name == file_name(other)) == (key == other)


def test_ordinary_keys_stay_as_they_are_and_long_ones_are_cut() -> None:
    ordinary = string.ascii_letters + string.digits + "-_.+=@ é"
    assert file_name(ordinary) == ordinary
    long = "a/b" * 1000
    assert len(file_name(long)) <= 200
    assert file_name(long) != file_name(long + "c")


# Parts of one's own


def test_code_is_run_before_the_model_is_loaded(place: Path, model: Path) -> None:
    Path("story.txt").write_text(STORY, encoding="utf-8", newline="")
    mark = place / "ran"  # by its whole path: worker processes of later tests, elsewhere, run all code that was loaded
    Path("parts.py").write_text(f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n")
    run(model, "story.txt", "--code", "parts.py", "-o", "a.json")
    assert mark.exists()
    Path("bad.py").write_text("1 / 0\n")
    said = run(place / "no-such-model", "story.txt", "--code", "bad.py", status=2)
    assert "bad.py: this code cannot be run: ZeroDivisionError" in said
    assert "none.py: there is no such file" in run(model, "story.txt", "--code", "none.py", status=2)
