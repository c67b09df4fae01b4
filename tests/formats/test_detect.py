from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats import detect, read_documents, read_raw_documents, write_documents

PIECES = {
    "doc_key": "d",
    "clusters": [],
    "sentences": [["[CLS]", "a", "[SEP]"]],
    "subtoken_map": [0, 0, 0],
    "sentence_map": [0, 0, 1],
}
SAMPLES = {
    "jsonlines": json.dumps({"clusters": [], "doc_key": "d", "sentences": [["w" * 50] * 3000]}),
    "pieces": json.dumps({"speakers": [["[SPL]", "x" * 100_000, "[SPL]"]]} | PIECES),
    "conll": "\n#begin document (a); part 000\na 0 0 w -\n#end document\n",
    "litbank": "#begin document (a); part 0\n" + "\t".join(["a", "0", "0", "w", *"_" * 8, ""]) + "\n#end document\n",
    "conllu": "# text = a\n" + "\t".join(["1", "a", *"_" * 8]) + "\n",
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("file_name", ["plain", "misleading.conllu", "misleading.jsonl", "packed.gz"])
def test_content_decides(tmp_path: Path, name: str, file_name: str) -> None:
    path = tmp_path / file_name
    content = SAMPLES[name].encode()
    path.write_bytes(gzip.compress(content) if file_name.endswith(".gz") else content)
    assert detect(path) == name
    assert len(list(read_documents(path))) == 1


@pytest.mark.parametrize(
    ("file_name", "name"),
    [
        ("a.jsonl", "jsonlines"),
        ("a.jsonlines.gz", "jsonlines"),
        ("a.conll", "conll"),
        ("a.v4_gold_conll", "conll"),
        ("a_auto_conll", "conll"),
        ("a.conllu", "conllu"),
        ("a.txt", "text"),
        ("a.txt.gz", "text"),
    ],
)
def test_the_name_decides_where_the_content_does_not(tmp_path: Path, file_name: str, name: str) -> None:
    (tmp_path / file_name).touch()
    assert detect(tmp_path / file_name) == name


def test_unknown_format_names_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text("what is this\n")
    with pytest.raises(
        InputError, match=r"a\.xyz: not a format we know; .*jsonlines, litbank, conll, conllu, text, docx, epub, .*$"
    ):
        detect(path)
    with pytest.raises(StreamcorefError, match=r"no format 'x'; known formats: .*html"):
        next(read_documents(path, "x"))
    with pytest.raises(StreamcorefError, match="no format 'x'"):
        write_documents([], tmp_path / "out", "x")


def test_formats_of_one_direction(tmp_path: Path) -> None:
    with pytest.raises(StreamcorefError, match="csv can only be written"):
        next(read_documents(tmp_path / "a", "csv"))
    with pytest.raises(StreamcorefError, match="text can only be read"):
        write_documents([], tmp_path / "a", "text")
    with pytest.raises(StreamcorefError, match="pieces needs a tokenizer"):
        write_documents([], tmp_path / "a", "pieces")
    assert list(tmp_path.iterdir()) == []


def test_the_format_can_be_forced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(SAMPLES["litbank"])
    assert next(read_documents(path)).key == "a"
    assert next(read_documents(path, "conll")).key == "a_0"


def test_standard_input_is_not_looked_at_twice() -> None:
    with pytest.raises(StreamcorefError, match="standard input"):
        detect("-")


def test_raw_documents_keep_clusters_apart(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(json.dumps({"doc_key": "d", "sentences": [["a", "b"]], "clusters": [[[0, 0]], [[0, 0], [1, 1]]]}))
    assert next(read_raw_documents(path)).clusters == [[(0, 1)], [(0, 1), (1, 2)]]
    assert next(read_documents(path)).clusters == (((0, 1), (1, 2)),)
    (tmp_path / "a.txt").write_text("Ann left.")
    (raw,) = read_raw_documents(tmp_path / "a.txt")
    assert (raw.key, raw.text) == ("a", "Ann left.")


@pytest.mark.parametrize("name", ["jsonlines", "conll", "litbank", "conllu"])
def test_what_is_written_is_recognised(tmp_path: Path, name: str) -> None:
    path = tmp_path / "out"
    document = Document.from_sentences("d", [["a", "b"]], [[(0, 1), (1, 2)]])
    assert write_documents([document, document], path, name) == 2
    assert detect(path) == name


def test_empty_documents_of_litbank_are_told_from_conll(tmp_path: Path) -> None:
    path = tmp_path / "out"
    for name in ("litbank", "conll"):
        write_documents([Document.from_sentences("a_0", [])], path, name, force=True)
        assert detect(path) == name
        assert next(read_documents(path)).key == "a_0"


def test_no_heavy_imports() -> None:
    code = "import sys, streamcoref.formats; sys.exit(bool({'torch', 'transformers', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
