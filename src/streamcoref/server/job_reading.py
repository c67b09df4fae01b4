"""What a job does in its thread: the uploaded file, of whatever format, into a store and a text to look into."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from streamcoref.checked import Options
from streamcoref.document import Document
from streamcoref.errors import InputError
from streamcoref.formats import FORMATS, format_named
from streamcoref.formats.files import read_chunks
from streamcoref.options import ResolveOptions
from streamcoref.progress import OnProgress, ReadingProgress, ShouldStop
from streamcoref.store.job import resolve_to_store
from streamcoref.store.sources import DocumentSource, TextSource, open_source
from streamcoref.text import document_from_text
from streamcoref.text.decoding import check_encoding
from streamcoref.text.files import read_text

if TYPE_CHECKING:
    from streamcoref.resolver import Resolver

STORE, TEXT = "store.sqlite", "text.utf32"
_WIDTH = 4  # bytes of a character in UTF-32: any part of a text is found without reading what comes before it


class JobSettings(Options):
    """How a file is to be read; what cannot be told by the file itself."""

    format: str | None = None
    encoding: str = "utf-8"
    errors: str = "strict"
    options: dict[str, Any] = Field(default_factory=dict)

    def check(self, resolver: Resolver) -> None:
        """Raise at once if the job could only fail."""
        check_encoding(self.encoding, self.errors)
        if self.format is not None:
            format_named(self.format)
        ResolveOptions.of(self.options).check(resolver.checkpoint.config)


def file_name(label: str) -> str:
    """What an upload is called on disk: `upload`, with the ending of the label if that tells a format of ours."""
    name = label.lower()
    packed = ".gz" if name.endswith(".gz") else ""
    endings = {ending for known in FORMATS.working() for ending in known.endings}
    fitting = [ending for ending in endings if name.removesuffix(".gz").endswith(ending)]
    return f"upload{max(fitting, key=len, default='')}{packed}"


def read_job(
    resolver: Resolver,
    folder: Path,
    file: str,
    settings: JobSettings,
    most_bytes: int,
    *,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> ReadingProgress:
    """Read on from where the store stands, to the end: how much there was."""
    _refuse_bomb(folder / file, most_bytes)
    source = _source(folder / file, settings)
    source.name = f"job {folder.name}"
    if not (folder / TEXT).exists():
        _write_text(folder / TEXT, _text_of(source))
    with resolve_to_store(
        resolver,
        source,
        folder / STORE,
        settings.options,
        model=resolver.folder.name,
        on_progress=on_progress,
        should_stop=should_stop,
    ) as store:
        entities, _ = store.counts()
        length = (folder / TEXT).stat().st_size // _WIDTH
        return ReadingProgress(length, length, store.position.words, entities)


def _source(path: Path, settings: JobSettings) -> TextSource | DocumentSource:
    """The file as the source of a store. Every document has a text, so that all mentions have characters."""
    encoding = check_encoding(settings.encoding, settings.errors)
    source = open_source(path, encoding, settings.errors, settings.format)
    if isinstance(source, TextSource):
        return source
    return DocumentSource(source.document.with_text(), path, source.format, encoding, settings.errors)


def split_document(folder: Path, file: str, settings: JobSettings, key: str) -> Document:
    """The words and sentences that a job reads."""
    source = _source(folder / file, settings)
    if isinstance(source, DocumentSource):
        return source.document
    return document_from_text(key, "".join(_text_of(source)))


def _refuse_bomb(path: Path, most_bytes: int) -> None:
    size = 0
    for data in read_chunks(path):
        size += len(data)
        if size > most_bytes:
            raise InputError(f"more than {most_bytes:,} bytes when it is unpacked, which is not allowed here", path)


def _text_of(source: TextSource | DocumentSource) -> Iterable[str]:
    if isinstance(source, DocumentSource):
        return [source.document.text or ""]
    return read_text(source.path, source.encoding, source.errors)


def _write_text(path: Path, text: Iterable[str]) -> None:
    part = path.with_suffix(".part")
    with part.open("wb") as stream:
        for chunk in text:
            stream.write(chunk.encode("utf-32-le", "surrogatepass"))
    part.replace(path)


def text_between(path: Path, start: int, end: int) -> str:
    """Characters of the text that was read; none where it has none."""
    with path.open("rb") as stream:
        stream.seek(min(_WIDTH * start, path.stat().st_size))  # some file systems know no place so far behind the end
        return stream.read(_WIDTH * max(0, end - start)).decode("utf-32-le", "surrogatepass")
