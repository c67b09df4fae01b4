"""What a file to be resolved is: documents, prose, or something that must not be read as either."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats import detect, format_of_head, format_of_input, read_documents

WORDS = json.dumps({"doc_key": "d", "sentences": [["w"]]})
PIECES = {"doc_key": "d", "sentences": [["[CLS]", "a", "[SEP]"]], "sentence_map": [0, 0, 1], "subtoken_map": [0, 0, 0]}
ROW = "\t".join(["1", "a", *"_" * 8])


def zipped(*names: str, first: bytes = b"") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, first or b"x")
    return stream.getvalue()


def tarred() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("book.txt"))
    return stream.getvalue()


DOCUMENTS = [
    ("a", WORDS, "jsonlines"),
    ("a.txt", f"\n\n{WORDS}\n", "jsonlines"),
    ("a.jsonl", "\ufeff" + WORDS, "jsonlines"),
    ("a.jsonl", json.dumps({"x": "y" * 300_000} | PIECES), "pieces"),
    ("a", json.dumps({"x": "y" * 300_000, "doc_key": "d", "sentences": [["w"]]}), "jsonlines"),
    ("a.txt", "#begin document (a); part 000\na 0 0 w -\n#end document\n", "conll"),
    ("a", "# by hand\n\n#begin document (a);\n", "conll"),
    ("a.conll", "#begin document (a); part 0\n" + "\t".join(["a", "0", "0", "w", *"_" * 8, ""]), "litbank"),
    ("a.txt", f"# sent_id = 1\n# text = a\n{ROW}\n", "conllu"),
    ("a", f"# text = a\n{ROW}\n", "conllu"),
    ("a", "# newdoc id = x\n", "conllu"),
    # only the name tells: their readers say what is wrong with the content
    ("a.jsonl", "", "jsonlines"),
    ("a.jsonl.gz", "Once upon a time.", "jsonlines"),
    ("a.JSONLINES", "[1]\n", "jsonlines"),
    ("a.jsonl", '{"event": "entity_started"}\n', "jsonlines"),
    ("a.conllu", "Once upon a time.", "conllu"),
    ("a.conll", "Once upon a time.", "conll"),
    ("a.v4_gold_conll", "Once", "conll"),
]
PROSE = [
    ("a.txt", ""),
    ("a", "Once upon a time."),
    ("a.txt", "Once upon a time."),
    ("a.log", "<anna> hello\n<ben> hi\n"),
    ("a.log", "<anna> hello\n<ben> look: </b>\n<anna> oh\n"),
    ("a", "<3 is a heart"),
    ("a", "{laughs} So it is."),
    ("a", '["What?"]\n'),
    ("a", "[1] Smith 2001"),
    ("a", "PK is a name, %PDF- is not, GIF is an ending."),
    ("a", "The ftyp box of a film."),
    ("a", "GIF89a has colours, PAR1 has columns, and RIFF was a film."),
    ("a", "x" * 60 + "BOOKMOBI"),
    ("a", "x" * 257 + "ustar"),
    ("a", "Prose.\n#begin document (a);\n"),
    ("a", "# newdoc is a comment of CoNLL-U\n\nProse."),
    ("a", f"Prose.\n{ROW}\n"),
    ("a.entities.txt", "a: 1 word"),
    ("a.resolved.txt", "Anna ran. Anna won."),
    ("a.xml.txt", "Once."),
    ("a.weird", "Once\u2028upon."),
]
BOOKS = [
    (b"<!DOCTYPE html>\n<html>", "html"),
    (b"\xef\xbb\xbf\r\n <html lang=en>", "html"),
    (b"<!-- saved from url=(1) -->\n<!-- > -->\n<HTML>", "html"),
    (b"<head><title>x", "html"),
    (b"<body>x", "html"),
    (b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x">\n<html>', "html"),
    ("\ufeff<html>".encode("utf-16-le"), "html"),
    ("\ufeff<html>".encode("utf-16-be"), "html"),
    (b"<p>Once.</p>\n<p>Twice.</p>", "html"),
    (b'<div class="x">\n<p>Once.</p>\n</div>', "html"),
    (b"\n<table><tr><td>Once</td></tr></table>", "html"),
    (b"<b>Once</b> upon a time.", "html"),
    (b"\r\n\x00junk\n%PDF-1.4\n%\xe2\xe3", "pdf"),
    (b"%PDF-1.7\n%\xe2\xe3", "pdf"),
    (zipped("mimetype", first=b"application/epub+zip"), "epub"),
    (zipped("[Content_Types].xml", "word/document.xml"), "docx"),
    (zipped("word/document.xml"), "docx"),
    (zipped("[Content_Types].xml"), "docx"),
]
FOREIGN = [
    (b'<?xml version="1.0"?>\n<TEI xmlns="x">', "an XML file"),
    (b"<TEI><text>", "an XML file"),
    (b"<!DOCTYPE score-partwise>", "an XML file"),
    (b"<book>\n<chapter id='1'>\n<p>Once.</p></chapter>\n<chapter>", "an XML file"),
    (b"<ns:note xmlns:ns='x'>Once</ns:note>", "an XML file"),
    (rb"{\rtf1\ansi Once", "a rich text"),
    (b"\xef\xbb\xbf" + rb"{\rtf1\ansi Once", "a rich text"),
    (b"\r\n" + rb"{\rtf1\ansi Once", "a rich text"),
    (b"%!PS-Adobe-3.0", "a PostScript file"),
    (zipped("a.txt"), "a zip archive"),
    (zipped(), "a zip archive"),
    (zipped("mimetype", first=b"application/vnd.oasis.opendocument.text"), "an OpenDocument file"),
    (zipped("[Content_Types].xml", "xl/workbook.xml"), "a spreadsheet"),
    (zipped("[Content_Types].xml", "ppt/presentation.xml"), "a presentation"),
    (zipped("Index/Document.iwa"), "a Pages file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40), "an old Office file"),
    (b"\x89PNG\r\n\x1a\n", "an image"),
    (b"\xff\xd8\xff\xe0\x00\x10JFIF", "an image"),
    (b"GIF89a\x01\x00", "an image"),
    (b"II*\0\x08", "an image"),
    (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "an image"),
    (b"RIFF\n\x00\x00\x00WAVEfmt ", "a sound file"),
    (b"ID3\x03\x00", "a sound file"),
    (b"\x00\x00\x00\x20ftypisom", "a film"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x00" * 60 + b"BOOKMOBI", "an e-book"),
    (b"AT&TFORM\0\0", "a DjVu file"),
    (b"ITOLITLS\x01", "an e-book"),
    (b"\xffWPC\x10", "a WordPerfect file"),
    (b"MZ\x90\x00\x03", "a program"),
    (b"\xca\xfe\xba\xbe\0", "a program"),
    (b"\x1aE\xdf\xa3\x01", "a film"),
    (b"\x04\x22\x4d\x18\x00", "a file packed with lz4"),
    (b"MSCF\0\0\0\0", "a cabinet archive"),
    (b"\x93NUMPY\x01", "a file of numpy"),
    (b"wOFF\0\1", "a font"),
    (b"BZh91AY&SY\x00", "a file packed with bzip2"),
    (b"\xfd7zXZ\0", "a file packed with xz"),
    (b"\x28\xb5\x2f\xfd\x04", "a file packed with zstd"),
    (b"7z\xbc\xaf\x27\x1c\x00", "a 7z archive"),
    (gzip.compress(gzip.compress(b"Once", mtime=0), mtime=0), "a gzip file inside another"),
    (tarred(), "a tar archive"),
    (b"\x80\x04\x95", "a pickle"),
    (b"PAR1\x15", "a Parquet file"),
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("name", "content", "expected"), DOCUMENTS)
def test_documents(tmp_path: Path, name: str, content: str, expected: str, packed: bool) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    assert format_of_input(path).name == expected


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("name", "content"), PROSE)
def test_prose(tmp_path: Path, name: str, content: str, packed: bool) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    found = format_of_input(path)
    assert found.is_prose
    assert found.name == "text"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "shift-jis"])
def test_prose_of_any_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(("caf\u00e9 " if encoding in ("latin-1", "cp1252") else "Once ").encode(encoding) * 50_000)
    assert format_of_input(path).is_prose


@pytest.mark.parametrize("name", ["a", "a.txt", "a.html", "a.jsonl", "a.gz"])
@pytest.mark.parametrize(("content", "what"), FOREIGN)
def test_what_is_no_plain_text(tmp_path: Path, name: str, content: bytes, what: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(InputError) as caught:
        format_of_input(path)
    assert str(caught.value).startswith(f"{path}: this is {what}")
    assert ", not plain text; " in str(caught.value)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (rb"{\rtf1\ansi Once", "save it as .docx or as plain text first"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40), "save it as .docx or as plain text first"),
        (b"\x00" * 60 + b"BOOKMOBI", "convert it to EPUB first"),
        (b"\x89PNG\r\n\x1a\n", "let a program for text recognition (OCR) make text of it first"),
        (zipped("a.txt"), "unpack it and name the files in it"),
        (b"\xfd7zXZ\0", "unpack it first"),
        (b"ID3\x03\x00", "write down first what is said in it"),
        (b"<TEI><text>", "convert it to text first"),
        (b"\x7fELF\2", "name a file with text"),
    ],
)
def test_what_to_do_with_it_is_said(tmp_path: Path, content: bytes, advice: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        format_of_input(path)
    assert str(caught.value).endswith(f"; {advice}")
    assert "replace" not in str(caught.value)
    with pytest.raises(InputError, match="not plain text"):
        list(read_documents(path))


@pytest.mark.parametrize("name", ["a", "a.txt", "a.html", "a.jsonl", "a.gz"])
@pytest.mark.parametrize(("content", "expected"), BOOKS)
def test_books_are_known_by_their_content(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert format_of_input(path).name == detect(path) == expected


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.md", b"# Beginning\n\nOnce.", "markdown"),
        ("a.MARKDOWN.gz", b"Once.", "markdown"),
        ("a.htm", b"Once <i>upon</i> a time.", "html"),
        ("a.HTML", b"Once.", "html"),
        ("a.xhtml", b"Once.", "html"),
        ("a.epub", zipped("other"), "epub"),
        ("a.docx", zipped("other"), "docx"),
    ],
)
def test_or_by_their_names(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert format_of_input(path).name == expected


@pytest.mark.parametrize(
    "content", ['{"a": 1}', '[{"key": "note", "text": "Ann ran."}]', '[\n  {\n "a": 2}]', '{\n"a":1}']
)
@pytest.mark.parametrize("name", ["a", "a.txt", "a.txt.gz"])
def test_json_that_is_not_ours(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    with pytest.raises(InputError, match="this is JSON, not plain text, and its first line is no document"):
        format_of_input(path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"),
        ("a.csv.gz", "csv"),
        ("a.json", "json"),
        ("a.events.jsonl", "events"),
        ("a.db", "sqlite"),
    ],
)
def test_a_name_of_what_is_only_written(tmp_path: Path, name: str, expected: str) -> None:
    path = tmp_path / name
    path.write_text("document,entity\na,1\n")
    with pytest.raises(InputError, match=rf"{name}: named like the format {expected} \(.*never read; say with format="):
        format_of_input(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "Once upon a time.", r"a\.jsonl:1: broken JSON"),
        ("a.jsonl", '{"event": "entity_started"}', r"a\.jsonl:1: the document has no 'doc_key'"),
        ("a.conllu", "Once upon a time.", r"a\.conllu:1: 1 columns between tabs where CoNLL-U has 10"),
        ("a.conll", "Once upon a time.", r"a\.conll:1: a word outside a document"),
    ],
)
def test_a_corpus_in_name_only_is_an_error_and_never_prose(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        list(read_documents(path, format_of_input(path).name))


def test_only_the_head_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "long"
    with gzip.open(path, "wb") as stream:
        stream.write(b"Once upon a time.\n" * 100_000)
    path.write_bytes(path.read_bytes()[:-200])  # damaged, but far behind the head
    assert format_of_input(path).is_prose
    late = tmp_path / "late"
    late.write_bytes(b"Once.\n" * 100_000 + b"<html>")
    assert format_of_input(late).is_prose


def test_what_comes_in_a_pipe() -> None:
    assert format_of_head(WORDS.encode(), "-").name == "jsonlines"
    assert format_of_head(b"Once.", "-").is_prose
    assert format_of_head(b"", "-").is_prose
    assert format_of_head(b"%PDF-1.4", "-").name == "pdf"
    with pytest.raises(InputError, match=r"^-: this is an image"):
        format_of_head(b"\x89PNG\r\n\x1a\n", "-")
    with pytest.raises(StreamcorefError, match="standard input can be read only once"):
        format_of_input("-")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        format_of_input(tmp_path / "none.txt")
    with pytest.raises(InputError, match="this is a folder"):
        format_of_input(tmp_path)
