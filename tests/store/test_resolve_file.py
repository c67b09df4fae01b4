"""A text into a store from Python: stopped, killed, gone on with, refused; always the same rows in the end."""

from __future__ import annotations

import gzip
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import streamcoref
from streamcoref import Document, InputError, StoppedError, StreamcorefError
from streamcoref import _document_events as document_events
from streamcoref.errors import Remedy
from streamcoref.formats import files, write_documents
from streamcoref.store import ReadingProgress, Store, job
from tests import toy_resolver
from tests.cli.toy_resolving import Rows, rows

TEXT = toy_resolver.plain_text(4, 600).replace(" . ", ".\r\n").replace(" ", "  é ", 3)
RESOLVER = toy_resolver.resolver()


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK_BYTES", 101)
    monkeypatch.setattr(document_events, "WORDS_AT_ONCE", 15)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_bytes(TEXT.encode())
    return path


def stop_after(parts: int) -> Callable[[], bool]:
    """Asked before each part."""
    asked = 0

    def should_stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > parts

    return should_stop


def content(store: Path) -> Rows:
    """Everything but where the text was found."""
    found = rows(store)
    return found | {"input": [(row[0], *row[3:]) for row in found["input"]]}


def test_the_store_has_the_answer(book: Path) -> None:
    expected = RESOLVER.resolve(TEXT, singletons=True)
    told: list[ReadingProgress] = []
    target = book.with_suffix(".sqlite")
    with RESOLVER.resolve_file(book, target, on_progress=told.append, singletons=True) as store:
        assert isinstance(store, streamcoref.Store)
        found = {tuple((m.start, m.end, m.text) for m in store.mentions(entity.id)) for entity in store.entities()}
        assert found == {tuple((m.start, m.end, m.text) for m in entity.mentions) for entity in expected.entities}
        assert store.position.done
        assert store.position.words == len(expected.words)
    assert target.is_file()
    assert [p.characters for p in told] == sorted(p.characters for p in told)
    assert told[-1].characters == told[-1].characters_in_all == len(TEXT)
    assert max(p.entities for p in told) > 0
    assert 0 < told[-1].words <= len(expected.words)


def test_by_the_name_of_a_model(book: Path, tmp_path: Path) -> None:
    model = toy_resolver.save_model(tmp_path / "model")
    with streamcoref.resolve_file(str(book), str(tmp_path / "a.sqlite"), model=model, singletons=True) as store:
        assert store.counts() != (0, 0)
    RESOLVER.resolve_file(book, tmp_path / "b.sqlite", singletons=True).close()
    assert rows(tmp_path / "a.sqlite")["mentions"] == rows(tmp_path / "b.sqlite")["mentions"]


@pytest.mark.parametrize("parts", [0, 1, 7, 20])
def test_stopped_it_goes_on(parts: int, book: Path, tmp_path: Path) -> None:
    whole, target = tmp_path / "whole.sqlite", tmp_path / "book.sqlite"
    RESOLVER.resolve_file(book, whole).close()
    with pytest.raises(StoppedError, match=r"book\.sqlite: stopped and saved; call the same again to go on") as stopped:
        RESOLVER.resolve_file(book, target, should_stop=stop_after(parts))
    assert stopped.value.remedy is Remedy.GO_ON
    with Store.open(target) as store:
        assert store.position.bytes_read == parts * 101
        assert not store.position.done
    RESOLVER.resolve_file(book, target).close()
    assert rows(target) == rows(whole)
    RESOLVER.resolve_file(book, target, on_progress=lambda _: pytest.fail("it was complete")).close()


def test_stopped_again_and_again_it_ends_the_same(book: Path, tmp_path: Path) -> None:
    whole, target = tmp_path / "whole.sqlite", tmp_path / "book.sqlite"
    RESOLVER.resolve_file(book, whole).close()
    for _ in range(200):
        try:
            RESOLVER.resolve_file(book, target, should_stop=stop_after(2)).close()
            break
        except StoppedError:
            continue
    assert rows(target) == rows(whole)


def test_an_error_of_the_caller_loses_what_was_not_saved_and_no_more(book: Path, tmp_path: Path) -> None:
    whole, target = tmp_path / "whole.sqlite", tmp_path / "book.sqlite"
    RESOLVER.resolve_file(book, whole).close()

    def fail(progress: ReadingProgress) -> None:
        if progress.characters > 1000:
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        RESOLVER.resolve_file(book, target, on_progress=fail)
    RESOLVER.resolve_file(book, target).close()
    assert rows(target) == rows(whole)


