"""Words and sentences of raw text."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref import StreamcorefError
from streamcoref.formats import read_documents
from streamcoref.text import document_from_text, split_text
from streamcoref.text.words import LONGEST_WORD, split_words


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in split_words(text)[0]]


def sentences(text: str) -> list[str]:
    offsets, ends = split_text(text)
    begins = [0, *ends[:-1]] if ends else []
    return [text[offsets[a][0] : offsets[b - 1][1]] for a, b in zip(begins, ends, strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes, I know.", "Yes|,|I|know|."),
        ("I didn't, and won’t; it's Ann's.", "I|did|n't|,|and|wo|n’t|;|it|'s|Ann|'s|."),
        ("We'll say they'd've, I'm, you're", "We|'ll|say|they|'d|'ve|,|I|'m|,|you|'re"),
        ("CAN'T WE? cannot, gonna, Gotta", "CA|N'T|WE|?|can|not|,|gon|na|,|Got|ta"),
        ("the boys' boat, \"Ann\"'s too", "the|boys|'|boat|,|\"|Ann|\"|'s|too"),
        ("'tis O'Hara at o'clock, d'Urberville", "'t|is|O'Hara|at|o'clock|,|d'Urberville"),
        ("catch 'em, 'till", "catch|'em|,|'|till"),
        ("a well-known--yes, long—dash", "a|well-known|--|yes|,|long|—|dash"),
        ("w- what... no…", "w-|what|...|no|…"),
        ("It cost $40,000.50 (7.2%) at 08:00, 1/2.", "It|cost|$|40,000.50|(|7.2|%|)|at|08:00|,|1/2|."),
        ("the 19th, 1960s, 3rd", "the|19th|,|1960s|,|3rd"),
        ("Mr. J. Smith, Ph.D., of the U.S. met Dr. Lee, e.g. here.", None),
        ("So do I. No. No. 5 is p. 7.", "So|do|I|.|No|.|No.|5|is|p.|7|."),
        ("“‘Oh,’ she said,” he said.", "“|‘|Oh|,|’|she|said|,|”|he|said|."),
        ("``Oh,'' he said", "``|Oh|,|''|he|said"),
        ("AT&T and/or _very_ ***", "AT&T|and|/|or|_|very|_|***"),
        ("write to a.b@c.org or see https://x.org/a?b=1, ok", "write|to|a.b@c.org|or|see|https://x.org/a?b=1|,|ok"),
        ("hm?! no!!", "hm|?|!|no|!|!"),
        ("cafe\u0301 नमस्ते שָׁלוֹם", "cafe\u0301|नमस्ते|שָׁלוֹם"),
        ("他来了。", "他|来|了|。"),
        ("ok 👨\u200d👩\u200d👧 👍🏽 🇳🇿!", "ok|👨\u200d👩\u200d👧|👍🏽|🇳🇿|!"),
        ("می\u200cخواهم، بله؟", "می\u200cخواهم|،|بله|؟"),
    ],
)
def test_words(text: str, expected: str | None) -> None:
    if expected is None:
        expected = "Mr.|J.|Smith|,|Ph.D.|,|of|the|U.S.|met|Dr.|Lee|,|e.g.|here|."
    assert words(text) == expected.split("|")


@pytest.mark.parametrize(
    "blank", ["\ufeff", "\u200b", "\u2060", "\u200e", "\u00a0", "\u3000", "\x00", "\r\n", "\u2028"]
)
def test_blanks_divide_words_and_belong_to_none(blank: str) -> None:
    assert words(f"{blank}one{blank}two{blank}") == ["one", "two"]


@pytest.mark.parametrize("joiner", ["\u200d", "\u00ad", "\ufe0f"])
def test_a_joiner_outside_a_word_belongs_to_no_word(joiner: str) -> None:
    assert words(f"{joiner} a{joiner}b {joiner}") == [f"a{joiner}b"]


def test_a_long_unbroken_run_is_cut() -> None:
    pieces = words("x" * 250)
    assert [len(piece) for piece in pieces] == [100, 100, 50]
    assert max(len(piece) for piece in words("https://x.org/" + "y" * 900)) == LONGEST_WORD


def test_streams_of_rubbish_take_linear_time() -> None:
    for text in ("a" * 1_000_000, "." * 100_000, "a." * 100_000, "'" * 100_000, "1," * 100_000, "(" * 100_000):
        began = time.process_time()
        split_text(text)
        assert time.process_time() - began < 3, text[:4]


@given(st.text())
def test_offsets_are_ordered_exact_and_bounded(text: str) -> None:
    offsets, ends = split_text(text)
    position = 0
    for start, end in offsets:
        assert position <= start < end <= min(len(text), start + LONGEST_WORD)
        assert not any(character.isspace() for character in text[start:end])
        position = end
    assert ends == sorted(set(ends))
    assert (ends[-1] if ends else 0) == len(offsets)


@given(st.text(alphabet="aB1 .,'\"-’\n(é中\u0301"))
def test_no_visible_character_is_lost(text: str) -> None:
    assert "".join(words(text)) == "".join(text.split())


@pytest.mark.parametrize(
    "expected",
    [
        ["He left.", "She stayed.", "Why?", "Nobody knew!"],
        ["Mr. and Mrs. Okafor saw Dr. J. R. Lind in St. Ives.", "They waved."],
        ["We came at 5 p.m. on Monday.", "The shop, i.e. Lind & Co. of Oslo, was shut."],
        ["She works for Lind Inc.", "The firm moved to the U.S.", "It is well."],
        ["“Come in!” he said.", "“It is cold.”", "She came."],
        ['"Who is it?" asked Ann.', '"Me."', '"Who?"'],
        ["(It rained.)", "[It did.]", "Then it stopped."],
        ["I said 'no.'", "He said ‘yes.’", "So."],
        ["Well... maybe.", "Perhaps…", "Then he slept.", "Oh... I see."],
        ["He left.[2]", "Later he came back. [13]", "They met."],
        ["It ended.", "—Not so, said the other.", "“No!—not that,” he cried."],
        ["1. Wash the leaves.", "2. Dry them."],
        ["What?!", "No...!", "Really?"],
        ["It grew by 3.5 in 1990.", "In 1991 it fell."],
    ],
)
def test_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_a_blank_line_ends_a_sentence_and_a_line_end_does_not() -> None:
    assert sentences("Chapter One\n\nIt was\nlate") == ["Chapter One", "It was\nlate"]
    assert sentences("Chapter One\r\n \t\r\nIt was\r\nlate") == ["Chapter One", "It was\r\nlate"]
    assert sentences("a\u2029b\fc") == ["a", "b", "c"]


def test_sentences_without_blanks_between_them() -> None:
    assert sentences("他来了。她走了！") == ["他来了。", "她走了！"]
    assert sentences("كيف حالك؟ أنا بخير.") == ["كيف حالك؟", "أنا بخير."]


def test_quotes_set_off_by_blanks_close_if_they_are_open() -> None:
    assert sentences('He said , " Go . " She went .') == ['He said , " Go . "', "She went ."]
    assert sentences('He went . " Go , " she said .') == ["He went .", '" Go , " she said .']


@given(st.lists(st.sampled_from(["A b.", "“C!”", "Mr. D", "e", "\n\n", "(F.)", "...", "I.", '"']), max_size=12))
def test_a_later_sentence_does_not_change_an_earlier_one(parts: list[str]) -> None:
    """What streaming rests on: after a paragraph's end, nothing behind it is looked at again."""
    first, second = " ".join(parts), "G h. I."
    (_, ends), (_, all_ends) = split_text(first), split_text(f"{first}\n\n{second}")
    assert all_ends[: len(ends)] == ends


