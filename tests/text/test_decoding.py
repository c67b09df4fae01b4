"""Texts decoded chunk by chunk: however they are cut and wherever one goes on, the characters are the file's own."""

from __future__ import annotations

import random
from encodings.aliases import aliases
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamcoref.errors import InputError, Remedy, StreamcorefError
from streamcoref.text.decoding import TextDecoder, check_encoding

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("é€𝄞\r\n\ufeff\0"), max_size=60)
PATH = Path("book.txt")


def looks_wide(content: bytes) -> bool:
    """Whether this is refused as UTF-16, which some texts with many NULs are."""
    try:
        TextDecoder(PATH, "utf-8", "replace").decode(content)
    except InputError as error:
        return "this is UTF-16" in str(error)
    return False


@given(text=TEXTS, encoding=st.sampled_from(["utf-8", "utf-16", "utf-7"]), data=st.data())
def test_any_cut_gives_the_same_text_and_the_same_positions(text: str, encoding: str, data: st.DataObject) -> None:
    content = text.encode(encoding)
    assume(encoding == "utf-16" or not any(looks_wide(content[:end]) for end in range(len(content) + 1)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=5)))
    decoder = TextDecoder(PATH, encoding, "strict")
    read = ""
    for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True):
        read += decoder.decode(content[a:b])
        at_once = TextDecoder(PATH, encoding, "strict")
        at_once.decode(content[:b])
        assert at_once.position == decoder.position  # by which a store knows its place in a text again
    read += decoder.decode(b"", final=True)
    assert read == text
    assert (decoder.characters, decoder.bytes_read) == (len(text), len(content))


@given(before=TEXTS, cut=st.integers(0, 200))
def test_the_bad_byte_is_named_wherever_chunks_end(before: str, cut: int) -> None:
    content = before.encode() + b"\xc3(" + b"after"
    assume(not looks_wide(content[:cut]))
    offset, line = len(before.encode()), before.count("\n") + 1
    said = rf"^book\.txt:{line}: not valid utf-8: byte 0xc3 at offset {offset}; name the encoding"
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
    for errors in ("strict", "replace", "ignore"):
        with pytest.raises(
            InputError, match=r"book\.txt: this is UTF-16, not utf-8; give encoding=.utf-16.$"
        ) as caught:
            TextDecoder(PATH, "utf-8", errors).decode(content)
        assert caught.value.remedy is Remedy.UTF_16
    assert TextDecoder(PATH, "utf-16", "strict").decode(content) == "Anna ran. " * 100


@pytest.mark.parametrize(("encoding", "remedy"), [("utf-16-le", Remedy.UTF_16_LE), ("utf-16-be", Remedy.UTF_16_BE)])
@pytest.mark.parametrize("text", ["Anna ran.", "Anna ran. Zoë fell.\r\n" * 3, "“Anna” ran — far. " * 500])
def test_utf16_without_a_mark_is_recognised_however_short(text: str, encoding: str, remedy: Remedy) -> None:
    for other in ("utf-8", "latin-1"):
        with pytest.raises(InputError, match=rf"this is UTF-16, not {other}") as caught:
            TextDecoder(PATH, other, "replace").decode(text.encode(encoding))
        assert caught.value.remedy is remedy
    assert TextDecoder(PATH, encoding, "strict").decode(text.encode(encoding)) == text


@pytest.mark.parametrize("text", ["Die Tür fällt zu. ", "“Ça va?” said Zoë. "])
def test_latin1_is_refused_with_the_option_that_helps(text: str) -> None:
    content = text.encode("cp1252")
    with pytest.raises(InputError, match=r"not valid utf-8: byte 0x.. at offset \d+; name the encoding it has"):
        TextDecoder(PATH, "utf-8", "strict").decode(content)
    assert TextDecoder(PATH, "cp1252", "strict").decode(content) == text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_wide_characters_without_a_mark_are_refused(encoding: str, errors: str) -> None:
    """Nobody knows their order; a mark is what UTF-16 is told by."""
    with pytest.raises(InputError, match=rf"^book\.txt.*: not valid {encoding}: "):
        TextDecoder(PATH, encoding, errors).decode(b"Anna ran. " * 10)


@pytest.mark.parametrize(
    "content",
    [
        random.Random(1).randbytes(40),
        b"Anna ran. " * 600 + random.Random(2).randbytes(2000),
        bytes(random.Random(3).choices(b"abcdefgh \n\xff\xfe\x80", k=5000)),
        ("Ελλάδα και Κύπρος. " * 100).encode("iso-8859-7"),
    ],
)
def test_what_would_be_lost_is_not_to_be_replaced(content: bytes) -> None:
    """Data, or all of a text in another encoding: only the encoding can be named."""
    with pytest.raises(InputError, match="not valid utf-8") as caught:
        TextDecoder(PATH, "utf-8", "strict").decode(content)
    assert caught.value.remedy is Remedy.ENCODING


@pytest.mark.parametrize("content", [b"Anna \xff ran. " + b"She fell. " * 100, "Die Tür fällt zu.".encode("latin-1")])
def test_a_byte_that_went_wrong_may_be_replaced(content: bytes) -> None:
    with pytest.raises(InputError, match="not valid utf-8") as caught:
        TextDecoder(PATH, "utf-8", "strict").decode(content)
    assert caught.value.remedy is Remedy.BAD_BYTES


def test_text_in_another_encoding_is_not_called_binary() -> None:
    content = ("Ελλάδα και Κύπρος. " * 100).encode("iso-8859-7")
    with pytest.raises(InputError, match="not valid utf-8"):
        TextDecoder(PATH, "utf-8", "strict").decode(content)


@pytest.mark.parametrize(
    ("given", "name"), [("UTF8", "utf-8"), ("utf_16", "utf-16"), ("Latin-1", "iso8859-1"), ("cp037", "cp037")]
)
def test_encodings_are_known_by_their_usual_names(given: str, name: str) -> None:
    assert check_encoding(given, "strict") == name


@pytest.mark.parametrize(
    "bad", ["klingon", "base64", "zip", "rot13", "undefined", "idna", "punycode", "uu", "", "a\0b", "é"]
)
def test_what_is_no_encoding_of_text_is_refused(bad: str) -> None:
    with pytest.raises(StreamcorefError, match="encoding") as caught:
        check_encoding(bad, "strict")
    assert caught.value.remedy is Remedy.KNOWN_ENCODING


def test_there_are_three_ways_to_treat_bad_bytes() -> None:
    with pytest.raises(StreamcorefError, match="'drop': there is no such way to treat bad bytes; one of strict, rep"):
        check_encoding("utf-8", "drop")


@pytest.mark.parametrize("encoding", sorted({*aliases.values()}))
def test_every_encoding_that_is_taken_can_be_read_in_pieces(encoding: str) -> None:
    """None of Python's is a traceback later: what does not come back as it was is refused now."""
    try:
        name = check_encoding(encoding, "replace")
    except StreamcorefError:
        return
    text = "Anna ... met Bo.\r\nShe smiled, and he ran!"
    content = text.encode(name)
    decoder = TextDecoder(PATH, name, "replace")
    read = ""
    for place in range(len(content)):
        read += decoder.decode(content[place : place + 1])
        at_once = TextDecoder(PATH, name, "replace")
        at_once.decode(content[: place + 1])
        assert at_once.position == decoder.position
    assert read + decoder.decode(b"", final=True) == text
