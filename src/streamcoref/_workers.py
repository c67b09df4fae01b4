"""Many texts by several processes, each with the model: in order, and nothing dropped."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamcoref._many import ResolveInput, arguments_of, naming
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.model.parts import load_code, loaded_code

if TYPE_CHECKING:
    from streamcoref._precisions import PrecisionName
    from streamcoref.resolver import Resolver


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
    with naming(number):
        return _resolver.resolve(**arguments_of(number, given), **options)
