"""Corpora as a user names them: a file, a folder, or a list of document names such as LitBank's `dev.ids`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from streamcoref.document import Document
from streamcoref.errors import InputError
from streamcoref.formats import read_documents
from streamcoref.formats.files import plain_name, read_lines

LIST_SUFFIX = ".ids"
_SHOWN = 5  # names in a message


def corpus_files(path: str | Path) -> list[Path]:
    """The files of a corpus, which is read more than once, so that a pipe is none.

    A file is itself; a folder is its files, sorted, without hidden ones and lists; a list `*.ids` of names, one a
    line, stands for the files of those names, whatever their suffix, anywhere below the list's folder, in its order.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and _is_document(file))
        if not files:
            raise InputError("there are no files in this folder", path)
        return files
    if not path.exists():
        raise InputError("no such file or folder", path)
    if not path.is_file():
        raise InputError("a corpus is read more than once, and this can be read only once; save it as a file", path)
    return _listed_files(path) if path.suffix == LIST_SUFFIX else [path]


def read_corpus(path: str | Path, format: str | None = None) -> Iterator[Document]:  # noqa: A002
    """Yield the documents of a corpus one by one. Without `format` each file's is recognised."""
    for file in corpus_files(path):
        yield from read_documents(file, format)


def _listed_files(path: Path) -> list[Path]:
    names: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), start=1):
        name = line.strip()
        if name in names:
            raise InputError(f"{name} is listed twice, first in line {names[name]}; remove one", path, number)
        if name:
            names[name] = number
    if not names:
        raise InputError("this list names no documents; put one name on each line", path)
    found: dict[str, Path] = {}
    for file in sorted(path.parent.rglob("*")):
        name = Path(plain_name(file)).stem
        if name not in names or not _is_document(file) or not file.is_file():
            continue
        if name in found:
            raise InputError(f"{name} may be {found[name]} or {file}; keep only one of them", path, names[name])
        found[name] = file
    missing = [name for name in names if name not in found]
    if missing:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise InputError(
            f"no files below {path.parent} for {', '.join(missing[:_SHOWN])}{more}", path, names[missing[0]]
        )
    return [found[name] for name in names]


def _is_document(file: Path) -> bool:
    return not file.name.startswith(".") and file.suffix != LIST_SUFFIX
