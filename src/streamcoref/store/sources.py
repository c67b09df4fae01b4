"""What a store can be made from: plain text, of a file or a pipe, a document that has its words already, or a book.

A source says what must stay the same for a store to go on; a reading of it feeds a stream with what comes after the
store's position and knows how far it has got.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import astuple
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from streamcoref._document_events import feed_document, in_own_text
from streamcoref.document import Document
from streamcoref.errors import InputError, Remedy
from streamcoref.formats import Format, format_named, format_of_input, readable
from streamcoref.formats.files import STANDARD, read_chunks
from streamcoref.formats.inputs import documents_of
from streamcoref.progress import Stopping
from streamcoref.store.checking import damaged
from streamcoref.store.database import Store
from streamcoref.store.schema import ReadingPosition
from streamcoref.text.decoding import TextDecoder
from streamcoref.text.files import Examined, examine, is_regular, read_prose, refuse_change
from streamcoref.text.headings import HeadingFinder
from streamcoref.text.sections import Heading

if TYPE_CHECKING:
    from streamcoref.events import Event
    from streamcoref.stream import Stream


def open_source(path: Path, encoding: str, errors: str, format_name: str | None = None) -> TextSource | DocumentSource:
    """A file, or a pipe, as the source of a store. Without the name of its format a file's is recognised."""
    pipe = path == STANDARD or path.is_fifo() or path.is_char_device()
    if format_name is not None:
        known = format_named(format_name)
    else:
        # A pipe can be read only once: it is plain text unless it is said to be something else.
        known = next(known for known in readable() if known.is_prose) if pipe else format_of_input(path)
    if known.is_prose:
        examined = None if pipe else examine(path, encoding, errors)
        return TextSource(path, encoding, errors, examined, is_prose=format_name is not None)
    documents = list(islice(documents_of(path, known, encoding, errors), 2))
    if not documents:
        raise InputError("there is no document in this file", path)
    if len(documents) > 1:
        raise InputError("a store holds one text, and this file has several", path, remedy=Remedy.ONE_BY_ONE)
    return DocumentSource(documents[0], path, known, encoding, errors)


class StoreSource(Protocol):
    """What a store is made from. `size` and `sha256` are as in StoreOrigin; `characters` are None if nobody knows."""

    name: str  # its path, for people
    size: int | None
    sha256: str
    characters: int | None
    settings: dict[str, Any]  # what else must stay the same, as JSON has it
    text: str | None  # what the store is to keep, as it was taken out of a file; None if it stands there as it is

    def is_read(self, store: Store, stopping: Stopping) -> bool:
        """Whether the store is complete; raises if there is more than it has."""

    def reading(self, store: Store, stopping: Stopping) -> StoreReading:
        """What comes after the store's position."""


class StoreReading(Protocol):
    """A source being read on; `sha256` is that of a pipe so far, None for others."""

    @property
    def sha256(self) -> str | None: ...

    @property
    def position(self) -> ReadingPosition:
        """How much has been fed; words and state are the stream's to tell."""

    @property
    def length(self) -> int:
        """The characters of the text, of which as many as have been fed are known."""

    def new_headings(self) -> list[Heading]:
        """Those met since this was asked last."""

    def feed(self, stream: Stream) -> Generator[list[Event]]:
        """Feed part after part and tell what each brought; ends with the source, or while it waits if it is stopped."""

    def end(self, stream: Stream) -> list[Event]:
        """Close the stream, the whole source having been fed."""

    def refuse_change(self) -> None:
        """Raise if the source is no longer what it was when the reading began."""


