"""Files that every machine of a cluster can reach: a folder that they share, or an address as s3://bucket/folder."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from streamcoref.errors import InputError, StreamcorefError
from streamcoref.integrations.extras import import_extra

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")

_HALF = re.compile(r"\.[0-9a-f]{16}\.tmp")


def is_address(name: str) -> bool:
    """Whether a name is that of another kind of storage, and no path of this machine's."""
    return _ADDRESS.match(name) is not None


class StoredFile(NamedTuple):
    """A file of a folder: its path below it, and its bytes."""

    name: str
    size: int


class SharedFolder:
    """A folder, by its path or address. It is sent to workers as its address: each opens it with its own rights."""

    def __init__(self, address: str | Path) -> None:
        fs = import_extra("pyarrow.fs", "ray")
        self.address = str(address) if is_address(str(address)) else str(Path(address).resolve())
        try:
            if is_address(self.address):
                self._files, self._folder = fs.FileSystem.from_uri(self.address)
            else:
                self._files, self._folder = fs.LocalFileSystem(), self.address
        except Exception as error:  # of whatever library stands behind an address
            raise StreamcorefError(f"{address}: this storage cannot be reached: {_line(error)}") from error
        self.is_local = self._files.type_name == "local"

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedFolder, (self.address,)

    def _path(self, name: str) -> str:
        return str(PurePosixPath(self._folder) / name)

    def exists(self) -> bool:
        return bool(self._info("").type.name != "NotFound")

    def is_file(self, name: str = "") -> bool:
        return bool(self._info(name).is_file)

    def _info(self, name: str) -> Any:
        with self._speaking(name):
            return self._files.get_file_info(self._path(name))

    def listed(self, below: str = "") -> list[StoredFile]:
        """All files below a folder of it, hidden ones left out, sorted by their names; none if there is no such one."""
        fs = import_extra("pyarrow.fs", "ray")
        root = PurePosixPath(self._path(below))
        selector = fs.FileSelector(str(root), recursive=True, allow_not_found=True)
        with self._speaking(below):
            found = [each for each in self._files.get_file_info(selector) if each.is_file]
        names = [(PurePosixPath(each.path).relative_to(root), each.size) for each in found]
        shown = [(name, size) for name, size in names if not any(part.startswith(".") for part in name.parts)]
        return [StoredFile(name.as_posix(), size) for name, size in sorted(shown)]

    def sweep(self) -> None:
        """Remove what processes that were killed have left half written; elsewhere there is no such thing."""
        for path in Path(self._folder).rglob(".*.tmp") if self.is_local else ():
            if _HALF.fullmatch(path.name):
                path.unlink(missing_ok=True)

    @contextmanager
    def local_copy(self, name: str) -> Iterator[Path]:
        """The file as a path of this machine: itself, or a copy that is removed afterwards."""
        if self.is_local:
            yield Path(self._path(name))
            return
        with TemporaryDirectory(prefix="streamcoref-") as folder:
            copy = Path(folder) / PurePosixPath(name).name
            with self._speaking(name), self._files.open_input_stream(self._path(name)) as given, copy.open("wb") as to:
                while data := given.read(1 << 20):
                    to.write(data)
            yield copy

    @contextmanager
    def written(self, name: str) -> Iterator[Any]:
        """A binary stream whose content is there as a whole at the end, or, after an error, not at all."""
        target = self._path(name)
        # Elsewhere an object appears when it is closed; here it is moved to its place.
        beside = str(PurePosixPath(target).with_name(f".{secrets.token_hex(8)}.tmp")) if self.is_local else target
        with self._speaking(name):
            self._files.create_dir(str(PurePosixPath(target).parent), recursive=True)
            stream = self._files.open_output_stream(beside)
        try:
            yield stream
            with self._speaking(name):
                stream.close()
                if beside != target:
                    self._files.move(beside, target)
        except BaseException:
            stream.close()
            self.remove_path(beside)
            raise

    def write(self, name: str, content: bytes) -> None:
        with self.written(name) as stream:
            stream.write(content)

    def read(self, name: str) -> bytes:
        with self._speaking(name), self._files.open_input_stream(self._path(name)) as stream:
            content: bytes = stream.read()
            return content

    def remove(self, name: str) -> None:
        with self._speaking(name):
            self.remove_path(self._path(name))

    def remove_path(self, path: str) -> None:
        if self._files.get_file_info(path).is_file:
            self._files.delete_file(path)

    @contextmanager
    def _speaking(self, name: str) -> Iterator[None]:
        """What keeps a file from being read or written, as a sentence."""
        try:
            yield
        except OSError as error:
            raise InputError(f"the storage says: {_line(error)}", f"{self.address}/{name}".rstrip("/")) from error


def _line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