def test_it_saves_now_and_then(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "SAVE_SECONDS", 0.0)
    target = tmp_path / "book.sqlite"
    seen = []

    def look(_progress: ReadingProgress) -> None:
        with Store.open(target) as store:  # while it is being written
            seen.append((store.position.bytes_read, store.counts()[1]))

    RESOLVER.resolve_file(book, target, on_progress=look).close()
    assert [place for place, _ in seen] == [101 * number for number in range(len(seen))]
    assert [count for _, count in seen] == sorted(count for _, count in seen)
    assert len({count for _, count in seen}) > 3


def test_what_has_changed_is_said_and_refused(book: Path, tmp_path: Path) -> None:
    target = tmp_path / "book.sqlite"
    RESOLVER.resolve_file(book, target, singletons=True).close()
    before = rows(target)
    other = toy_resolver.make_resolver(update={"name": "mean"})
    for said, resolve in (
        ("another singletons .true; now false.", lambda: RESOLVER.resolve_file(book, target)),
        ("another evict .the model's; now none.", lambda: RESOLVER.resolve_file(book, target, evict="none")),
        ("another encoding .utf-8; now cp1252.", lambda: RESOLVER.resolve_file(book, target, encoding="windows-1252")),
        ("another model", lambda: other.resolve_file(book, target, singletons=True)),
    ):
        with pytest.raises(StreamcorefError, match=said) as refused:
            resolve()
        assert refused.value.remedy is Remedy.AS_BEFORE
    book.write_bytes(TEXT.encode() + b"!")
    with pytest.raises(StreamcorefError, match="another text"):
        RESOLVER.resolve_file(book, target, singletons=True)
    assert rows(target) == before
    RESOLVER.resolve_file(book, target, singletons=True, force=True).close()
    assert rows(target)["input"] != before["input"]


def test_a_moved_text_is_the_same_text(book: Path, tmp_path: Path) -> None:
    target = tmp_path / "book.sqlite"
    with pytest.raises(StoppedError):
        RESOLVER.resolve_file(book, target, should_stop=stop_after(3))
    moved = book.rename(tmp_path / "moved.txt")
    with RESOLVER.resolve_file(moved, target) as store:
        assert store.origin.path == str(moved)


def test_a_text_that_changes_while_it_is_read_is_not_committed(book: Path, tmp_path: Path) -> None:
    target = tmp_path / "book.sqlite"
    with pytest.raises(InputError, match="the file changed while it was read"):
        RESOLVER.resolve_file(book, target, on_progress=lambda _: book.write_text("Something else."))
    assert rows(target)["mentions"] == []


def test_mistakes_are_said_before_anything_is_written(book: Path, tmp_path: Path) -> None:
    target = tmp_path / "book.sqlite"
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"Zo\xeb ran.")
    letter = tmp_path / "letter.sqlite"
    letter.write_text("Dear Anna, " * 100)
    baseline = toy_resolver.make_baseline()
    for said, resolve in (
        ("none.txt: no such file", lambda: RESOLVER.resolve_file(tmp_path / "none.txt", target)),
        ("this is a folder", lambda: RESOLVER.resolve_file(tmp_path, target)),
        ("not valid utf-8: byte 0xeb at offset 2", lambda: RESOLVER.resolve_file(latin, target)),
        ("'idna' is not an encoding of text", lambda: RESOLVER.resolve_file(book, target, encoding="idna")),
        ("no such way to treat bad bytes", lambda: RESOLVER.resolve_file(book, target, errors="shrug")),
        ("there is no format 'odt'", lambda: RESOLVER.resolve_file(book, target, format="odt")),
        ("no option 'colour'", lambda: RESOLVER.resolve_file(book, target, colour="red")),  # type: ignore[call-arg]
        ("min_score", lambda: RESOLVER.resolve_file(book, target, min_score=2.0)),
        ("is the folder there", lambda: RESOLVER.resolve_file(book, tmp_path / "none" / "a.sqlite")),
        ("not a streamcoref store; name another file, or give force", lambda: RESOLVER.resolve_file(book, letter)),
        ("this is the text itself", lambda: RESOLVER.resolve_file(book, book, force=True)),
        ("whole-document baseline", lambda: baseline.resolve_file(book, target)),
    ):
        with pytest.raises(StreamcorefError, match=said):
            resolve()
        assert not target.exists()
    assert book.read_bytes() == TEXT.encode()
    assert letter.read_text().startswith("Dear")


