"""Groups of documents: the paper's rows, nothing left out, nothing counted twice."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcoref.evaluation.groups import group_documents
from streamcoref.evaluation.results import DocumentResult
from streamcoref.metrics import score_document


def result(
    pieces: int = 100, speakers: int = 0, genre: str | None = None, corpus: str = "a", right: bool = True
) -> DocumentResult:
    key = [[1, 2, 3], [4, 5]]
    return DocumentResult(
        key="k",
        corpus=corpus,
        genre=genre,
        speakers=speakers,
        words=pieces,
        pieces=pieces,
        scores=score_document(key, key if right else [[1, 4]]),
        encoder_seconds=1.0,
        other_seconds=0.5,
        peak_entities=3,
        peak_bytes=None,
    )


def rows(*results: DocumentResult) -> dict[tuple[str, str], list[int]]:
    return {(group.kind, group.name): group.members for group in group_documents(results)}


@pytest.mark.parametrize(
    ("pieces", "names"),
    [
        (0, ["0-128"]),
        (128, ["0-128"]),
        (129, ["129-256"]),
        (256, ["129-256"]),
        (257, ["257-512"]),
        (512, ["257-512"]),
        (513, ["513-768"]),
        (768, ["513-768"]),
        (769, ["769-1152"]),
        (1152, ["769-1152"]),
        (1153, ["1153+", "1153-2048"]),
        (2048, ["1153+", "1153-2048"]),
        (2049, ["1153+", "2049-4096"]),
        (4097, ["1153+", "4097-8192"]),
        (8192, ["1153+", "4097-8192"]),
        (8193, ["1153+", "8193+"]),
        (10**7, ["1153+", "8193+"]),
    ],
)
def test_lengths(pieces: int, names: list[str]) -> None:
    assert [name for kind, name in rows(result(pieces)) if kind == "length"] == names


def test_order_and_members() -> None:
    found = rows(
        result(2000, 2, "news", "b"),
        result(100, 1, None, "a"),
        result(9000, 0, "bio", "b"),
    )
    assert found == {
        ("all", "all"): [0, 1, 2],
        ("corpus", "b"): [0, 2],
        ("corpus", "a"): [1],
        ("length", "0-128"): [1],
        ("length", "1153+"): [0, 2],
        ("length", "1153-2048"): [0],
        ("length", "8193+"): [2],
        ("speakers", "1"): [1, 2],
        ("speakers", "2+"): [0],
        ("genre", "bio"): [2],
        ("genre", "news"): [0],
        ("genre", "none given"): [1],
    }
    assert [name for kind, name in found if kind != "corpus"][1:4] == ["0-128", "1153+", "1153-2048"]
    assert list(found)[-3:] == [("genre", "bio"), ("genre", "news"), ("genre", "none given")]


def test_no_genres_no_rows() -> None:
    assert not [kind for kind, _ in rows(result(), result()) if kind == "genre"]
    assert rows() == {}


@given(
    st.lists(
        st.builds(
            result,
            pieces=st.integers(0, 20000),
            speakers=st.integers(0, 4),
            genre=st.sampled_from([None, "bio", "news"]),
            corpus=st.sampled_from("abc"),
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(deadline=None, max_examples=50)
def test_every_kind_holds_every_document_once(results: list[DocumentResult]) -> None:
    found = rows(*results)
    for kind in ("all", "corpus", "speakers", "genre"):
        members = sorted(number for (k, _), m in found.items() if k == kind for number in m)
        assert members == (list(range(len(results))) if members or kind != "genre" else [])
    lengths = {name: m for (k, name), m in found.items() if k == "length"}
    paper = {"0-128", "129-256", "257-512", "513-768", "769-1152", "1153+"}
    finer = {"1153-2048", "2049-4096", "4097-8192", "8193+"}
    assert sorted(n for name, m in lengths.items() if name in paper for n in m) == list(range(len(results)))
    assert sorted(n for name, m in lengths.items() if name in finer for n in m) == lengths.get("1153+", [])
