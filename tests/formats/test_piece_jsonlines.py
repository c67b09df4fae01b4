from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from generated_documents import SPEAKERS, content, documents, read
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer
from transformers import PreTrainedTokenizerFast

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats.piece_jsonlines import FORMAT, writer

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "He", "left", "un", "##happi", "##ly", ".", "a", "##a"]


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    model = Tokenizer(WordPiece({piece: i for i, piece in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    model.pre_tokenizer = BertPreTokenizer()
    return PreTrainedTokenizerFast(
        tokenizer_object=model, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]"
    )


def written(tokenizer: PreTrainedTokenizerFast, document: Document, length: int) -> str:
    stream = io.StringIO()
    writer(tokenizer, length)([document], stream)
    return stream.getvalue()


# Two sentences; the second is cut after its second word, as 5 pieces leave no room for the third.
DOCUMENT = Document.from_sentences(
    "bc/x_0",
    [["He", "left", "."], ["He", "unhappily", "left"]],
    [[(0, 1), (3, 4)], [(4, 6)]],
    predicted_clusters=[[(0, 1)]],
    speakers=["A", "A", "", "B", "B", "B"],
    genre="bc",
)
RECORD = {
    "doc_key": "bc/x_0",
    "sentences": [
        ["[CLS]", "He", "left", ".", "[SEP]"],
        ["[CLS]", "He", "un", "##happi", "##ly", "[SEP]"],
        ["[CLS]", "left", "[SEP]"],
    ],
    "speakers": [
        ["[SPL]", "A", "A", "-", "[SPL]"],
        ["[SPL]", "B", "B", "B", "B", "[SPL]"],
        ["[SPL]", "B", "[SPL]"],
    ],
    "clusters": [[[1, 1], [6, 6]], [[7, 12]]],
    "sentence_map": [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2],
    "subtoken_map": [0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 4, 4, 5, 5],
    "tokens": ["He", "left", ".", "He", "unhappily", "left"],
    "genre": "bc",
    "predicted_clusters": [[[1, 1]]],
}


def test_the_fields_are_those_of_the_baseline(tokenizer: PreTrainedTokenizerFast) -> None:
    assert json.loads(written(tokenizer, DOCUMENT, 6)) == RECORD


def test_reading_gives_the_words_back() -> None:
    assert read(FORMAT, json.dumps(RECORD)) == [DOCUMENT]


def test_without_tokens_the_pieces_are_joined() -> None:
    record = {key: value for key, value in RECORD.items() if key != "tokens"}
    assert read(FORMAT, json.dumps(record)) == [DOCUMENT]


def test_a_word_without_pieces() -> None:
    """The baseline's tokenizer may make nothing of a word, which leaves a hole in its subtoken_map."""
    record = {
        "doc_key": "d",
        "sentences": [["[CLS]", "a", "b", "[SEP]"]],
        "clusters": [[[2, 2]]],
        "sentence_map": [0, 0, 1, 2],
        "subtoken_map": [0, 0, 2, 2],
    }
    (document,) = read(FORMAT, json.dumps(record))
    assert (document.words, document.clusters) == (("a", "b"), (((1, 2),),))
    (document,) = read(FORMAT, json.dumps(record | {"tokens": ["a", "\u200b", "b"]}))
    assert document.sentences == (("a", "\u200b"), ("b",))
    assert document.clusters == (((2, 3),),)


@given(
    documents(words=st.text("a.\u200b\x00é ", min_size=1, max_size=4), speakers=SPEAKERS),
    st.integers(min_value=6, max_value=12),
)
def test_round_trip(tokenizer: PreTrainedTokenizerFast, document: Document, length: int) -> None:
    text = written(tokenizer, document, length)
    (again,) = read(FORMAT, text)
    assert content(again) == content(document)
    record = json.loads(text)
    pieces = [piece for segment in record["sentences"] for piece in segment]
    assert len(pieces) == len(record["sentence_map"]) == len(record["subtoken_map"])
    for segment in record["sentences"]:
        assert segment[0] == "[CLS]"
        assert segment[-1] == "[SEP]"
        assert len(segment) <= length
    for first, last in (mention for cluster in record["clusters"] for mention in cluster):
        assert record["subtoken_map"][first - 1] != record["subtoken_map"][first] or pieces[first - 1] == "[CLS]"
        assert record["subtoken_map"][last + 1] != record["subtoken_map"][last] or pieces[last + 1] == "[SEP]"


def test_what_it_cannot_hold(tokenizer: PreTrainedTokenizerFast) -> None:
    for speaker in ("-", "[SPL]"):
        with pytest.raises(StreamcorefError, match="speaker of word 0"):
            written(tokenizer, Document.from_sentences("d", [["a"]], speakers=[speaker]), 6)
    with pytest.raises(StreamcorefError, match="word 0 has 3 pieces, more than fit into a segment of 4"):
        written(tokenizer, Document.from_sentences("d", [["unhappily"]]), 4)
    with pytest.raises(StreamcorefError, match="at least 3"):
        writer(tokenizer, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clusters": [[[0, 1]]]}, r"mention \[0, 1\], which starts or ends at a special piece"),
        ({"clusters": [[[1, 4]]]}, "special piece"),
        ({"predicted_clusters": [[[5, 6]]]}, "'predicted_clusters' has the mention"),
        ({"clusters": [[[1, 14]]]}, "outside the document's offsets 0 to 13"),
        ({"clusters": [[["1", 2]]]}, "two integers"),
        ({"sentence_map": [0]}, "'sentence_map' has 1 numbers; it must have 14"),
        ({"subtoken_map": ["a"]}, "'subtoken_map' must be a list of integers"),
        ({"subtoken_map": list(range(14, 0, -1))}, "upwards from 0"),
        ({"tokens": ["He"]}, "'tokens' has 1 words, but 'subtoken_map' counts 6"),
        ({"tokens": [1]}, "'tokens' must be a list of strings"),
        ({"speakers": [["A"]]}, "one name for each piece"),
        ({"sentences": [["[CLS]"]]}, "without its two special pieces"),
        ({"sentences": [["[CLS]", "a", "[SEP]"], ["b", "[SEP]"]]}, "start with different pieces"),
        ({"sentences": "x"}, "'sentences' must be"),
    ],
)
def test_wrong_values_are_named_with_their_line(change: dict[str, Any], message: str) -> None:
    text = json.dumps(RECORD) + "\n" + json.dumps(RECORD | change)
    with pytest.raises(InputError, match=message) as caught:
        list(FORMAT.read(io.StringIO(text), Path("bad.jsonl")))  # type: ignore[misc]
    assert str(caught.value).startswith("bad.jsonl:2: ")
