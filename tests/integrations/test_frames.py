"""Data frames: a row a mention or an entity, with the same values and types by pandas and polars, empty ones too."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings

from streamcoref import Document, Quotation, StreamcorefError
from streamcoref.formats import FORMATS
from tests import toy_resolver
from tests.formats.generated_documents import documents

TEXT = "Anna saw the captain. He left her. She lost his letter, and he found it."
KINDS = ("pandas", "polars")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    pytest.importorskip(name, reason=f"{name} is not installed: pip install 'streamcoref[{name}]'")
    return name


def records(frame: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        frame.to_dict("records") if hasattr(frame, "to_dict") and hasattr(frame, "iloc") else frame.to_dicts()
    )
    return [{name: None if value != value else value for name, value in row.items()} for row in rows]


def answered() -> Document:
    return toy_resolver.resolver().resolve(TEXT, singletons=True, key="story")


def test_one_row_a_mention(kind: str) -> None:
    document = answered()
    rows = records(document.to_frame(kind))  # type: ignore[arg-type]
    found = {
        (
            row["document"],
            row["entity"],
            row["name"],
            row["size"],
            row["text"],
            row["start"],
            row["end"],
            row["word_start"],
            row["word_end"],
            row["sentence"],
            row["score"],
        )
        for row in rows
    }
    assert len(rows) == len(found) == sum(entity.size for entity in document.entities) > 4
    assert found == {
        ("story", e.id, e.name, e.size, m.text, m.start, m.end, m.word_start, m.word_end, m.sentence, m.score)
        for e in document.entities
        for m in e.mentions
    }
    assert [row["word_start"] for row in rows] == sorted(row["word_start"] for row in rows)


def test_one_row_an_entity(kind: str) -> None:
    document = answered()
    rows = records(document.entities_to_frame(kind))  # type: ignore[arg-type]
    assert [(row["entity"], row["name"], row["size"]) for row in rows] == [
        (entity.id, entity.name, entity.size) for entity in document.entities
    ]
    for row, entity in zip(rows, document.entities, strict=True):
        assert row["start"] == entity.mentions[0].start
        assert row["end"] == max(mention.end or 0 for mention in entity.mentions)
        assert row["word_start"] == entity.mentions[0].word_start
        assert row["word_end"] == max(mention.word_end for mention in entity.mentions)
        assert (row["sentence"], row["last_sentence"]) == (entity.mentions[0].sentence, entity.mentions[-1].sentence)


def types(frame: Any) -> dict[str, str]:
    return {name: str(frame[name].dtype).lower().replace("string", "str") for name in frame.columns}


def test_types_do_not_depend_on_the_rows(kind: str) -> None:
    """Of a document with scores, of one without, and of one without words."""
    gold = Document("g", ("Ann", "and", "her"), (3,), (((0, 1), (2, 3)),))
    for method in ("to_frame", "entities_to_frame"):
        full, without, empty = (
            types(getattr(document, method)(kind)) for document in (answered(), gold, Document("e", (), ()))
        )
        assert full == without == empty
        numbers = {"entity", "size", "start", "end", "word_start", "word_end", "sentence", "last_sentence"}
        for name, found in full.items():
            assert found == ("int64" if name in numbers else "float64" if name == "score" else "str")
    assert [row["score"] for row in records(gold.to_frame(kind))] == [None, None]  # type: ignore[arg-type]
    assert [row["start"] for row in records(gold.to_frame(kind))] == [0, 8]  # type: ignore[arg-type]


def test_one_row_a_quotation(kind: str) -> None:
    """What the format `quotations` writes; who speaks may be missing."""
    said = Quotation(0, 3, None, None, 0, None, "named", 0.5), Quotation(4, 6, None, None, None, None, "unknown", 0.0)
    document = Document("d", ("-", "Ann", "!", "a", "-", "b"), (6,), (((1, 2),),), quotations=said)
    full, empty = (one.quotations_to_frame(kind) for one in (document, Document("e", (), ())))  # type: ignore[arg-type]
    missing = None if kind == "polars" else pytest.importorskip("pandas").NA
    assert full["speaker"].to_list() == [0, missing]
    assert full["speaker_name"].to_list()[0] == "Ann"
    assert full["text"].to_list() == ["- Ann !", "- b"]
    assert full["score"].to_list() == [0.5, 0.0]
    assert types(full) == types(empty)
    assert {types(full)[name] for name in ("speaker", "addressee", "start", "word_end")} == {"int64"}


def test_frames_can_be_worked_with(kind: str) -> None:
    frame = answered().to_frame(kind)  # type: ignore[arg-type]
    if kind == "pandas":
        sizes = frame.groupby("entity").size().to_dict()
    else:
        sizes = dict(frame.group_by("entity").len().iter_rows())
    assert sizes == {entity.id: entity.size for entity in answered().entities}


@settings(max_examples=30)
@given(documents())
def test_a_frame_is_what_csv_has(document: Document) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: pip install 'streamcoref[pandas]'")
    written = io.StringIO()
    write = FORMATS["csv"].write
    assert write is not None
    write([document], written)
    frame = document.to_frame()
    read = pandas.read_csv(
        io.StringIO(written.getvalue()), dtype=frame.dtypes.to_dict(), keep_default_na=False, na_values={"score": [""]}
    )
    if "\r" not in written.getvalue():  # which csv readers take for the end of a row
        pandas.testing.assert_frame_equal(read, frame)


def test_pandas_comes_first_and_others_are_refused() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: pip install 'streamcoref[pandas]'")
    assert isinstance(answered().to_frame(), pandas.DataFrame)
    assert isinstance(answered().entities_to_frame(), pandas.DataFrame)
    with pytest.raises(StreamcorefError, match="no frames of the kind 'arrow'; give pandas or polars"):
        answered().to_frame("arrow")  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", KINDS)
def test_a_missing_package_is_answered_with_its_command(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from streamcoref import Document, Quotation, StreamcorefError\n"
        f"try: Document('d', ('Ann',), (1,)).to_frame({missing!r})\n"
        "except StreamcorefError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.strip() == f"{missing} is not installed; run: pip install 'streamcoref[{missing}]'"


def test_a_missing_spacy_is_answered_with_its_command() -> None:
    code = (
        "import sys; sys.modules['spacy'] = None; sys.modules['spacy.language'] = None\n"
        "from streamcoref import StreamcorefError\n"
        "try: import streamcoref.integrations.spacy\n"
        "except StreamcorefError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "spaCy is not installed; run: pip install 'streamcoref[spacy]'"
