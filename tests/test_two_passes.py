"""People who come back, and texts that are read twice: whatever the chunks, and wherever it was stopped, the same."""

from __future__ import annotations

import random
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from streamcoref import Resolver, StoppedError, StreamcorefError
from streamcoref.events import Event
from streamcoref.formats import files
from streamcoref.progress import ReadingProgress
from streamcoref.store import Store
from tests.model import toys
from tests.toy_resolver import finished, make_resolver, mentions

BOTH: dict[str, Any] = {"revive": 16, "merge": 2}
ROOMY = BOTH | {"revive": 500}  # places for everybody, as in a store


@cache
def resolver() -> Resolver:
    """Of a random model that knows names and who speaks, and soon evicts."""
    features = ["distance", "exact_match", "identity", "talk"]
    return make_resolver(
        language={"name": "english", "version": 3},
        pair_score={
            "name": "coarse_to_fine",
            "hidden": 16,
            "shortlist": 4,
            "features": features,
            "prior_features": ["distance", "identity", "talk"],
        },
        evict={"name": "two_distances", "singleton": 20, "cluster": 30},
    )


@cache
def text() -> str:
    """Words about people, in paragraphs, with quotations."""
    choose = random.Random(3)
    words = [choose.choice([*toys.TALK, "\n\n"]) for _ in range(500)]
    return " ".join(words)


def read(chunks: list[str], **options: Any) -> list[Event]:
    stream = resolver().stream(**options)
    return [event for chunk in chunks for event in stream.feed(chunk)] + stream.close()


def test_who_is_named_comes_back() -> None:
    """An entity that was let go is linked to again, which never happens without."""

    def gaps(events: list[Event]) -> int:
        """The most words between two mentions of one entity."""
        last: dict[int, int] = {}
        most = 0
        for entity, start, _ in mentions(events):
            most = max(most, start - last.get(entity, start))
            last[entity] = start
        return most

    assert gaps(read([text()], revive=16)) > 200 > 100 > gaps(read([text()], revive=0))


@pytest.mark.parametrize("seed", range(4))
def test_chunks_and_states_change_nothing(seed: int) -> None:
    whole = read([text()], **BOTH)
    choose = random.Random(seed)
    stream, events, place = resolver().stream(**BOTH), [], 0
    while place < len(text()):
        length = choose.choice([1, 7, 50, 400])
        events += stream.feed(text()[place : place + length])
        place += length
        if choose.random() < 0.3:
            stream = resolver().stream(stream.state())
    assert events + stream.close() == whole
    assert len(finished(whole)) > 10


def test_what_is_held_of_people_is_bounded() -> None:
    stream = resolver().stream(revive=6)
    sizes = []
    for _ in range(6):
        stream.feed(text())
        sizes.append(len(stream.state()))
    assert max(sizes[3:]) < 1.2 * max(sizes[:3])


def rows(store: Store) -> list[tuple[int, int, int, int]]:
    with store:
        return sorted(
            (entity.id, entity.size, mention.word_start, mention.word_end)
            for entity in store.entities()
            for mention in store.mentions(entity.id)
        )


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text(text(), encoding="utf-8")
    return path


def test_a_text_that_is_read_twice_is_known_from_its_beginning(book: Path, tmp_path: Path) -> None:
    once = rows(resolver().resolve_file(book, tmp_path / "once.sqlite", **ROOMY))
    twice = rows(resolver().resolve_file(book, tmp_path / "twice.sqlite", passes=2, **ROOMY))
    assert once != twice
    document = resolver().resolve(text(), passes=2, **ROOMY)
    spans = sorted(mention.word_start for entity in document.entities for mention in entity.mentions)
    assert sorted(start for _, _, start, _ in twice) == spans
    stream = resolver().stream(**ROOMY)
    stream.feed(text())
    stream.close()
    second = resolver().stream(stream.again())
    assert second.reads_again
    assert second.position == second.words_read == 0
    events = second.feed(text()) + second.close()
    assert sorted((start, end) for _, start, end in mentions(events)) == sorted((a, b) for _, _, a, b in twice)


def _as_many(seen: list[ReadingProgress], parts: int) -> bool:
    return len(seen) >= parts


@pytest.mark.parametrize("stops", [(1,), (3,), (2, 1), (1, 4, 2)])
def test_stopped_in_either_pass_it_goes_on(
    stops: tuple[int, ...], book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "CHUNK_BYTES", 600)
    whole = rows(resolver().resolve_file(book, tmp_path / "whole.sqlite", passes=2, **BOTH))
    target = tmp_path / "stopped.sqlite"
    for parts in stops:
        seen: list[ReadingProgress] = []
        stop = partial(_as_many, seen, parts)
        with pytest.raises(StoppedError):
            resolver().resolve_file(book, target, passes=2, on_progress=seen.append, should_stop=stop, **BOTH)
    assert rows(resolver().resolve_file(book, target, passes=2, **BOTH)) == whole


def test_who_cannot_read_twice_says_so(book: Path, tmp_path: Path) -> None:
    with pytest.raises(StreamcorefError, match="a stream is read once"):
        resolver().stream(passes=2, **BOTH)
    with pytest.raises(StreamcorefError, match="takes a model that revives"):
        resolver().resolve(text(), passes=2)
    resolver().resolve_file(book, tmp_path / "x.sqlite", **BOTH)
    with pytest.raises(StreamcorefError, match="another passes"):
        resolver().resolve_file(book, tmp_path / "x.sqlite", passes=2, **BOTH)
