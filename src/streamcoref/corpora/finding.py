"""The files of a corpus: itself, those of a folder, or those that a list of document names stands for."""

from __future__ import annotations

from pathlib import Path

from streamcoref.errors import InputError
from streamcoref.formats.files import plain_name, read_lines
from streamcoref.formats.recognising import readable_by_name

LIST_SUFFIX = ".ids"
_SHOWN = 5  # names in a message


def corpus_files(path: str | Path) -> list[Path]:
    """The files of a corpus, which is read more than once, so that a pipe is none.

    A file is itself; a folder is its files, sorted, without hidden ones, lists and what is called like a book or a page
    (README.md, guidelines.pdf), in which nothing is annotated; a list `*.ids` of names, one a
    line, stands for the files of those names, whatever their suffix, anywhere below the list's folder, in its order;
    of several with one name it is the one whose suffix says documents, or else text.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(
            file for file in path.iterdir() if is_file_of_folder(file) and _is_document(file) and not _is_book(file)
        )
        for file in files:
            refuse_broken_link(file)
        if not files:
            raise InputError("there are no files in this folder", path)
        return files
    if not path.exists():
        raise InputError("no such file or folder", path)
    if not path.is_file():
        raise InputError("a corpus is read more than once, and this can be read only once; save it as a file", path)
    return _listed_files(path) if path.suffix == LIST_SUFFIX else [path]


def files_to_read(path: str | Path) -> list[Path]:
    """`corpus_files` for those who read once: standard input, `-`, and pipes are files for them, too."""
    path = Path(path)
    return corpus_files(path) if path.is_dir() or path.suffix == LIST_SUFFIX else [path]


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
    candidates: dict[str, list[Path]] = {}
    for file in sorted(path.parent.rglob("*")):
        name = Path(plain_name(file)).stem
        if name in names and _is_document(file) and is_file_of_folder(file):
            refuse_broken_link(file)
            candidates.setdefault(name, []).append(file)
    missing = [name for name in names if name not in candidates]
    if missing:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise InputError(
            f"no files below {path.parent} for {', '.join(missing[:_SHOWN])}{more}", path, names[missing[0]]
        )
    return [_only_one(name, candidates[name], path, line) for name, line in names.items()]


def is_file_of_folder(path: Path) -> bool:
    """Whether what stands in a folder is one of its files; a link that leads nowhere is, and should be spoken of."""
    return path.is_file() or _leads_nowhere(path)


def refuse_broken_link(file: Path) -> None:
    if _leads_nowhere(file):
        raise InputError("this is a link to a file that is not there; mend it or remove it", file)


def _leads_nowhere(path: Path) -> bool:
    return path.is_symlink() and not path.exists()


def _only_one(name: str, files: list[Path], path: Path, line: int) -> Path:
    # A corpus may have other things about its documents beside them, under the same names, and their plain text.
    formats = {file: readable_by_name(file) for file in files}
    read = [file for file, known in formats.items() if known]
    likely = [file for file, known in formats.items() if known and not (known.is_prose or known.extract)] or read
    likely = likely or files
    if len(likely) > 1:
        raise InputError(f"{name} may be {likely[0]} or {likely[1]}; keep only one of them", path, line)
    return likely[0]


def _is_book(file: Path) -> bool:
    known = readable_by_name(file)
    return known is not None and known.extract is not None


def _is_document(file: Path) -> bool:
    return not file.name.startswith(".") and file.suffix != LIST_SUFFIX
