"""Many texts, one after the other or by several processes, each with the model: in order, and nothing dropped."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.model.parts import load_code, loaded_code

if TYPE_CHECKING:
    from streamcoref._precisions import PrecisionName
    from streamcoref.resolver import Resolver

# A text, or the arguments of `Resolver.resolve` by name.
ResolveInput = str | Mapping[str, Any]
_ARGUMENTS = ("text", "words", "speakers", "turns", "document", "key")


def resolve_one(resolver: Resolver, number: int, given: ResolveInput, options: Mapping[str, Any]) -> Document:
    """One of many texts; whatever goes wrong is said with its number."""
    try:
        if isinstance(given, str):
            given = {"text": given}
        if not isinstance(given, Mapping):
            raise StreamcorefError(f"a text is a str or a mapping of arguments of resolve, not {type(given).__name__}")
        for name in given:
            if name not in _ARGUMENTS:
                raise StreamcorefError(f"resolve has no argument {name!r}; it has {', '.join(_ARGUMENTS)}")
        return resolver.resolve(**{"key": f"text-{number}", **given}, **options)
    except StreamcorefError as error:
        raise StreamcorefError(f"text {number} (counted from 0): {error}") from error
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise StreamcorefError(f"text {number} (counted from 0) could not be resolved: {said}") from error


def resolve_in_processes(
    texts: Iterable[ResolveInput],
    workers: int,
    folder: Path,
    device: str,
    precision: PrecisionName,
    options: Mapping[str, Any],
) -> Iterator[Document]:
    # Processes that begin afresh: a fork of a process in which torch has run may hang.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start, (folder, device, precision, loaded_code()))
    ahead: deque[Future[Document]] = deque()
    done = 0
    try:
        for number, given in enumerate(texts):
            ahead.append(pool.submit(_resolve, number, given, dict(options)))
            if len(ahead) == 2 * workers:
                yield ahead.popleft().result()
                done += 1
        while ahead:
            yield ahead.popleft().result()
            done += 1
    except BrokenProcessPool as error:
        raise StreamcorefError(
            f"a worker process died at text {done} (counted from 0) or one of the {2 * workers} after it; is there "
            "memory for all workers, and does the script start its work under if __name__ == '__main__'?"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


_resolver: Resolver | None = None  # of a worker process


def _start(folder: Path, device: str, precision: PrecisionName, code: Sequence[Path]) -> None:
    global _resolver
    from streamcoref.resolver import load

    for file in code:
        load_code(file)
    _resolver = load(folder, device=device, threads=1, precision=precision)


def _resolve(number: int, given: ResolveInput, options: Mapping[str, Any]) -> Document:
    assert _resolver is not None
    return resolve_one(_resolver, number, given, options)
