"""Texts decoded chunk by chunk: however they are cut and wherever one goes on, the characters are the file's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.cli.text_input import TextDecoder, check_encoding, examine, read_text, refuse_change
from streamcoref.errors import InputError, StreamcorefError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("é€𝄞\r\n\ufeff\0"), max_size=60)
PATH = Path("book.txt")


@given(text=TEXTS, encoding=st.sampled_from(["utf-8", "utf-16", "utf-7"]), data=st.data())
def test_any_cut_and_any_resumption_give_the_same_text(text: str, encoding: str, data: st.DataObject) -> None:
    content = text.encode(encoding)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=5)))
    decoder = TextDecoder(PATH, encoding, "strict")
    read = ""
    for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True):
        read += decoder.decode(content[a:b])
        if data.draw(st.booleans()):
            decoder = TextDecoder(PATH, encoding, "strict", decoder.position)
    read += decoder.decode(b"", final=True)
    assert read == text
    assert (decoder.characters, decoder.bytes_read) == (len(text), len(content))


@given(before=TEXTS, cut=st.integers(0, 200))
def test_the_bad_byte_is_named_wherever_chunks_end(before: str, cut: int) -> None:
    content = before.encode() + b"\xc3(" + b"after"
    offset, line = len(before.encode()), before.count("\n") + 1
    said = rf"^book\.txt:{line}: not valid utf-8: byte 0xc3 at offset {offset}; name the"
    with pytest.raises(InputError, match=said):
        decode(content[:cut], content[cut:])


def decode(*parts: bytes) -> str:
    decoder = TextDecoder(PATH, "utf-8", "strict")
    return "".join(map(decoder.decode, parts))


def test_a_character_cut_off_at_the_end_is_an_error() -> None:
    decoder = TextDecoder(PATH, "utf-8", "strict")
    assert decoder.decode(b"caf\xc3") == "caf"
    with pytest.raises(InputError, match="byte 0xc3 at offset 3"):
        decoder.decode(b"", final=True)


def test_bad_bytes_can_be_replaced_or_ignored(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("Zoë ran.".encode("latin-1"))
    with pytest.raises(InputError, match="offset 2; name the encoding with --encoding, or go on with --errors replace"):
        examine(path, "utf-8", "strict")
    assert "".join(read_text(path, "utf-8", "replace")) == "Zo\ufffd ran."
    assert "".join(read_text(path, "utf-8", "ignore")) == "Zo ran."
    assert "".join(read_text(path, "latin-1", "strict")) == "Zoë ran."


@pytest.mark.parametrize(
    "content",
    [b"Anna\0ran.\0", b"\0" * 20, b"A\0B" * 1000, b"\x1b[1mAnna\x1b[0m " * 500, "Ελλάδα".encode() * 500, b""],
)
def test_text_with_control_characters_is_text(content: bytes) -> None:
    assert decode(content) == content.decode()


@pytest.mark.parametrize("content", [b"\0" * 5000, bytes(range(256)) * 30, b"\x7fELF\2\1\1\0\0\0\0\0" * 100])
def test_binary_data_is_refused_whatever_is_done_with_bad_bytes(content: bytes) -> None:
    for errors in ("strict", "replace", "ignore"):
        with pytest.raises(InputError, match=r"book\.txt: this is binary data, not text"):
            TextDecoder(PATH, "utf-8", errors).decode(content)


def test_utf16_is_recognised_as_what_it_is() -> None:
    content = ("Anna ran. " * 100).encode("utf-16")
    with pytest.raises(InputError, match="if it is UTF-16, add --encoding utf-16"):
        TextDecoder(PATH, "utf-8", "strict").decode(content)
    assert TextDecoder(PATH, "utf-16", "strict").decode(content) == "Anna ran. " * 100


def test_text_in_another_encoding_is_not_called_binary() -> None:
    content = ("Ελλάδα και Κύπρος. " * 100).encode("iso-8859-7")
    with pytest.raises(InputError, match="not valid utf-8"):
        TextDecoder(PATH, "utf-8", "strict").decode(content)


def test_encodings_are_known_by_their_usual_names() -> None:
    assert check_encoding("UTF8", "strict") == "utf-8"
    for bad in ("klingon", "base64", "undefined"):
        with pytest.raises(StreamcorefError, match=f"--encoding {bad}"):
            check_encoding(bad, "strict")
    with pytest.raises(StreamcorefError, match="--errors drop"):
        check_encoding("utf-8", "drop")


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("Anna ran.")
    examined = examine(path, "utf-8", "strict")
    refuse_change(path, examined)
    path.write_text("Berta ran.")
    with pytest.raises(InputError, match="changed while it was read"):
        refuse_change(path, examined)
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        refuse_change(path, examined)
