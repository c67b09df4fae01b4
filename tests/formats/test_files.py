from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats import read_documents, write_documents
from streamcoref.formats.files import STANDARD, check_output, open_output, read_chunks, read_lines

DOCUMENT = Document.from_sentences("d", [["Ann", "left", "é"]], [[(0, 1)]])


def failing() -> Iterator[Document]:
    yield DOCUMENT
    raise StreamcorefError("half way")


def test_lines_keep_their_ends_and_lose_the_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("\ufeffone\r\ntwo\u2028still two\x85\n\ufeffthree".encode())
    assert list(read_lines(path)) == ["one\r\n", "two\u2028still two\x85\n", "\ufeffthree"]


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "no_suffix"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert list(read_lines(path)) == ["one\n", "two\n"]
    (tmp_path / "plain.gz").write_bytes(b"not packed\n")
    assert list(read_lines(tmp_path / "plain.gz")) == ["not packed\n"]


def test_damaged_gzip(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(os.urandom(1000).hex().encode())[:-20])
    with pytest.raises(InputError, match=r"a\.gz: damaged gzip data"):
        list(read_lines(path))


@pytest.mark.parametrize("pack", [False, True])
def test_invalid_utf8_is_placed(tmp_path: Path, pack: bool) -> None:
    content = "é\nab".encode() + b"\xe9\n"
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(content) if pack else content)
    with pytest.raises(InputError, match=r"a\.txt:2: not valid UTF-8: byte 0xe9 at offset 5\b"):
        list(read_lines(path))


def test_missing_folder_and_unreadable(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing: no such file"):
        list(read_lines(tmp_path / "nothing"))
    with pytest.raises(InputError, match="this is a folder"):
        list(read_lines(tmp_path))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_lines(tmp_path / ("long" * 100)))


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.BytesIO(gzip.compress(b'{"doc_key": "d", "sentences": [["\xc3\xa9"]]}\n'))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(packed))
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding="ascii"))
    assert write_documents(read_documents("-"), "-", "litbank") == 1
    assert "\té\t" in output.getvalue().decode("utf-8")
    assert not packed.closed


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("standard", [False, True])
def test_waiting_for_a_pipe_can_be_stopped(
    pack: bool, standard: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has come is there (of packed data what could be unpacked), and nobody complains of an end in its middle."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = b"Anna ran.\n" * 3
    packed = zlib.compressobj(wbits=31)
    with path.open("r+b", buffering=0) as writer:  # r+: to open it does not wait for a reader
        writer.write(packed.compress(content) + packed.flush(zlib.Z_SYNC_FLUSH) if pack else content)
        asked: list[None] = []

        def should_stop() -> bool:
            asked.append(None)
            return len(asked) == 3

        if standard:
            with path.open() as stdin:
                monkeypatch.setattr(sys, "stdin", stdin)
                read = b"".join(read_chunks(STANDARD, should_stop=should_stop))
                assert not stdin.buffer.closed
        else:
            read = b"".join(read_chunks(path, should_stop=should_stop))
    assert content.startswith(read) if pack else content == read
    assert len(asked) == 3


def test_a_file_never_lets_anybody_wait(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_bytes(b"Anna ran. " * 5000)
    assert b"".join(read_chunks(path, should_stop=lambda: pytest.fail("asked"))) == path.read_bytes()


def test_existing_output_is_refused_before_any_work(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old")
    with pytest.raises(StreamcorefError, match="the file exists; give force=True to replace it"):
        write_documents(failing(), path, "jsonlines")
    with pytest.raises(StreamcorefError, match="the file exists"):
        check_output(path)
    assert path.read_text() == "old"
    assert write_documents([DOCUMENT], path, "jsonlines", force=True) == 1
    assert list(read_documents(path)) == [DOCUMENT]


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_an_error_leaves_nothing_and_keeps_the_old_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(StreamcorefError, match="half way"):
        write_documents(failing(), tmp_path / name, "jsonlines")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / name).write_text("old")
    with pytest.raises(StreamcorefError, match="half way"):
        write_documents(failing(), tmp_path / name, "jsonlines", force=True)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_file_can_be_converted_onto_itself(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_documents([DOCUMENT] * 3, path, "jsonlines")
    assert write_documents(read_documents(path), path, "conll", force=True) == 3
    assert list(read_documents(path)) == [DOCUMENT] * 3


def test_output_is_an_ordinary_file_or_a_link_to_one(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    with open_output(target) as stream:
        stream.write("one\r\n")
    assert target.read_bytes() == b"one\r\n"
    (tmp_path / "ordinary").touch()
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE((tmp_path / "ordinary").stat().st_mode)
    link.symlink_to(target)
    with open_output(link, force=True) as stream:
        stream.write("two")
    assert link.is_symlink()
    assert target.read_text() == "two"
    with open_output(Path(os.devnull)) as stream:
        stream.write("gone")


def test_gz_in_the_name_compresses(tmp_path: Path) -> None:
    path = tmp_path / "a.conll.gz"
    write_documents([DOCUMENT], path, "conll")
    assert gzip.decompress(path.read_bytes()).startswith(b"#begin document (d);\n")


def test_outputs_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(StreamcorefError, match="there is no folder"):
        check_output(tmp_path / "none" / "a")
    with pytest.raises(StreamcorefError, match="this is a folder"):
        check_output(tmp_path)
    with pytest.raises(StreamcorefError, match="half of a character"):
        write_documents([Document.from_sentences("d", [["\ud800"]])], tmp_path / "a", "jsonlines")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["jsonlines", "conll", "litbank", "conllu"])
def test_memory_holds_one_document_and_never_the_file(tmp_path: Path, name: str) -> None:
    document = Document.from_sentences("d", [["longer_word"] * 20] * 10, [[(0, 2), (5, 6)]])
    path, again = tmp_path / "many", tmp_path / "again"
    write_documents((document for _ in range(250)), path, name)
    tracemalloc.start()
    try:
        assert write_documents(read_documents(path), again, name) == 250
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < path.stat().st_size / 2
