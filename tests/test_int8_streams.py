"""A model in 8-bit integers: as exact as one in floats, and never mixed up with it."""

from __future__ import annotations

import pickle
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcoref.errors import StreamcorefError
from streamcoref.events import Event
from streamcoref.resolver import Resolver, load
from streamcoref.store import Store
from tests import toy_resolver
from tests.test_stream_properties import check_protocol, chunks, options, places
from tests.toy_resolver import int8_resolver, nasty_texts, plain_text, resolver

pytestmark = pytest.mark.usefixtures("needs_int8")
TEXT = plain_text(5, 300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_resolver.save_model(tmp_path_factory.mktemp("int8") / "model")


def events_of(text: str, cuts: list[int], **chosen: object) -> list[Event]:
    stream = int8_resolver().stream(**chosen)  # type: ignore[arg-type]
    return [event for chunk in chunks(text, cuts) for event in stream.feed(chunk)] + stream.close()


@settings(max_examples=8)
@given(nasty_texts, places, options)
def test_events_do_not_depend_on_chunks(text: str, cuts: list[int], chosen: dict[str, object]) -> None:
    events = events_of(text, [], **chosen)
    assert events_of(text, cuts, **chosen) == events
    check_protocol(events)


@settings(max_examples=8)
@given(nasty_texts, places, options)
def test_a_stopped_stream_goes_on_as_if_it_had_not(text: str, cuts: list[int], chosen: dict[str, object]) -> None:
    stopped, events = int8_resolver().stream(**chosen), []  # type: ignore[arg-type]
    for chunk in chunks(text, cuts):
        events += stopped.feed(chunk)
        saved = stopped.state()
        stopped = int8_resolver().stream(saved)
        assert stopped.state() == saved
    assert events + stopped.close() == events_of(text, [], **chosen)


@settings(max_examples=8)
@given(nasty_texts, places, st.sampled_from([2, 3]))
def test_threads_change_nothing(text: str, cuts: list[int], threads: int) -> None:
    checkpoint = int8_resolver().checkpoint
    stream = Resolver(checkpoint, Path("nowhere"), checkpoint.model.service(threads)).stream()
    with closing(stream.feed_ahead(chunks(text, cuts))) as parts:
        events = [event for part in parts for event in part]
    assert events + stream.close() == events_of(text, [])


def test_a_state_says_its_precision_and_the_other_refuses_it() -> None:
    ours, others = int8_resolver().stream(), resolver().stream()
    for stream in (ours, others):
        stream.feed(TEXT)
    with pytest.raises(
        StreamcorefError,
        match=r"^the state was saved in int8, but this model was loaded in float32; load it with precision='int8'",
    ):
        resolver().stream(ours.state())
    with pytest.raises(StreamcorefError, match="saved in float32, but this model was loaded in int8"):
        int8_resolver().stream(others.state())
    assert int8_resolver().fingerprint != resolver().fingerprint


def test_load_says_what_it_has_loaded(folder: Path) -> None:
    one = load(folder, precision="int8", device="auto")
    assert (one.precision, load(folder).precision) == ("int8", "float32")
    expected = int8_resolver().resolve(TEXT)
    assert one.resolve(TEXT) == expected
    again = pickle.loads(pickle.dumps(one))
    assert (again.precision, again.fingerprint) == ("int8", one.fingerprint)
    with pytest.raises(StreamcorefError, match="there is no precision 'int4'; it is one of float32, int8"):
        load(folder, precision="int4")  # type: ignore[arg-type]


def test_what_is_shortened_is_not_saved(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StreamcorefError, match="loaded in int8, to read; load it in float32 to save it"):
        load(folder, precision="int8").save(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_store_goes_on_in_its_own_precision_only(folder: Path, tmp_path: Path) -> None:
    book, target = tmp_path / "book.txt", tmp_path / "book.sqlite"
    book.write_text(TEXT)
    load(folder, precision="int8").resolve_file(book, target).close()
    with pytest.raises(StreamcorefError, match=r"begun with another precision \(int8; now float32\); give what"):
        load(folder).resolve_file(book, target)
    with load(folder, precision="int8").resolve_file(book, target) as store:
        assert isinstance(store, Store)
        assert store.position.done


@pytest.mark.slow
def test_workers_read_in_it_too(folder: Path) -> None:
    texts = [plain_text(seed, 60) for seed in range(5)]
    one = load(folder, precision="int8")
    documents = list(one.resolve_many(texts, workers=2, singletons=True))
    assert documents == list(one.resolve_many(texts, singletons=True))
    assert any(document.entities for document in documents)