def test_gzip_and_odd_texts(book: Path, tmp_path: Path) -> None:
    packed = tmp_path / "book.txt.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    RESOLVER.resolve_file(book, tmp_path / "plain.sqlite").close()
    RESOLVER.resolve_file(packed, tmp_path / "packed.sqlite").close()
    assert content(tmp_path / "packed.sqlite") == content(tmp_path / "plain.sqlite")
    for number, text in enumerate(["", " \r\n", "\ufeff", "A"]):
        odd = tmp_path / f"{number}.txt"
        odd.write_text(text, encoding="utf-8", newline="")
        with RESOLVER.resolve_file(odd, tmp_path / f"{number}.sqlite") as store:
            assert store.position.done
            assert store.position.characters == len(text)


# Pipes


def feeding(path: Path, data: bytes, *, then: threading.Event | None = None) -> threading.Thread:
    """Write to a named pipe, and keep it open until `then`."""

    def write() -> None:
        with path.open("wb", buffering=0) as pipe:
            pipe.write(data)
            if then is not None:
                then.wait()

    thread = threading.Thread(target=write, daemon=True)  # nobody waits for one whose pipe was never opened
    thread.start()
    return thread


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_a_pipe_goes_on_with_the_same_text(pipe: Path, tmp_path: Path) -> None:
    data, target = TEXT.encode(), tmp_path / "pipe.sqlite"

    def resolve(data: bytes, target: Path = target, should_stop: Callable[[], bool] | None = None) -> None:
        thread = feeding(pipe, data)
        try:
            RESOLVER.resolve_file(pipe, target, should_stop=should_stop).close()
        finally:
            thread.join(30)

    resolve(data, tmp_path / "whole.sqlite")
    with pytest.raises(StoppedError):
        resolve(data, should_stop=stop_after(6))
    before = rows(target)
    for other in (b"But " + data, data[:20]):
        with pytest.raises(InputError, match="was begun with another text; give the text from its beginning"):
            resolve(other)
    assert rows(target) == before
    resolve(data)
    assert rows(target) == rows(tmp_path / "whole.sqlite")
    with pytest.raises(InputError, match="complete, and this goes on"):
        resolve(data + b"More.")
    resolve(data)


def test_waiting_for_a_pipe_can_be_stopped_and_loses_nothing(pipe: Path, tmp_path: Path) -> None:
    data, target, release = TEXT.encode(), tmp_path / "pipe.sqlite", threading.Event()
    read = 0

    def note(progress: ReadingProgress) -> None:
        nonlocal read
        read = progress.characters

    # While the first time bytes are waited for that come, and the second time while those already read come again.
    for written, expected in ((1000, 1000), (300, 1000)):
        release.clear()
        thread = feeding(pipe, data[:written], then=release)
        quiet = stop_after(20)
        with pytest.raises(StoppedError):
            RESOLVER.resolve_file(pipe, target, on_progress=note, should_stop=quiet)
        release.set()
        thread.join(30)
        with Store.open(target) as store:
            assert store.position.bytes_read == expected
    thread = feeding(pipe, data)
    RESOLVER.resolve_file(pipe, target).close()
    thread.join(30)
    thread = feeding(pipe, data)
    RESOLVER.resolve_file(pipe, tmp_path / "whole.sqlite").close()
    thread.join(30)
    assert rows(target) == rows(tmp_path / "whole.sqlite")


def test_who_says_stop_only_once_is_heard(pipe: Path, tmp_path: Path) -> None:
    """A text that was waited for in vain is not taken for complete."""
    release = threading.Event()
    thread = feeding(pipe, b"Anna ran.", then=release)
    answers = iter([False, False, True])
    with pytest.raises(StoppedError):
        RESOLVER.resolve_file(pipe, tmp_path / "a.sqlite", should_stop=lambda: next(answers, False))
    release.set()
    thread.join(30)
    with Store.open(tmp_path / "a.sqlite") as store:
        assert (store.position.bytes_read, store.position.done) == (9, False)


def test_a_pipe_that_is_no_prose_is_refused_unless_it_is_said_to_be(pipe: Path, tmp_path: Path) -> None:
    page = b"<!doctype html><html><body>Anna met Carl. He left her.</body></html>"
    thread = feeding(pipe, page)
    with pytest.raises(InputError, match="this looks like the format html, not like plain text"):
        RESOLVER.resolve_file(pipe, tmp_path / "a.sqlite")
    thread.join(30)
    thread = feeding(pipe, page)
    with RESOLVER.resolve_file(pipe, tmp_path / "b.sqlite", format="text") as store:
        assert store.position.characters == len(page)
    thread.join(30)


