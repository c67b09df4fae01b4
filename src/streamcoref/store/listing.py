"""Mentions and quotations of a store with their text, taken from the text while it is read once."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from streamcoref.document import Document, Mention, Quotation
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats import format_named, read_documents
from streamcoref.store.database import Store
from streamcoref.store.sources import DocumentSource
from streamcoref.text.files import examine, is_regular, read_text


class InContext(NamedTuple):
    """A mention and what stands before and after it."""

    before: str
    mention: Mention
    after: str


def mentions_in_context(store: Store, entity: int, width: int) -> Iterator[InContext]:
    """The mentions of an entity, each with up to `width` characters on each side, in the order of the text.

    The characters come from the text's file, or from the store if that keeps the text. A file that is no longer there,
    or has changed, is an InputError at once.
    """
    return _in_own_text(store, store.mentions(entity), width)


def said_in_context(store: Store, entity: int, width: int) -> Iterator[InContext]:
    """What an entity says, in the same way: each quotation as if it were a mention, with its characters."""
    return _in_own_text(store, map(_as_mention, store.quotations(entity)), width)


def quotations_with_text(store: Store, entity: int | None = None) -> Iterator[tuple[Quotation, str]]:
    """What is said, by that entity or by all, with its characters, in the order of the text.

    They come from the text's file. One that is no longer there, or has changed, is an InputError at once.
    """
    passed: deque[Quotation] = deque()  # those whose characters are being looked for

    def places() -> Iterator[Mention]:
        for one in store.quotations(entity):
            passed.append(one)
            yield _as_mention(one)

    found = _in_own_text(store, places(), 0)
    return ((passed.popleft(), mention.text) for _, mention, _ in found)


def _as_mention(one: Quotation) -> Mention:
    return Mention(one.word_start, one.word_end, one.start, one.end, "", 0, one.score)


def _in_own_text(store: Store, mentions: Iterator[Mention], width: int) -> Iterator[InContext]:
    if (own := store.text()) is not None:
        return in_context(mentions, own, width)
    path, options = Path(store.origin.path), json.loads(store.origin.options)
    try:
        if "document" in options:
            whole = _document(store, path, options["format"], options["document"]).with_text()
            return in_context(_placed(whole, mentions), [whole.text or ""], width)
        how = options["encoding"], options["errors"]
        if is_regular(path) and examine(path, *how).sha256 == store.origin.sha256:
            return in_context(mentions, read_text(path, *how), width)
    except (StreamcorefError, LookupError, TypeError, ValueError, OSError):  # path and options may be anybody's
        pass
    raise InputError("the text is no longer there or has changed", path)


def _document(store: Store, path: Path, format_name: str, key: str) -> Document:
    """The document that a store was made from; a LookupError if its file no longer has it."""
    for document in read_documents(path, format_name) if is_regular(path) else ():
        source = DocumentSource(document, path, format_named(format_name))
        if document.key == key and source.sha256 == store.origin.sha256:
            return document
    raise LookupError(key)


def _placed(document: Document, mentions: Iterable[Mention]) -> Iterator[Mention]:
    """Mentions with the characters that they have in a document's text."""
    for mention in mentions:
        there = document.mention((mention.word_start, mention.word_end))
        yield replace(mention, start=there.start, end=there.end)


def in_context(mentions: Iterable[Mention], text: Iterable[str], width: int) -> Iterator[InContext]:
    """Each mention with up to `width` characters on each side. Mentions come in the order of the text.

    The text comes in chunks, of which no more is held than is needed.
    """
    chunks = iter(text)
    window, begin = "", 0  # the characters from `begin` on
    for mention in mentions:
        if mention.start is None or mention.end is None:
            raise StreamcorefError("this store is damaged: a mention of a text has no characters in it")
        first = max(0, mention.start - width)
        while begin + len(window) < mention.end + width:
            chunk = next(chunks, None)
            if chunk is None:
                break
            window += chunk
            passed = min(len(window), max(0, first - begin))
            window, begin = window[passed:], begin + passed
        before = window[max(0, first - begin) : mention.start - begin]
        after = window[mention.end - begin : mention.end + width - begin]
        yield InContext(before, replace(mention, text=window[mention.start - begin : mention.end - begin]), after)
