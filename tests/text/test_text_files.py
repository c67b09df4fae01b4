"""Text files: their characters as they are, looked at before they are read, and nothing else taken for prose."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from streamcoref.errors import InputError, Remedy
from streamcoref.text.files import examine, is_regular, read_prose, read_text, refuse_change

HOW = "utf-8", "strict"


def test_a_file_is_examined_unpacked(tmp_path: Path) -> None:
    content = "Zoë met Bo.\r\n".encode() * 1000
    for name, stored in (("a.txt", content), ("b.txt.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(stored)
        found = examine(tmp_path / name, *HOW)
        assert (found.size, found.characters) == (len(content), len(content.decode()))
        assert found.sha256 == hashlib.sha256(content).hexdigest()
        assert "".join(read_text(tmp_path / name, *HOW)) == content.decode()


def test_bad_bytes_can_be_replaced_or_ignored(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("Zoë ran.".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.txt:1: not valid utf-8: byte 0xeb at offset 2; name") as caught:
        examine(path, *HOW)
    assert caught.value.remedy is Remedy.BAD_BYTES
    assert "".join(read_text(path, "utf-8", "replace")) == "Zo\ufffd ran."
    assert "".join(read_text(path, "utf-8", "ignore")) == "Zo ran."
    assert "".join(read_text(path, "latin-1", "strict")) == "Zoë ran."


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("Anna ran.")
    examined = examine(path, *HOW)
    refuse_change(path, examined)
    path.write_text("Berta ran.")
    with pytest.raises(InputError, match="changed while it was read"):
        refuse_change(path, examined)
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        refuse_change(path, examined)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<!doctype html><html><body>Anna ran.</body></html>", "the format html"),
        (b"%PDF-1.7\n", "the format pdf"),
        (b'{"doc_key": "a", "sentences": [["Anna", "ran"]], "clusters": []}\n', "the format jsonlines"),
        (b"# newdoc id = a\n1\tAnna\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "the format conllu"),
    ],
)
def test_other_things_are_not_read_as_prose_unless_somebody_is_sure(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        list(read_text(path, *HOW, is_sure=False))
    assert "".join(read_text(path, *HOW)) == content.decode()


def test_prose_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    for content in (b"", b"Anna ran. " * 5000):
        path.write_bytes(content)
        assert b"".join(read_prose(path)) == content


def test_pipes_are_not_regular(tmp_path: Path) -> None:
    assert not is_regular(Path("-"))
    assert not is_regular(Path("/dev/null"))
    assert not is_regular(tmp_path)
    (tmp_path / "book.txt").touch()
    assert is_regular(tmp_path / "book.txt")
