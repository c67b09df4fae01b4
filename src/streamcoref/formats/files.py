"""Opening files: gzip, UTF-8 and standard input on the way in; all or nothing on the way out."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import select
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

from streamcoref._replacing import replacing
from streamcoref.errors import InputError, Remedy, StreamcorefError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STANDARD = Path("-")  # standard input when reading, standard output when writing
_GZIP_MAGIC = b"\x1f\x8b"
CHUNK_BYTES = 8192  # less than a second's work for a model, so that a run can be stopped and saved at any time
LONGEST_LINE = 64 << 20  # bytes; a line is held as a whole, and a small gzip file may unpack to a very long one
_ASK_SECONDS = 0.1  # while a pipe is waited for: how often it is asked whether to go on waiting


def plain_name(path: Path) -> str:
    """The file's name without `.gz`: what the content is called."""
    return path.name.removesuffix(".gz")


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, each with its line end as it stands there; `-` is standard input.

    Compressed files are known by their first bytes, whatever their name. A byte order mark is left out.
    """
    offset = 0
    with _readable(path), _open_bytes(path) as stream:
        # A line ends at "\n" alone: str.splitlines would also cut at U+2028 and other characters inside words.
        for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE + 1), b""), start=1):
            if len(line) > LONGEST_LINE:
                raise too_long(path, number)
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"not valid UTF-8: byte 0x{line[error.start]:02x} at offset {offset + error.start}"
                    f"{' of the unpacked file' if isinstance(stream, gzip.GzipFile) else ''}; "
                    "convert the file to UTF-8 first",
                    path,
                    number,
                ) from None
            yield text.removeprefix("\ufeff") if number == 1 else text
            offset += len(line)


def too_long(path: Path, line: int) -> InputError:
    return InputError(f"this line has more than {LONGEST_LINE >> 20} megabytes, as no document has", path, line)


def read_chunks(path: Path, should_stop: Callable[[], bool] | None = None) -> Generator[bytes]:
    """Yield the bytes of a file, unpacked, some thousand at a time as they come.

    `-` is standard input, which can only be read from where it is. Waiting for more from a pipe ends when
    `should_stop` says so.
    """
    with _readable(path), suppress(_NoLongerAwaited), _open_bytes(path, should_stop) as stream:
        while data := stream.read1(CHUNK_BYTES):
            yield data


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What keeps a file from being read, as a sentence."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"damaged gzip data ({error}); the file may be cut short", path) from None
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except IsADirectoryError:
        raise InputError("this is a folder; name the files in it", path) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None


@contextmanager
def _open_bytes(
    path: Path, should_stop: Callable[[], bool] | None = None
) -> Iterator[io.BufferedReader[io.RawIOBase] | gzip.GzipFile]:
    # Standard input may be any binary stream; BufferedReader adds the `peek` that tells gzip from text.
    stream = cast(io.RawIOBase, sys.stdin.buffer if path == STANDARD else path.open("rb", buffering=0))
    raw = io.BufferedReader(stream if should_stop is None else _awaited(stream, path, should_stop))
    try:
        if raw.peek(2)[:2] == _GZIP_MAGIC:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield unpacked
        else:
            yield raw
    finally:
        if path == STANDARD:
            raw.detach()  # standard input is not ours to close
        else:
            raw.close()


class _NoLongerAwaited(Exception):  # noqa: N818 (nobody's error)
    """Somebody said to stop while a pipe was being waited for."""


class _AwaitedPipe(io.RawIOBase):
    """A pipe that asks whether to go on, again and again, while nothing comes."""

    def __init__(self, stream: io.RawIOBase, should_stop: Callable[[], bool], *, ours: bool) -> None:
        self._stream, self._should_stop, self._ours = stream, should_stop, ours
        # What standard input holds in its own buffer comes first.
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not select.select([self._stream], [], [], _ASK_SECONDS)[0]:
            if self._should_stop():
                raise _NoLongerAwaited
        view = memoryview(buffer)
        data = self._read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if self._ours:
            self._stream.close()
        super().close()


def _awaited(stream: io.RawIOBase, path: Path, should_stop: Callable[[], bool]) -> io.RawIOBase:
    """The stream itself if it never lets anybody wait."""
    try:
        stream.fileno()
    except OSError:  # standard input that is no file of the system, as in a notebook
        return stream
    ours = path != STANDARD
    if os.name != "posix" or (ours and path.is_file()):
        return stream
    return _AwaitedPipe(stream, should_stop, ours=ours)


def check_output(path: Path, *, force: bool = False) -> None:
    """Raise unless `path` can be written. Commands call this before they start to work."""
    if path == STANDARD or _is_device(path):
        return
    if path.is_dir():
        raise StreamcorefError(f"{path}: this is a folder; name a file")
    if not path.parent.is_dir():
        raise StreamcorefError(f"{path}: there is no folder {path.parent}; make it first")
    if path.exists() and not force:
        raise StreamcorefError(f"{path}: the file exists", Remedy.REPLACE)


@contextmanager
def open_output(path: Path, *, force: bool = False) -> Iterator[TextIO]:
    """A UTF-8 text stream to `path` that appears there complete or not at all.

    Everything goes to a temporary file beside it, which takes the place of `path` at the end; an error on the way
    removes it and leaves an old file as it was. A name in `.gz` is compressed. `-` is standard output.
    """
    check_output(path, force=force)
    try:
        if path == STANDARD:
            sys.stdout.flush()
            with _text(cast(BinaryIO, sys.stdout.buffer)) as stream:
                yield stream
        elif _is_device(path):
            with path.open("wb") as device, _text(device) as stream:
                yield stream
        else:
            with _beside(path.resolve()) as binary, _compressing(binary, path) as packed, _text(packed) as stream:
                yield stream
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise StreamcorefError(f"{path}: the text has {bad!a}, half of a character, which UTF-8 cannot hold") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StreamcorefError(f"{path}: cannot be written: {error.strerror or error}") from None


@contextmanager
def _beside(target: Path) -> Iterator[BinaryIO]:
    # "x" rather than mkstemp: the usual permissions, not 0600
    with (
        replacing(target, target.with_name(f".{secrets.token_hex(8)}.tmp")) as part,
        part.open("xb") as stream,
    ):
        yield stream


@contextmanager
def _compressing(binary: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    if path.suffix != ".gz":
        yield binary
        return
    # mtime=0: the same documents give the same bytes
    with gzip.GzipFile(filename="", mode="wb", fileobj=binary, mtime=0) as packed:
        yield cast(BinaryIO, packed)


@contextmanager
def _text(binary: BinaryIO) -> Iterator[TextIO]:
    stream = io.TextIOWrapper(binary, encoding="utf-8", newline="")
    try:
        yield stream
    finally:
        stream.detach()  # flushes; the layers below are closed by those who opened them


def _is_device(path: Path) -> bool:
    return path.is_fifo() or path.is_char_device()
