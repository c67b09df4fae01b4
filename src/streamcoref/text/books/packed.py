"""A zip archive that may be anybody's: what is unpacked of it is counted while it is unpacked."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from streamcoref.errors import InputError

LARGEST_PART, LARGEST_WHOLE = 64 << 20, 256 << 20  # bytes, unpacked
_CHUNK = 1 << 16
_ENCRYPTED = 1  # a flag of a member


class Archive:
    """The members of an archive by name. What is wrong with it is an InputError; `what` is what it should be."""

    def __init__(self, stream: BinaryIO, path: Path, what: str) -> None:
        self.path, self.what = path, what
        self._left = LARGEST_WHOLE
        try:
            self._zip = zipfile.ZipFile(stream)
            self.names = frozenset(self._zip.namelist())
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as error:
            raise self.damaged(str(error)) from None

    def read(self, name: str) -> bytes:
        """A whole member; the names of members that are there are `names`."""
        return b"".join(self._chunks(name))

    def _chunks(self, name: str) -> Iterator[bytes]:
        try:
            member = self._zip.getinfo(name)
            if member.flag_bits & _ENCRYPTED:
                raise InputError(f"{self.what} is encrypted; save it without a password first", self.path)
            part = LARGEST_PART
            with self._zip.open(member) as stream:
                while data := stream.read(_CHUNK):
                    part, self._left = part - len(data), self._left - len(data)
                    if part < 0 or self._left < 0:  # whatever its header says
                        raise InputError(
                            f"its part {name} has more than {LARGEST_PART >> 20} megabytes when it is unpacked, or all "
                            f"its parts more than {LARGEST_WHOLE >> 20}, as no book has",
                            self.path,
                        )
                    yield data
        except KeyError:
            raise self.damaged(f"there is no part {name} in it") from None
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError) as error:
            raise self.damaged(str(error) or type(error).__name__) from None

    def damaged(self, why: str) -> InputError:
        return InputError(f"{self.what} is damaged: {why}", self.path)

    def resolved(self, base: str, reference: str) -> str:
        """The name of the member that a reference in another one means; what leads out of the archive is no member."""
        place = posixpath.join(posixpath.dirname(base), unquote(reference.partition("#")[0]))
        return posixpath.normpath(place).lstrip("/") if reference.partition("#")[0] else base
