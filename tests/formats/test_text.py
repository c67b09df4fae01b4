"""Plain text in."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from streamcoref import InputError
from streamcoref.formats.files import read_lines
from streamcoref.formats.text import FORMAT, read


def test_text_is_kept_as_it_is(tmp_path: Path) -> None:
    text = "Ann\u2028came.\r\n\r\nShe\tsat.\rThen\n she left.  "
    path = tmp_path / "a.day.txt"
    path.write_bytes(text.encode())
    (document,) = read(read_lines(path), path)
    assert (document.key, document.text) == ("a.day", text)
    assert document.words == ("Ann", "came", ".", "She", "sat", ".", "Then", "she", "left", ".")
    assert document.sentence_ends == (3, 6, 10)
    assert [text[a:b] for a, b in document.offsets] == list(document.words)


def test_gzip_and_empty(tmp_path: Path) -> None:
    packed = tmp_path / "b.txt.gz"
    packed.write_bytes(gzip.compress(b"Hello there."))
    (document,) = read(read_lines(packed), packed)
    assert (document.key, document.words) == ("b", ("Hello", "there", "."))
    empty = tmp_path / "empty.txt"
    empty.touch()
    (document,) = read(read_lines(empty), empty)
    assert (document.words, document.text) == ((), "")


def test_bytes_that_are_no_text_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes(b"one\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"latin1\.txt:2: not valid UTF-8"):
        list(read(read_lines(path), path))


def test_it_is_known_by_its_name() -> None:
    assert FORMAT.endings == (".txt",)
    assert FORMAT.is_prose
    assert FORMAT.write is None
