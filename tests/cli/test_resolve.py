"""`streamcoref resolve`, run as a user runs it, on a small random model."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamcoref.formats import FORMATS, read_documents
from streamcoref.resolver import load
from tests.cli.toy_resolving import COMMAND, ENVIRONMENT, invoke, rows, run, save_model, text

STORY = text(150)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("story.txt").write_text(STORY, encoding="utf-8", newline="")
    return tmp_path


# Answers


def test_every_format_has_the_answer_of_the_resolver(model: Path) -> None:
    expected = load(model).resolve(STORY, key="story")
    mentions = sorted((m.start, m.end, m.text) for e in expected.entities for m in e.mentions)
    assert len(expected.entities) > 5

    (document,) = json.loads(run(model, "story.txt", "--format", "json"))
    assert document["text"] == STORY  # CRLF stays CRLF
    assert sorted((m["start"], m["end"], m["text"]) for e in document["entities"] for m in e["mentions"]) == mentions
    assert [e["name"] for e in document["entities"]] == [e.name for e in expected.entities]

    table = csv.DictReader(io.StringIO(run(model, "story.txt", "--format", "csv"), newline=""))
    assert sorted((int(r["start"]), int(r["end"]), r["text"]) for r in table) == mentions

    events = [json.loads(line) for line in run(model, "story.txt", "--format", "events").splitlines()]
    found = [e["mention"] for e in events if e["event"] != "entity_finished"]
    assert sorted((m["start"], m["end"], m["text"]) for m in found) == mentions
    ended = {e["entity"]: e["size"] for e in events if e["event"] == "entity_finished"}
    assert ended.keys() == {e["entity"] for e in events if e["event"] == "entity_started"}
    assert sum(ended.values()) == len(mentions)

    run(model, "story.txt", "-o", "story.jsonl")
    assert list(read_documents("story.jsonl")) == [expected]
    assert run(model, "story.txt", "--format", "resolved") == expected.resolved_text()
    assert "<!doctype html>" in run(model, "story.txt", "--format", "html")

    run(model, "story.txt", "-o", "story.sqlite")
    stored = [(start, end, words) for _, _, start, end, _, _, words, _, _ in rows(Path("story.sqlite"))["mentions"]]
    assert sorted(stored) == mentions
    sizes = sorted(row[3] for row in rows(Path("story.sqlite"))["entities"])
    assert sizes == sorted(e.size for e in expected.entities)


@pytest.mark.parametrize("format_name", ["conll", "conllu"])
def test_conll_formats_can_be_read_again(format_name: str, place: Path, model: Path) -> None:
    # A random model answers with crossing mentions, which these cannot hold, unless its spans have one word.
    narrow = save_model(place / "narrow", spans={"max_width": 1})
    run(narrow, "story.txt", "-o", f"story.{format_name}")
    (document,) = read_documents(f"story.{format_name}", format_name)
    assert document.clusters == load(narrow).resolve(STORY).predicted_clusters
    said = run(model, "story.txt", "-o", f"crossing.{format_name}", status=2)
    assert "are of one entity and cross" in said
    assert not Path(f"crossing.{format_name}").exists()


def test_without_more_words_entities_are_printed_to_read(model: Path) -> None:
    lines = run(model, "story.txt").splitlines()
    expected = load(model).resolve(STORY)
    assert lines[0].startswith(f"story: {len(expected.words)} words, {len(expected.entities)} entities, ")
    largest = max(expected.entities, key=lambda e: e.size)
    assert lines[2] == f"{largest.name} ({largest.size} mentions)"
    assert lines[3].split() == [str(largest.mentions[0].start), *largest.mentions[0].text.split()]


def test_options_reach_the_model(model: Path) -> None:
    resolver = load(model)

    def answer(*arguments: object) -> list[tuple[int, int, float]]:
        table = csv.DictReader(io.StringIO(run(model, "story.txt", "--format", "csv", *arguments), newline=""))
        return sorted((int(r["start"]), int(r["end"]), float(r["score"])) for r in table)

    def expected(**options: Any) -> list[Any]:
        entities = resolver.resolve(STORY, **options).entities
        return sorted((m.start, m.end, m.score) for e in entities for m in e.mentions)

    plain = answer()
    assert plain == expected()
    tight = "two_distances:singleton=5,cluster=5"
    for arguments, options in (
        (["--singletons"], {"singletons": True}),
        (["--min-score", 0.5], {"min_score": 0.5}),
        (["--no-evict"], {"evict": "none"}),
        (["--evict", tight], {"evict": tight}),
        (["--scheme", "litbank"], {"scheme": "litbank"}),
    ):
        assert answer(*arguments) == expected(**options) != plain, arguments


def test_standard_input_gzip_and_encodings(model: Path) -> None:
    expected = json.loads(run(model, "story.txt", "--format", "json"))[0]["entities"]
    Path("packed.txt.gz").write_bytes(gzip.compress(STORY.encode()))
    Path("wide.txt").write_text(STORY, encoding="utf-16", newline="")
    for arguments in (["-"], [], ["packed.txt.gz"], ["wide.txt", "--encoding", "UTF-16"]):
        output = run(model, *arguments, "--format", "json", given=STORY.encode())
        assert json.loads(output)[0]["entities"] == expected


def test_a_byte_order_mark_is_a_character_of_the_text(model: Path) -> None:
    Path("marked.txt").write_text("\ufeff" + STORY, encoding="utf-8", newline="")
    run(model, "marked.txt", "-o", "marked.sqlite")
    content = Path("marked.txt").read_bytes().decode()
    for _, _, first, end, _, _, words, _, _ in rows(Path("marked.sqlite"))["mentions"]:
        assert content[first:end] == words


# Many texts


def test_a_folder_is_all_its_texts(model: Path) -> None:
    for name in ("b.txt", "a.txt", "deep/c.txt", ".hidden.txt", "notes.md"):
        Path("in", name).parent.mkdir(parents=True, exist_ok=True)
        Path("in", name).write_text(STORY, encoding="utf-8", newline="")
    together = json.loads(run(model, "in", "--format", "json"))
    assert [document["key"] for document in together] == ["a", "b", "deep/c"]
    run(model, "in", "-o", "out/", "--format", "json")
    assert sorted(str(p) for p in Path("out").rglob("*.json")) == ["out/a.json", "out/b.json", "out/deep/c.json"]
    assert json.loads(Path("out/deep/c.json").read_text(encoding="utf-8"))[0] == together[2]
    run(model, "in", "-o", "out", "--format", "sqlite")
    assert rows(Path("out/a.sqlite"))["mentions"] == rows(Path("out/deep/c.sqlite"))["mentions"]


def test_one_bad_text_among_many_is_reported_and_the_others_are_done(model: Path) -> None:
    Path("bad.txt").write_bytes(b"Anna ran. \xff\xfe")
    Path("other.txt").write_text(STORY, encoding="utf-8", newline="")
    for arguments in (["-o", "all.json"], ["-o", "out/", "--format", "json"], ["-o", "out/", "--format", "sqlite"]):
        said = run(model, "story.txt", "bad.txt", "missing.txt", "other.txt", *arguments, status=1)
        assert "streamcoref: bad.txt:1: not valid utf-8: byte 0xff at offset 10;" in said
        assert "streamcoref: missing.txt: no such file or folder" in said
    assert [d["key"] for d in json.loads(Path("all.json").read_text(encoding="utf-8"))] == ["story", "other"]
    assert sorted(file.name for file in Path("out").iterdir()) == [
        "other.json",
        "other.sqlite",
        "story.json",
        "story.sqlite",
    ]
    result = invoke("resolve", "--model", model, "bad.txt", "missing.txt")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 2)  # nothing could be done


def test_what_a_format_cannot_hold_does_not_spoil_the_others(model: Path) -> None:
    Path("one.txt").write_text("Anna.", encoding="utf-8")
    said = run(model, "one.txt", "story.txt", "-o", "all.conll", status=1)
    assert "document 'story'" in said
    assert [d.key for d in read_documents("all.conll", "conll")] == ["one"]


# Odd texts


@pytest.mark.parametrize("content", ["", " \r\n\t ", "A", "?!... --", "😀👍🏽", "\0", "Anna\0ran. She\0fell."])
def test_odd_texts_have_an_answer(content: str, model: Path) -> None:
    Path("odd.txt").write_text(content, encoding="utf-8", newline="")
    (document,) = json.loads(run(model, "odd.txt", "--format", "json", "--singletons"))
    assert document["text"] == content
    assert all(content[m["start"] : m["end"]] == m["text"] for e in document["entities"] for m in e["mentions"])
    run(model, "odd.txt", "--singletons", "-o", "odd.sqlite")
    assert len(rows(Path("odd.sqlite"))["entities"]) == len(document["entities"])


# What a user may get wrong


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.txt"], "missing.txt: no such file or folder"),
        (["empty"], "empty: there are no .txt files in this folder"),
        (["binary.txt"], "binary.txt: this is binary data"),
        (["latin.txt"], "latin.txt:2: not valid utf-8: byte 0xeb at offset 12; name the encoding with --encoding, or"),
        (["story.txt", "--encoding", "klingon"], "no encoding 'klingon'; give --encoding one of text, such as utf-8"),
        (["story.txt", "--encoding", "idna"], "'idna' is not an encoding of text; give --encoding one"),
        (["story.txt", "--encoding", "utf-16"], "story.txt: not valid utf-16: "),
        (["story.txt", "--errors", "shrug"], "errors 'shrug': there is no such way"),
        (["story.txt", "--format", "odt"], "there is no format 'odt'; known formats: "),
        (["story.txt", "--format", "epub"], "the format epub can only be read; --format takes "),
        (["story.txt", "--format", "jsonl"], "event lines are called events, documents jsonlines"),
        (["story.txt", "--format", "text"], "the format text can only be read; --format takes "),
        (["story.txt", "--format", "pieces"], "streamcoref corpus convert --to pieces"),
        (["story.txt", "-o", "story.pieces.jsonl"], "streamcoref corpus convert --to pieces"),
        (["story.txt", "-o", "story.docx"], "story.docx: the name does not tell the format"),
        (["story.txt", "-o", "story.docx"], "name it with --format"),
        (["story.txt", "--from", "odt"], "there is no format 'odt'"),
        (["story.txt", "--from", "csv"], "the format csv can only be written; --from takes "),
        (["story.txt", "--from", "pdf"], "story.txt: this PDF is damaged"),
        (["letter.rtf"], "letter.rtf: this is a rich text (RTF) file, not plain text; save it as .docx or as plain"),
        (["book.pdf", "--encoding", "cp1252"], "files of the format pdf have no encoding to be named"),
        (["story.txt", "-o", "nowhere/a.json"], "there is no folder nowhere"),
        (["story.txt", "-o", "/proc/self/a.json"], "cannot be written to"),
        (["story.txt", "-o", "/proc/self/a.sqlite"], "cannot be written to"),
        (["story.txt", "-o", "latin.txt", "--format", "json"], "latin.txt: the file exists; use --force"),
        (["story.txt", "-o", "story.txt", "--force"], "story.txt: this is the text itself"),
        (["story.txt", "-o", "other.sqlite"], "other.sqlite: this file exists and is not a streamcoref store"),
        (["story.txt", "--format", "sqlite"], "-o book.sqlite"),
        (["story.txt", "latin.txt", "-o", "a.sqlite", "--encoding", "latin-1"], "a store holds one text"),
        (["story.txt", "deep/story.txt", "-o", "out/"], "would both be written to out/story.entities.txt"),
        (["-", "-"], "standard input can be read only once"),
        (["story.txt", "--evict", "sometimes"], "evict: unknown name 'sometimes'"),
        (["story.txt", "--evict", "none", "--no-evict"], "contradict each other"),
        (["story.txt", "--scheme", "esperanto"], "no scheme 'esperanto'"),
        (["story.txt", "--live", "-o", "a.json"], "without -o"),
        (["story.txt", "--live", "--format", "csv"], "--format entities or events, not csv"),
        (["story.txt", "story.txt", "--live"], "one text"),
    ],
)
def test_mistakes_are_one_sentence_and_write_nothing(arguments: list[str], said: str, place: Path, model: Path) -> None:
    Path("empty").mkdir()
    Path("deep").mkdir()
    Path("deep/story.txt").write_text(STORY, encoding="utf-8")
    Path("letter.rtf").write_bytes(rb"{\rtf1\ansi Anna ran.}")
    Path("book.pdf").write_bytes(b"%PDF-1.7")
    Path("binary.txt").write_bytes(bytes(range(256)) * 40)
    Path("latin.txt").write_bytes("Anna ran.\nZoë fell.".encode("latin-1"))
    Path("other.sqlite").write_text("A letter. " * 100)
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert said in run(model, *arguments, status=2)
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("bad", ["no/such/model", "config.json", "model.safetensors", "tokenizer.json", "cut", "json"])
def test_models_that_cannot_be_loaded(bad: str, place: Path, model: Path) -> None:
    folder = place / "model"
    shutil.copytree(model, folder)
    if bad == "cut":
        weights = (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    elif bad == "json":
        (folder / "config.json").write_text("{")
    elif "/" not in bad:
        (folder / bad).unlink()
    said = run(Path(bad) if "/" in bad else folder, "story.txt", "-o", "story.sqlite", status=2)
    assert "model" in said
    assert not Path("story.sqlite").exists()


def test_bad_bytes_can_be_passed(model: Path) -> None:
    Path("bad.txt").write_bytes(STORY.encode().replace("é".encode(), b"\xe9"))
    run(model, "bad.txt", status=2)
    (replaced,) = json.loads(run(model, "bad.txt", "--errors", "replace", "--format", "json"))
    assert replaced["text"] == STORY.replace("é", "\ufffd")
    (latin,) = json.loads(run(model, "bad.txt", "--encoding", "latin-1", "--format", "json"))
    assert latin["text"] == STORY


def test_files_are_replaced_only_when_told(model: Path) -> None:
    Path("story.json").write_text("precious")
    run(model, "story.txt", "-o", "story.json", status=2)
    assert Path("story.json").read_text() == "precious"
    run(model, "story.txt", "-o", "story.json", "--force")
    assert len(json.loads(Path("story.json").read_text(encoding="utf-8"))) == 1
    Path("other.sqlite").write_text("a letter")
    run(model, "story.txt", "-o", "other.sqlite", "--force")
    assert rows(Path("other.sqlite"))["mentions"]


def test_a_baseline_answers_with_documents_but_is_no_stream(place: Path) -> None:
    baseline = save_model(place / "baseline", kind="baseline")
    expected = load(baseline).resolve(STORY)
    assert len(json.loads(run(baseline, "story.txt", "--format", "json"))[0]["entities"]) == len(expected.entities)
    for output in ("a.sqlite", "a.events.jsonl"):
        assert "whole-document baseline" in run(baseline, "story.txt", "-o", output, status=2)


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(model: Path) -> None:
    Path("story.txt").write_text(text(3000), encoding="utf-8", newline="")
    command = f"set -o pipefail; {COMMAND} resolve story.txt --model {model} --format events | head -n 1"
    result = subprocess.run(["bash", "-c", command], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert result.stdout.count("\n") == 1
    assert result.stderr == ""  # no traceback, and no bar in a pipe


def test_help_needs_no_torch() -> None:
    code = "import sys; from streamcoref.cli import app\n"
    code += "try: app(['resolve', '--help'])\nexcept SystemExit: pass\nassert 'torch' not in sys.modules"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "--min-score" in shown


def test_every_option_and_format_is_described() -> None:
    import inspect

    from streamcoref.cli.entities import entities
    from streamcoref.cli.resolve import resolve

    page = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    names = [*inspect.signature(resolve).parameters, *inspect.signature(entities).parameters]
    for name in {*names, "from", "format", "type"} - {"files", "path", "format_name", "source_format", "kind"}:
        assert f"--{name.replace('_', '-')}" in page, name
    for known in FORMATS.working():
        assert f"`{known.name}`" in page, known.name
