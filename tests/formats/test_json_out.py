"""JSON out."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from streamcoref import Document
from streamcoref.formats.json_out import write
from streamcoref.text import document_from_text


def written(*documents: Document) -> Any:
    stream = io.StringIO()
    write(documents, stream)
    return json.loads(stream.getvalue())


def test_the_whole_schema() -> None:
    document = replace(
        document_from_text("zoë", "Zoë “Z” Lee\nran. She fell."),
        genre="story",
        predicted_clusters=(((0, 5), (7, 8)),),
        scores={(7, 8): 0.75},
    )
    assert written(document) == [
        {
            "key": "zoë",
            "genre": "story",
            "text": "Zoë “Z” Lee\nran. She fell.",
            "words": 10,
            "sentences": 2,
            "sections": [],
            "entities": [
                {
                    "id": 0,
                    "name": "Zoë “Z” Lee",
                    "size": 2,
                    "mentions": [
                        {
                            "text": "Zoë “Z” Lee",
                            "start": 0,
                            "end": 11,
                            "word_start": 0,
                            "word_end": 5,
                            "sentence": 0,
                            "score": None,
                        },
                        {
                            "text": "She",
                            "start": 17,
                            "end": 20,
                            "word_start": 7,
                            "word_end": 8,
                            "sentence": 1,
                            "score": 0.75,
                        },
                    ],
                }
            ],
        }
    ]


def test_offsets_hold_for_a_document_without_a_text() -> None:
    document = Document.from_sentences("d", [["A", "b", "."], ["C"]], clusters=[[(0, 2), (3, 4)]])
    (result,) = written(document)
    for mention in result["entities"][0]["mentions"]:
        assert result["text"][mention["start"] : mention["end"]] == mention["text"]
    assert result["text"] == "A b .\nC"


def test_none_one_and_many_are_lists() -> None:
    empty = Document("e", (), ())
    assert written() == []
    assert [document["key"] for document in written(empty, replace(empty, key="f"))] == ["e", "f"]
    assert written(empty)[0]["entities"] == []


def test_each_document_is_written_before_the_next_is_read() -> None:
    stream = io.StringIO()

    def documents() -> Iterator[Document]:
        yield Document.from_sentences("first", [["x"]], clusters=[[(0, 1)]])
        assert '"first"' in stream.getvalue()
        assert stream.getvalue().endswith("]}")

    write(documents(), stream)