class TextSource:
    """Plain text: a file that has been examined, or a pipe, which cannot be.

    What comes from a pipe and begins like something else is refused, unless somebody said that it `is_prose`.
    """

    def __init__(
        self, path: Path, encoding: str, errors: str, examined: Examined | None, *, is_prose: bool = False
    ) -> None:
        self.path, self.encoding, self.errors, self.examined = path, encoding, errors, examined
        self.is_prose = is_prose
        self.name = str(path.resolve()) if examined else str(path)
        self.size = examined.size if examined else None
        self.sha256 = examined.sha256 if examined else hashlib.sha256().hexdigest()
        self.characters = examined.characters if examined else None
        self.settings: dict[str, Any] = {"encoding": encoding, "errors": errors}
        self.text: str | None = None

    def is_read(self, store: Store, stopping: Stopping) -> bool:
        if store.position.done and not self.examined:
            with closing(self.reading(store, stopping).chunks) as chunks:
                if next(chunks, b""):
                    raise InputError(
                        f"the store {store.path} is complete, and this goes on", self.path, remedy=Remedy.START_OVER
                    )
        return store.position.done

    def reading(self, store: Store, stopping: Stopping) -> TextReading:
        return TextReading(self, store, stopping)


class TextReading:
    """Plain text from the store's position on.

    What was read before is decoded once more, which is quick: so the position is known to be one of this text, whatever
    somebody wrote into the store.
    """

    def __init__(self, source: TextSource, store: Store, stopping: Stopping) -> None:
        self._source, self._store, self._stopping = source, store, stopping
        self._hash = hashlib.sha256()  # of a pipe, whose bytes nobody can look at again
        self._decoder = TextDecoder(source.path, source.encoding, source.errors)
        self.position = self._decoded
        self._finder = HeadingFinder()
        self._headings: list[Heading] = []
        self.chunks = self._skip()

    @property
    def sha256(self) -> str | None:
        return None if self._source.examined else self._hash.hexdigest()

    @property
    def _decoded(self) -> ReadingPosition:
        at = self._decoder.position
        return ReadingPosition(at.bytes_read, at.lines, at.characters, decoder=at.decoder)

    @property
    def length(self) -> int:
        return self.position.characters

    def new_headings(self) -> list[Heading]:
        headings, self._headings = self._headings, []
        return headings

    def feed(self, stream: Stream) -> Generator[list[Event]]:
        """A file is read ahead; of a pipe, which lets people wait, nothing is read before all that came is told of."""
        with closing(self.chunks) as chunks:
            if self._source.examined is None:
                for data in chunks:
                    self._hash.update(data)
                    self._check(stream)
                    text = self._decoder.decode(data)
                    events = stream.feed(text)
                    self._pass(text, self._decoded)
                    yield events
                return
            taken: deque[tuple[str, ReadingPosition]] = deque()  # parts that the stream has not told of, and their ends

            def parts() -> Iterator[str]:
                for data in chunks:
                    self._check(stream)
                    text = self._decoder.decode(data)
                    taken.append((text, self._decoded))
                    yield text

            with closing(stream.feed_ahead(parts())) as brought:
                for events in brought:
                    self._pass(*taken.popleft())
                    yield events

    def end(self, stream: Stream) -> list[Event]:
        self._check(stream)
        text = self._decoder.decode(b"", final=True)
        events = stream.feed(text) + stream.close()
        self._pass(text, self._decoded)
        self._headings += self._finder.end()
        return events

    def _pass(self, text: str, position: ReadingPosition) -> None:
        """A part has been read to its end."""
        self._headings += self._finder.read(text)
        self.position = position

    def refuse_change(self) -> None:
        if self._source.examined:
            refuse_change(self._source.path, self._source.examined)

    def _check(self, stream: Stream) -> None:
        if stream.position != self.position.characters:
            raise damaged(self._store.path, "its parts are not of one moment")

    def _skip(self) -> Generator[bytes]:
        """What comes after the bytes that the store has read; of a pipe these come again, and must be the same."""
        source, store = self._source, self._store
        before, left = store.position, store.position.bytes_read
        chunks = (
            read_chunks(source.path)
            if source.examined
            else read_prose(source.path, self._stopping.ask, is_sure=source.is_prose)
        )
        with closing(chunks):
            rest = b""
            while left and (data := next(chunks, b"")):
                self._hash.update(data[:left])
                self._pass(self._decoder.decode(data[:left]), self._decoded)
                rest = data[left:]
                left -= min(left, len(data))
            if left and self._stopping.stopped:
                return
            same = source.examined or not before.bytes_read or self._hash.hexdigest() == store.origin.sha256
            if left or not same:
                raise InputError(
                    f"the store {store.path} was begun with another text",
                    source.path,
                    remedy=Remedy.FROM_THE_BEGINNING,
                )
            at = self.position
            if before.bytes_read and (at.lines, at.characters, at.decoder) != (
                before.lines,
                before.characters,
                before.decoder,
            ):
                raise damaged(store.path, "its position is not one of this text")
            found = self.new_headings() + (self._finder.end() if before.done else [])
            if len(found) != len(store.sections()):
                raise damaged(store.path, "its sections are not those of this text")
            if rest:
                yield rest
            yield from chunks


