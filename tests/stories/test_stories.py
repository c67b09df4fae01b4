"""Clear stories get the right entities from the bundled model, and say clearly which mention went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import streamcoref
from streamcoref import Document
from tests.stories.marked import parse
from tests.stories.mistakes import mistakes, resolved
from tests.stories.stories import BEYOND, DIALOGUES, LONG_RETURN, STORIES

if TYPE_CHECKING:  # it imports torch, which only tests with the model should wait for
    from streamcoref import Resolver


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return streamcoref.load()


def cases() -> list[Any]:
    """The stories; those that the bundled model does not get right yet are expected to fail, and only those."""
    beyond = pytest.mark.xfail(reason="the bundled model does not get this story right yet")
    return [pytest.param(name, marks=beyond) if name in BEYOND else name for name in STORIES]


@pytest.mark.model
@pytest.mark.parametrize("name", cases())
def test_story(resolver: Resolver, name: str) -> None:
    wrong = mistakes(*resolved(resolver, STORIES[name], dialogue=name in DIALOGUES))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", STORIES)
def test_the_stories_ask_what_they_should(name: str) -> None:
    """Two entities or more, each with several mentions; short, but for the one whose return is far away."""
    text, places = parse(STORIES[name])
    assert len(places) >= 2
    assert all(len(spans) >= 2 for spans in places.values())
    words = len(text.split())
    if STORIES[name] is LONG_RETURN:
        *_, before, last = places["a"]
        assert len(text[before[1] : last[0]].split()) >= 300
    else:
        assert 60 <= words <= 200


def test_mistakes_are_named() -> None:
    text = "Ann met Bob. She ran. He sat."
    words, ends = ("Ann", "met", "Bob", ".", "She", "ran", ".", "He", "sat", "."), (4, 7, 10)
    offsets = ((0, 3), (4, 7), (8, 11), (11, 12), (13, 16), (17, 20), (20, 21), (22, 24), (25, 28), (28, 29))
    places = {"a": [(0, 3), (13, 16)], "b": [(8, 11), (22, 24)]}

    def of(*clusters: tuple[tuple[int, int], ...]) -> list[str]:
        found = mistakes(Document("d", words, ends, predicted_clusters=clusters, text=text, offsets=offsets), places)
        return [mistake.split(":")[0] for mistake in found]

    assert of(((0, 1), (4, 5)), ((2, 3), (7, 8))) == []
    assert of(((0, 1), (4, 5)), ((2, 3),)) == ["not found"]
    assert of(((0, 1), (4, 5), (2, 3), (7, 8))) == ["together"]
    assert of(((0, 1),), ((4, 5),), ((2, 3), (7, 8))) == ["apart"]
