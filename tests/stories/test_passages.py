"""Passages of a few sentences, right in all that they ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import streamcoref
from tests.stories.mistakes import mistakes, resolved
from tests.stories.passages import BEYOND, PASSAGES

if TYPE_CHECKING:
    from streamcoref import Resolver


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return streamcoref.load()


def cases() -> list[Any]:
    """Those that the bundled model does not get right yet must fail, so that better weights show."""
    beyond = pytest.mark.xfail(reason="the bundled model does not get this passage right yet", strict=True)
    return [pytest.param(name, marks=beyond) if name in BEYOND else name for name in PASSAGES]


@pytest.mark.model
@pytest.mark.parametrize("name", cases())
def test_passage(resolver: Resolver, name: str) -> None:
    wrong = mistakes(*resolved(resolver, PASSAGES[name]))
    assert not wrong, "\n".join(wrong)