# Documents in other formats


def document(key: str = "a/b") -> Document:
    sentences = [toy_resolver.plain_text(seed, 12).split() for seed in range(20)]
    speakers = [f"speaker_{number % 3}" for number, sentence in enumerate(sentences) for _ in sentence]
    return Document.from_sentences(key, sentences, [[(0, 1), (3, 4)]], speakers=speakers)


@pytest.mark.parametrize("format_name", ["jsonlines", "conllu", "conll"])
def test_a_document_is_read_by_its_own_words(format_name: str, tmp_path: Path) -> None:
    given = replace(document(), speakers=()) if format_name == "conllu" else document()
    expected = RESOLVER.resolve(document=given)
    path = tmp_path / "given"
    write_documents([given], path, format_name)
    with RESOLVER.resolve_file(path, tmp_path / "a.sqlite") as store:
        found = {
            tuple((m.word_start, m.word_end, m.text, m.sentence, m.score) for m in store.mentions(entity.id))
            for entity in store.entities()
        }
        assert store.position.words == len(given.words)
        assert store.position.lines == len(given.sentence_ends)
        assert store.position.bytes_read == store.origin.size
    assert found == {
        tuple((m.word_start, m.word_end, m.text, m.sentence, m.score) for m in entity.mentions)
        for entity in expected.entities
    }
    assert len(found) > 5


def test_a_document_with_a_text_has_its_characters(tmp_path: Path) -> None:
    given = RESOLVER.resolve(TEXT, key="story")
    write_documents([given], tmp_path / "story.jsonl", "jsonlines")
    with RESOLVER.resolve_file(tmp_path / "story.jsonl", tmp_path / "story.sqlite") as store:
        mentions = [mention for entity in store.entities() for mention in store.mentions(entity.id)]
    assert mentions
    assert all(TEXT[m.start : m.end] == m.text for m in mentions)


def test_a_document_goes_on_too(tmp_path: Path) -> None:
    path, target = tmp_path / "corpus.jsonl", tmp_path / "a.sqlite"
    write_documents([document()], path, "jsonlines")
    RESOLVER.resolve_file(path, tmp_path / "whole.sqlite").close()
    for parts in (3, 4):
        with pytest.raises(StoppedError):
            RESOLVER.resolve_file(path, target, should_stop=stop_after(parts))
    with Store.open(target) as store:
        assert 0 < store.position.lines < 20
    other = replace(document(), speakers=("Anna", *document().speakers[1:]))
    for changed in (other, document("b")):
        write_documents([changed], path, "jsonlines", force=True)
        with pytest.raises(StreamcorefError, match=r"another (text|document)"):
            RESOLVER.resolve_file(path, target)
    write_documents([document()], path, "jsonlines", force=True)
    RESOLVER.resolve_file(path, target).close()
    assert rows(target) == rows(tmp_path / "whole.sqlite")


def test_a_store_holds_one_text(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    write_documents([document("a"), document("b")], path, "jsonlines")
    with pytest.raises(
        InputError, match=r"corpus\.jsonl: a store holds one text, and this file has several"
    ) as refused:
        RESOLVER.resolve_file(path, tmp_path / "a.sqlite")
    assert refused.value.remedy is Remedy.ONE_BY_ONE
    path.write_text("")
    with pytest.raises(InputError, match="there is no document in this file"):
        RESOLVER.resolve_file(path, tmp_path / "a.sqlite")
    write_documents([document("a")], path, "jsonlines", force=True)
    with pytest.raises(InputError, match="are UTF-8; an encoding and errors are for plain text and markup only"):
        RESOLVER.resolve_file(path, tmp_path / "a.sqlite", encoding="latin-1")


def test_making_a_store_takes_no_signals(book: Path, tmp_path: Path) -> None:
    """They belong to the program; what it does with Ctrl-C is its own affair."""
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    seen = []

    def look(_progress: ReadingProgress) -> None:
        seen.append([signal.getsignal(number) for number in signal.valid_signals()])

    RESOLVER.resolve_file(book, tmp_path / "a.sqlite", on_progress=look).close()
    assert seen
    assert all(now == handlers for now in seen)
