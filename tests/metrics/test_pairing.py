"""Documents that meet by key, holding only what still waits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.errors import StreamcorefError
from streamcoref.metrics.pairing import ClustersOfDocument, pair_documents


def answers(*keys: str) -> list[ClustersOfDocument]:
    return [ClustersOfDocument(key, 1, ()) for key in keys]


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_every_document_meets_its_partner_once(one: list[str], other: list[str]) -> None:
    pairs = list(pair_documents(answers(*one), answers(*other)))
    assert sorted(key.key for key, _ in pairs if key) == list("abcdef")
    assert all(key == response for key, response in pairs)


def test_a_pair_comes_as_soon_as_both_are_read() -> None:
    """Two endless files in the same order can be scored: nothing of them is kept."""

    def endless() -> Iterator[ClustersOfDocument]:
        number = 0
        while True:
            yield ClustersOfDocument(f"document {number}", 1, ())
            number += 1

    pairs = pair_documents(endless(), endless())
    assert [next(pairs)[0] for _ in range(3)] == answers("document 0", "document 1", "document 2")


def test_missing_documents_come_last_with_none_for_the_other_side() -> None:
    pairs = list(pair_documents(answers("a", "b"), answers("c", "b", "d"), allow_missing=True))
    assert [(k and k.key, r and r.key) for k, r in pairs] == [("b", "b"), ("a", None), (None, "c"), (None, "d")]


def test_missing_documents_are_an_error_unless_allowed() -> None:
    with pytest.raises(StreamcorefError, match=r"missing from the response .*give allow_missing=True"):
        list(pair_documents(answers("a", "b"), answers("b")))