def test_document_from_text() -> None:
    text = "\ufeffAnn’s  dog\r\nbarked. It\tslept."
    document = document_from_text("dog", text)
    assert document.text == text
    assert document.words == ("Ann", "’s", "dog", "barked", ".", "It", "slept", ".")
    assert document.sentence_ends == (5, 8)
    assert [text[a:b] for a, b in document.offsets] == list(document.words)
    assert document.speakers == ()
    assert document_from_text("d", "Hi. Ho.", ["A", "A", "B", "B"]).speakers == ("A", "A", "B", "B")
    with pytest.raises(StreamcorefError, match="1 speakers for 4 words"):
        document_from_text("d", "Hi. Ho.", ["A"])


@pytest.mark.parametrize("text", ["", " \n\u200b", "\ufeff"])
def test_a_text_without_words_is_an_empty_document(text: str) -> None:
    document = document_from_text("empty", text)
    assert (document.words, document.sentence_ends, document.text) == ((), (), text)


@pytest.mark.corpus
def test_words_and_sentences_agree_with_ontogum(shared: Path) -> None:
    """Its text is rebuilt by our own reader, so a paragraph is only a line end: the harder case."""
    found = gold = right = found_ends = gold_ends = right_ends = 0
    for key in (shared / "corpora/ontogum/dev.ids").read_text(encoding="utf-8").split():
        for document in read_documents(shared / f"corpora/ontogum/conllu/{key}.conllu"):
            assert document.text is not None
            offsets, ends = split_text(document.text)
            ours = {offsets[end - 1][1] for end in ends}
            theirs = {document.offsets[end - 1][1] for end in document.sentence_ends}
            found, gold = found + len(offsets), gold + len(document.words)
            right += len(set(offsets) & set(document.offsets))
            found_ends, gold_ends = found_ends + len(ours), gold_ends + len(theirs)
            right_ends += len(ours & theirs)
    word_f1, end_f1 = 2 * right / (found + gold), 2 * right_ends / (found_ends + gold_ends)
    assert word_f1 > 0.99, word_f1
    assert end_f1 > 0.90, end_f1
