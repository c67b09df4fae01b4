"""`Document.to_dict` and `Document.from_dict`: plain values that hold everything; the checks are those of jsonlines."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from generated_documents import SPEAKERS, documents, read, written
from hypothesis import given
from hypothesis import strategies as st

from streamcoref import Document, InputError, MentionLabels, Section
from streamcoref.formats.jsonlines import FORMAT

ANY_TEXT = st.text(max_size=5)  # halves of characters, too: these are values, not yet a file
LABELS = [MentionLabels(("place", "facility"), None, "new"), MentionLabels(kind="PRON"), MentionLabels()]
RECORD: dict[str, Any] = {"doc_key": "a/b", "sentences": [["x", "y"], [], ["z"]]}


@given(
    documents(words=ANY_TEXT, speakers=st.one_of(SPEAKERS, ANY_TEXT), genres=st.none() | ANY_TEXT, texts=True),
    st.booleans(),
)
def test_round_trip_of_everything(document: Document, predicted: bool) -> None:
    if document.text:
        middle = len(document.text) // 2
        sections = Section("I", 1, 0, middle), Section("§ “x”", 2, 1, middle), Section("", 1, middle, middle)
        document = replace(document, sections=sections if middle else ())
    if predicted:
        scores = {span: 1 / 3 for cluster in document.clusters for span in cluster}
        spans = [span for cluster in document.clusters for span in cluster]
        labels = {span: LABELS[number % len(LABELS)] for number, span in enumerate(spans)}
        types = {cluster[0]: ("person", 0.5) for cluster in document.clusters[1:]}
        document = replace(
            document, predicted_clusters=document.clusters[1:], scores=scores, labels=labels, types=types
        )
    values = document.to_dict()
    assert Document.from_dict(values) == document
    assert json.loads(json.dumps(values)) == values, "plain values: lists, no tuples"
    assert Document.from_dict(json.loads(json.dumps(values))) == document


@given(documents(texts=True))
def test_it_is_what_jsonlines_has_on_a_line(document: Document) -> None:
    assert written(FORMAT, document) == json.dumps(document.to_dict(), ensure_ascii=False) + "\n"


def test_an_example() -> None:
    document = Document.from_sentences("note", [["Ann", "ran", "."], ["She", "fell"]], [[(0, 1), (3, 4)]])
    assert document.to_dict() == {
        "doc_key": "note",
        "sentences": [["Ann", "ran", "."], ["She", "fell"]],
        "clusters": [[[0, 0], [3, 3]]],
    }
    assert Document.from_dict(RECORD | {"speakers": ["A", "", "B"], "other": 1}).speakers == ("A", "A", "B")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"doc_key": 3}, "'doc_key' must be a string"),
        ({"sentences": ["x y"]}, "'sentences' must be a list of lists of strings, but item 0"),
        ({"clusters": [[[0, 3]]]}, r"'clusters' has the mention \[0, 3\], outside"),
        ({"clusters": [[object()]]}, "'clusters' has the mention .*object.*must be two integers"),
        ({"speakers": ["A"]}, "one item for each of the 3 sentences"),
        ({"text": "x"}, "no 'offsets'"),
        ({"text": "x", "offsets": [[0, 1]]}, "1 character offsets for 3 words"),
        ({"scores": [[0, 5, 0.5]]}, "no mention of the 3 words"),
        ({"types": [[0, 1, "person"]]}, "'types' has .*no mention of the 3 words"),
        ({"types": [[0, 1, 3, 0.5]]}, r"'types' of \[0, 1\] must be a string and a number"),
        ({"labels": {}}, r"'labels' must be a list of \[first, last, "),
        ({"labels": [[0, 1]]}, "'labels' has .*no mention of the 3 words"),
        ({"labels": [[1, 0, {}]]}, r"'labels' has \[1, 0, ...\], which is no mention of the 3 words"),
        ({"labels": [[0, 3, {}]]}, r"'labels' has \[0, 3, ...\], which is no mention of the 3 words"),
        ({"labels": [[0, 1, {"kind": 1}]]}, r"'labels' of \[0, 1\] must be an object with types"),
        ({"labels": [[0, 1, {"types": [1]}]]}, r"'labels' of \[0, 1\] has types that are not strings"),
        ({"sections": "I"}, "'sections' must be a list of objects"),
        ({"sections": [{"title": "I", "level": 1, "start": 0}]}, "objects with title, level, start, end, but has"),
        ({"sections": [{"title": "I", "level": True, "start": 0, "end": 0}]}, "objects with title, level"),
        ({"sections": [{"title": "I", "level": 1, "start": 0, "end": 9}]}, "a section lies outside its text"),
    ],
)
def test_wrong_values_have_the_errors_of_the_reader(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as ours:
        Document.from_dict(RECORD | values)
    if all(not isinstance(value, list) or "object" not in str(value) for value in values.values()):
        with pytest.raises(InputError) as theirs:
            read(FORMAT, json.dumps(RECORD | values), "f")
        assert str(theirs.value) == f"f:1: {ours.value}"


@pytest.mark.parametrize("values", [[], "text", None])
def test_what_is_no_record_at_all(values: Any) -> None:
    with pytest.raises(InputError, match="must be a dictionary"):
        Document.from_dict(values)
    with pytest.raises(InputError, match="the document has no 'doc_key'"):
        Document.from_dict({})
