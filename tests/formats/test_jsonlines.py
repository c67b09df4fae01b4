from __future__ import annotations

import json
from dataclasses import replace

import pytest
from generated_documents import SPEAKERS, documents, read, written
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.document import Document
from streamcoref.errors import InputError
from streamcoref.formats.jsonlines import FORMAT

ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=5)


def line(**values: object) -> str:
    return json.dumps({"doc_key": "a/b", "sentences": [["x", "y"], [], ["z"]]} | values) + "\n"


def test_offsets_are_inclusive_and_empty_sentences_vanish() -> None:
    (document,) = read(FORMAT, line(clusters=[[[0, 1], [2, 2]]], predicted_clusters=[[[1, 2]]], other={"a": 1}))
    assert document.sentences == (("x", "y"), ("z",))
    assert document.clusters == (((0, 2), (2, 3)),)
    assert document.predicted_clusters == (((1, 3),),)


def test_speakers_by_word_or_by_sentence() -> None:
    (by_word,) = read(FORMAT, line(speakers=[["A", "B"], [], ["A"]]))
    assert by_word.speakers == ("A", "B", "A")
    (by_sentence,) = read(FORMAT, line(speakers=["A", "nobody", "B"]))
    assert by_sentence.speakers == ("A", "A", "B")
    (unknown,) = read(FORMAT, line(speakers=[["", ""], [], [""]]))
    assert unknown.speakers == ()


def test_genre_comes_from_the_key_when_absent() -> None:
    assert [d.genre for d in read(FORMAT, line() + line(genre="news") + line(genre=None))] == ["a", "news", None]
    assert read(FORMAT, line(doc_key="plain"))[0].genre is None


@given(
    documents(words=ANY_TEXT, speakers=st.one_of(SPEAKERS, ANY_TEXT), genres=st.none() | ANY_TEXT, texts=True),
    st.booleans(),
)
def test_round_trip_of_everything(document: Document, predicted: bool) -> None:
    if predicted:
        scores = {span: 0.25 for cluster in document.clusters for span in cluster}
        document = replace(document, predicted_clusters=document.clusters[1:], scores=scores)
    assert read(FORMAT, written(FORMAT, document, document)) == [document, document]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"doc_key": 3}, "'doc_key' must be a string"),
        ({"sentences": ["x y"]}, "'sentences' must be a list of lists of strings, but item 0"),
        ({"sentences": [["x", 3]]}, "'sentences' must be a list of lists of strings"),
        ({"sentences": {}}, "'sentences' must be a list"),
        ({"clusters": [[[0, 3]]]}, r"'clusters' has the mention \[0, 3\], outside the document's offsets 0 to 2"),
        ({"clusters": [[[-1, 0]]]}, "outside"),
        ({"predicted_clusters": [[[1, 7]]]}, "'predicted_clusters' has the mention"),
        ({"clusters": [[[2, 1]]]}, "end comes before its start"),
        ({"clusters": [[[0, 1.5]]]}, "must be two integers"),
        ({"clusters": [[[0, True]]]}, "must be two integers"),
        ({"clusters": [[[0]]]}, "must be two integers"),
        ({"clusters": [[0, 1]]}, "must be two integers"),
        ({"clusters": "none"}, "'clusters' must be a list of clusters"),
        ({"speakers": ["A"]}, "one item for each of the 3 sentences"),
        ({"speakers": [["A"], [], ["B"]]}, "'speakers' of sentence 0 must be one name or a list of 2 names"),
        ({"speakers": [["A", 1], [], ["B"]]}, "'speakers' of sentence 0"),
        ({"genre": 1}, "'genre' must be a string"),
        ({"text": "x y z"}, "no 'offsets'"),
        ({"text": "x", "offsets": [[0, 1]]}, "1 character offsets for 3 words"),
        ({"text": "x", "offsets": [[0, 9]]}, "the text has 1 characters"),
        ({"text": "x", "offsets": [[0]]}, "lists of 2 numbers"),
        ({"scores": [[0, 5, 0.5]]}, "no mention of the 3 words"),
        ({"scores": [[0, 1, "high"]]}, "lists of 3 numbers"),
    ],
)
def test_wrong_values_are_named_with_their_line(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(FORMAT, line() + "\n" + line(**values), "bad.jsonl")
    assert str(caught.value).startswith("bad.jsonl:3: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"doc_key": "a", \n', "broken JSON at column"),
        ("[1, 2]\n", "one JSON object"),
        ('{"doc_key": "a"}\n', "no 'sentences'"),
        ('{"sentences": []}\n', "no 'doc_key'"),
        ("[" * 100_000 + "\n", "cannot be read"),
    ],
)
def test_broken_lines(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(FORMAT, text, "bad.jsonl")
    assert str(caught.value).startswith("bad.jsonl:1: ")