class DocumentSource:
    """A document of a file in one of our formats.

    Its bytes and characters are those of its words joined by blanks, a sentence a line; what must stay the same is
    everything that the model reads. The text of a book, which no other program might take out of its file alike, is
    kept; what was taken out must be the same when the store goes on, chapters included.
    """

    def __init__(
        self, document: Document, path: Path, known: Format, encoding: str = "utf-8", errors: str = "strict"
    ) -> None:
        self.document, self.format = document, known
        self.name = str(path.resolve()) if is_regular(path) else str(path)
        self.settings: dict[str, Any] = {"format": known.name, "document": document.key}
        if known.takes_encoding:
            self.settings |= {"encoding": encoding, "errors": errors}
        self.text = document.text if known.extract else None
        lines = [" ".join(sentence) + "\n" for sentence in document.sentences]
        # How long the first 0, 1, 2 ... sentences are.
        self.bytes = [0, *accumulate(len(line.encode("utf-8", "surrogatepass")) for line in lines)]
        self.lengths = [0, *accumulate(map(len, lines))]
        self.size: int | None = self.bytes[-1]
        self.characters: int | None = self.lengths[-1]
        read = [document.words, document.sentence_ends, document.speakers, document.genre, document.text]
        sections = [astuple(section) for section in document.sections] if known.extract else []
        self.sha256 = hashlib.sha256(json.dumps([*read, document.offsets, *sections]).encode()).hexdigest()

    def is_read(self, store: Store, stopping: Stopping) -> bool:
        return store.position.done

    def reading(self, store: Store, stopping: Stopping) -> DocumentReading:
        return DocumentReading(self, store)


class DocumentReading:
    """A document from the store's position on; the lines of the position are the sentences fed."""

    sha256 = None

    def __init__(self, source: DocumentSource, store: Store) -> None:
        self._source, self._position, self._is_read = source, store.position, False
        at = store.position
        if (at.bytes_read, at.lines, at.characters) not in zip(
            source.bytes, range(len(source.bytes)), source.lengths, strict=True
        ):
            raise damaged(store.path, "its position is not one of this text")

    @property
    def position(self) -> ReadingPosition:
        return self._position

    @property
    def length(self) -> int:
        return len(self._source.document.text or "")

    def new_headings(self) -> list[Heading]:
        """All of them at its end: they were there before it was read."""
        sections = self._source.document.sections if self._is_read else ()
        return [Heading(section.title, section.level, section.start) for section in sections]

    def feed(self, stream: Stream) -> Generator[list[Event]]:
        source = self._source
        for fed, events in feed_document(stream, source.document, self._position.lines):
            self._position = ReadingPosition(source.bytes[fed], fed, source.lengths[fed])
            yield events

    def end(self, stream: Stream) -> list[Event]:
        self._is_read = True
        return in_own_text(self._source.document, stream.close())

    def refuse_change(self) -> None:
        """The document is here, and nobody changes it."""
