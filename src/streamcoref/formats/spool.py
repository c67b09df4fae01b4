"""Documents set aside on disk, so that whoever makes them need not wait for a writer, nor a writer for them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.formats.jsonlines import read


class DocumentSpool:
    """A temporary file to which documents are added one by one, and from which they are then read in that order.

    A writer takes documents as they come and may refuse one; what else is learnt while they are made must not depend
    on it, nor on room for this file: whoever adds goes on, whoever reads is told. It is gone when the block ends.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+", encoding="ascii")  # noqa: SIM115
        self._failure: OSError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # what a full disk did not take is tried once more, and was told of before
            self._file.close()

    def add(self, document: Document) -> None:
        if self._failure is None:
            try:
                # Escaped as ASCII: half of a character, which UTF-8 cannot hold, comes through, too.
                self._file.write(json.dumps(document.to_dict()) + "\n")
            except OSError as error:
                self._failure = error

    def __iter__(self) -> Iterator[Document]:
        try:
            self._file.seek(0)  # writes what still waits
        except OSError as error:
            self._failure = self._failure or error
        if self._failure is not None:
            raise StreamcorefError(
                f"documents cannot be set aside in {tempfile.gettempdir()}: {self._failure.strerror}; make room there"
            )
        yield from read(self._file, Path(str(self._file.name)))
