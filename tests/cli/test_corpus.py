"""`streamcoref corpus info` and `streamcoref corpus convert`, run as a user runs them."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from streamcoref import Document
from streamcoref.cli import main
from streamcoref.formats import FORMATS, read_documents, readable, writable, write_documents

COMMAND = Path(sys.executable).with_name("streamcoref")
ROOT = Path(__file__).resolve().parents[2]
STORY = ROOT / "examples" / "marigold.conllu"

CHAT = Document.from_sentences(
    "chat/1",
    [["I", "saw", "Ann", "."], ["Did", "she", "wave", "?"]],
    clusters=[[(2, 3), (5, 6)], [(0, 1)]],
    speakers=["Bo"] * 4 + ["Cy"] * 4,
    genre="chat",
)
NOTE = Document.from_sentences("note", [["Ann", "left", "."]], genre="note")

CONLL_ROWS = "#begin document (a/b); part 000\na/b\t0\t0\tAnn\tNNP\t*\t-\t-\t-\t-\t*\t{}\n\n#end document\n"
CONLLU = "# newdoc id = a\n# global.Entity = GRP\n1\tAnn\t_\t_\t_\t_\t_\t_\t_\tEntity={}\n\n"
JSON = '{"doc_key": "a", "sentences": [["Ann"]], "clusters": []}\n'


class Result(NamedTuple):
    returncode: object
    stdout: bytes
    stderr: bytes


class Run(Protocol):
    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> Result: ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """`streamcoref corpus ...` in this process, which saves starting hundreds of others."""

    def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "argv", ["streamcoref", "corpus", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stopped:
            main()
        return Result(stopped.value.code, *capsysbinary.readouterr())

    return run


@pytest.fixture
def info(run: Run) -> Callable[..., Any]:
    def info(*arguments: str | Path) -> Any:
        result = run("info", "--json", *arguments)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return info


def sentence(result: Result) -> str:
    """The one sentence of a refusal, which is all there is."""
    assert result.returncode == 2
    assert result.stdout == b""
    text = result.stderr.decode()
    assert text.startswith("streamcoref: ")
    assert text.count("\n") == 1, text
    return text.removeprefix("streamcoref: ").rstrip("\n")


def without_text(document: Document) -> Document:
    return replace(document, text=None, offsets=())


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.jsonl"
    write_documents([CHAT, NOTE], path, "jsonlines")
    return path


def test_info_counts(info: Callable[..., Any], chat: Path) -> None:
    found = info(chat, STORY)
    expected = {
        "documents": 2,
        "words": 11,
        "longest": 8,
        "mentions": 3,
        "clusters": 2,
        "singletons": 1,
        "multi_speaker_documents": 1,
        "genres": {"chat": 1, "note": 1},
    }
    assert found["files"][0] == {"path": str(chat)} | expected
    story = found["files"][1]
    assert (story["documents"], story["mentions"], story["clusters"], story["singletons"]) == (1, 209, 24, 0)
    assert found["total"]["words"] == 11 + story["words"]
    assert found["total"]["longest"] == story["words"]
    assert found["total"]["genres"] == {"chat": 1, "note": 1, "story": 1}


def test_info_counts_what_the_file_says(info: Callable[..., Any], tmp_path: Path) -> None:
    """A span twice in a cluster once; clusters that share a mention are not merged; predictions if nothing else."""
    record = {"doc_key": "a", "sentences": [["A", "b", "c"]], "clusters": [[[0, 0], [1, 1], [0, 0]], [[1, 1], [2, 2]]]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record), encoding="utf-8")
    found = info(tmp_path / "a.jsonl")["total"]
    assert (found["mentions"], found["clusters"], found["singletons"]) == (4, 2, 0)
    del record["clusters"]
    record["predicted_clusters"] = [[[0, 0], [1, 1]]]
    (tmp_path / "b.jsonl").write_text(json.dumps(record), encoding="utf-8")
    assert info(tmp_path / "b.jsonl")["total"]["mentions"] == 2


def test_info_of_a_folder_and_of_a_packed_file(info: Callable[..., Any], chat: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(chat.read_bytes()))
    (folder / "a.txt").write_text("Some words.", encoding="utf-8")
    found = info(folder)
    assert [row["path"] for row in found["files"]] == [str(folder)]
    assert (found["total"]["documents"], found["total"]["words"]) == (3, 14)


def test_info_table(run: Run, chat: Path) -> None:
    result = run("info", chat, STORY)
    lines = result.stdout.decode().splitlines()
    heading = next(line for line in lines if "documents" in line).split()
    assert heading == "file documents words longest mentions clusters singletons 2+ speakers genres".split()
    total = next(line for line in lines if line.strip().startswith("total")).split()
    assert total[1:] == ["3", "1,014", "1,003", "212", "26", "1", "1", "3"]
    assert str(chat) in result.stdout.decode()
    assert "chat 1, note 1, story 1" in result.stdout.decode()


def test_info_with_a_forced_format(info: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text('{"not": "a corpus"}', encoding="utf-8")
    assert info("--format", "text", path)["total"]["documents"] == 1


@pytest.mark.parametrize("name", ["jsonl", "conllu", "html", "json", "csv", "jsonl.gz"])
def test_convert_takes_the_format_from_the_name(run: Run, chat: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / f"out.{name}"
    result = run("convert", chat, out)
    assert (result.returncode, result.stdout) == (0, b"")
    assert b"2 documents" in result.stderr
    if "html" in name:
        assert out.read_text(encoding="utf-8").count("<article") == 2
    elif name in ("json", "csv"):
        assert "she" in out.read_text(encoding="utf-8")
    else:
        assert [without_text(document) for document in read_documents(out)] == list(read_documents(chat))
    if name.endswith("gz"):
        assert out.read_bytes()[:2] == b"\x1f\x8b"


def test_convert_for_readers(run: Run, chat: Path, tmp_path: Path) -> None:
    for name in ("out.txt", "out.entities.txt"):
        assert run("convert", chat, tmp_path / name).returncode == 0
        assert (tmp_path / name).read_text(encoding="utf-8") == (
            "chat/1: 8 words, 2 entities, 3 mentions\n\nAnn (2 mentions)\n         6  Ann\n        16  she\n"
            "\nI (1 mention)\n         0  I\n\nnote: 3 words, 0 entities, 0 mentions\n"
        )
    assert run("convert", chat, tmp_path / "out.resolved.txt").returncode == 0
    resolved = (tmp_path / "out.resolved.txt").read_text(encoding="utf-8")
    assert resolved == f"{CHAT.resolved_text()}\n\n{NOTE.resolved_text()}"
    assert "Did Ann wave ?" in resolved


def test_what_only_resolve_writes(run: Run, chat: Path, tmp_path: Path) -> None:
    for arguments in ([tmp_path / "x", "--to", "events"], [tmp_path / "x.sqlite"], [tmp_path / "x.events.jsonl"]):
        assert "by streamcoref resolve, not by convert" in sentence(run("convert", chat, *arguments))
    assert "event lines are called events" in sentence(run("convert", chat, tmp_path / "x", "--to", "jsonl"))
    assert list(tmp_path.iterdir()) == [chat]


def test_convert_many_files_and_pipes(run: Run, chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    assert run("convert", chat, STORY, out).returncode == 0
    assert [document.key for document in read_documents(out)] == ["chat/1", "note", "marigold"]
    piped = run("convert", "-", "-", "--from", "jsonlines", "--to", "conll", stdin=chat.read_bytes())
    assert piped.returncode == 0
    assert piped.stdout.startswith(b"#begin document (chat/1)")


def test_convert_replaces_only_when_told(run: Run, chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("precious", encoding="utf-8")
    assert "--force" in sentence(run("convert", chat, out))
    assert out.read_text(encoding="utf-8") == "precious"
    assert run("convert", chat, out, "--force").returncode == 0
    assert out.read_text(encoding="utf-8").startswith("document,")


BAD_FILES = {
    "unclosed.conll": (CONLL_ROWS.format("(0"), "", "bracket|clos|open"),
    "unopened.conll": (CONLL_ROWS.format("0)"), ":2:", "bracket|clos|open"),
    "short.conll": (
        CONLL_ROWS.format("-") + "#begin document (c); part 000\nc\t0\t0\n#end document\n",
        ":6:",
        "column",
    ),
    "unclosed.conllu": (CONLLU.format("(1"), "", "clos|open"),
    "unopened.conllu": (CONLLU.format("1)"), ":3:", "clos|open"),
    "short.conllu": (CONLLU.format("(1)") + "1\tAnn\n\n", ":5:", "column"),
    "outside.jsonl": (JSON + JSON.replace("[]", "[[[0, 0], [1, 1]]]"), ":2:", "0"),
    "broken.jsonl": (JSON + '{"doc_key": "b", \n', ":2:", "JSON"),
    "latin1.jsonl": (JSON.encode() + b'{"doc_key": "caf\xe9"}\n', ":2:", "UTF-8"),
    "latin1.txt": (b"one\n\xff\n", ":2:", "UTF-8"),
    "cut.jsonl.gz": (gzip.compress(JSON.encode() * 999)[:-20], "", "gzip"),
    "what.bin": ("\n\n", "", "format"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_input_is_one_sentence_and_no_output(run: Run, tmp_path: Path, name: str) -> None:
    content, line, about = BAD_FILES[name]
    bad = tmp_path / name
    bad.write_bytes(content if isinstance(content, bytes) else content.encode())
    out = tmp_path / "out.json"
    for result in (run("convert", STORY, bad, out), run("info", bad)):
        text = sentence(result)
        assert text.startswith(f"{bad}:")
        assert line in text
        assert re.search(about, text), text
        assert sorted(tmp_path.iterdir()) == [bad], "neither output nor a temporary file"
    out.write_text("precious", encoding="utf-8")
    sentence(run("convert", STORY, bad, out, "--force"))
    assert out.read_text(encoding="utf-8") == "precious"
    assert len(list(tmp_path.iterdir())) == 2


def test_the_installed_command_refuses_in_the_same_way(tmp_path: Path) -> None:
    command = [COMMAND, "corpus", "info", tmp_path / "missing"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"streamcoref: {tmp_path / 'missing'}: no such file\n"


def test_missing_things(run: Run, chat: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.jsonl"
    assert sentence(run("info", missing)) == f"{missing}: no such file"
    assert sentence(run("convert", missing, tmp_path / "out.csv")) == f"{missing}: no such file"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no files in this folder" in sentence(run("info", empty))
    assert "folder" in sentence(run("convert", chat, tmp_path / "nowhere" / "out.csv"))
    assert sorted(tmp_path.iterdir()) == [chat, empty]


def test_unknown_and_unfit_formats(run: Run, chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "no format 'odt'" in sentence(run("convert", chat, out, "--to", "odt"))
    assert "no format 'odt'" in sentence(run("convert", chat, tmp_path / "out.csv", "--from", "odt"))
    assert "no format 'odt'" in sentence(run("info", chat, "--format", "odt"))
    assert "add --to FORMAT" in sentence(run("convert", chat, out))
    assert "can only be read" in sentence(run("convert", chat, out, "--to", "text"))
    assert "can only be written" in sentence(run("convert", chat, out, "--from", "csv", "--to", "csv"))
    assert "--tokenizer" in sentence(run("convert", chat, out, "--to", "pieces"))
    assert "only" in sentence(run("convert", chat, out, "--to", "csv", "--segment-length", "128"))
    assert list(tmp_path.iterdir()) == [chat]


@pytest.mark.parametrize("options", [("corpus", "info"), ("corpus", "convert"), ("corpus",)])
def test_help(options: tuple[str, ...]) -> None:
    result = subprocess.run([COMMAND, *options, "--help"], capture_output=True, text=True, check=True)
    assert "Convert" in result.stdout or "Count" in result.stdout
    assert result.stderr == ""


def test_the_help_of_convert_names_the_formats_there_are() -> None:
    both = [f.name for f in FORMATS.values() if f.read and (f.write or f.needs_tokenizer)]
    read = [f.name for f in readable() if f.name not in both]
    write = [f.name for f in writable() if f.name not in both]
    result = subprocess.run([COMMAND, "corpus", "convert", "--help"], capture_output=True, text=True, check=True)
    assert (
        f"Formats to read and write: {', '.join(both)}. To read only: {', '.join(read)}. "
        f"To write only: {', '.join(write)}." in " ".join(result.stdout.split())
    )


@pytest.fixture(scope="module")
def tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WordPiece tokenizer of a few letters."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.?'"
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
    core = Tokenizer(models.WordPiece({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    folder = tmp_path_factory.mktemp("tokenizer")
    special = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    PreTrainedTokenizerFast(tokenizer_object=core, **special).save_pretrained(folder)
    return folder


def test_convert_to_pieces_and_back(run: Run, chat: Path, tmp_path: Path, tokenizer_folder: Path) -> None:
    pieces = tmp_path / "pieces.jsonl"
    result = run("convert", chat, pieces, "--to", "pieces", "--tokenizer", tokenizer_folder, "--segment-length", "16")
    assert result.returncode == 0, result.stderr
    record = json.loads(pieces.read_text(encoding="utf-8").splitlines()[0])
    assert record["sentences"][0][:5] == ["[CLS]", "I", "s", "##a", "##w"]
    assert max(map(len, record["sentences"])) <= 16
    back = next(iter(read_documents(pieces)))
    assert (back.words, back.clusters, back.speakers) == (CHAT.words, CHAT.clusters, CHAT.speakers)
    missing = run("convert", chat, tmp_path / "x", "--to", "pieces", "--tokenizer", tmp_path / "none")
    assert "no tokenizer could be loaded" in sentence(missing)


# The table of the corpora's README: documents, words, longest, mentions, clusters, singletons, multi-speaker documents.
COUNTS = {
    "litbank train": (80, 169_456, 3_419, 23_218, 6_344, 4_635, 0),
    "litbank dev": (10, 20_438, 2_247, 3_053, 776, 563, 0),
    "ontogum train": (128, 129_805, 1_878, 16_854, 3_895, 2, 38),
    "ontogum dev": (20, 18_432, 1_247, 2_366, 529, 0, 6),
    "craft train": (59, 487_522, 16_528, 62_235, 12_861, 0, 0),
    "craft dev": (7, 67_650, 13_803, 9_351, 1_980, 0, 0),
}


@pytest.mark.corpus
@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_the_corpora(info: Callable[..., Any], shared: Path, name: str) -> None:
    corpus, part = name.split()
    folder = shared / "corpora" / corpus
    if corpus == "craft":
        files = [folder / f"{part}.jsonl"]
    else:
        keys = (folder / f"{part}.ids").read_text(encoding="utf-8").split()
        files = [folder / ("conll/{}.conll" if corpus == "litbank" else "conllu/{}.conllu").format(key) for key in keys]
    total = info(*files)["total"]
    del total["genres"]
    assert tuple(total.values()) == COUNTS[name]


def test_a_list_of_names_stands_for_its_files(info: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.txt").write_text(f"{name} ran.", encoding="utf-8")
    (tmp_path / "part.ids").write_text("c\na\n", encoding="utf-8")

    assert info(tmp_path / "part.ids")["total"]["documents"] == 2
