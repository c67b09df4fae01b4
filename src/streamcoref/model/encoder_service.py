"""One encoder for all who read with a model: some segments at once, each stream in its own order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from itertools import chain, islice
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

import torch
from torch import Tensor

from streamcoref.model.segments import Segment

if TYPE_CHECKING:
    from streamcoref.model.spans import SegmentSpans

SHORT = 128  # pieces of a segment that gains by sharing a pass with others; above, a pass of its own is as fast
_SIZES = (16, 4)  # of shared passes: few, since each is tried once for each length

# Segments to the vectors of their pieces, [n, hidden] each: an encoder, or what stands for one.
Encode = Callable[[Sequence[Segment]], list[Tensor]]
# The pieces [n, hidden] of a segment, and the number of a scheme, to the spans that it proposes: a model's `Spans`.
Propose = Callable[[Tensor, Segment, int], "SegmentSpans"]
_Given = TypeVar("_Given")
_Result = TypeVar("_Result")
Made = Callable[[Segment, Tensor], _Result]  # of a segment and the vectors of its pieces


# Pieces from which on a segment is worth dividing among threads. Below, two threads gain next to nothing (0.8 to 1.1
# times the speed of one), and products of so few rows are summed in another order by two threads than by one.
WORTH_DIVIDING = 64


class SegmentService(Protocol):
    """Where a text's segments are encoded: in the threads of this process, or on other machines.

    All methods may be called by many readers at once, and nobody's answer depends on who else is there.
    """

    @property
    def under_way(self) -> int:
        """Segments that are being encoded, or wait for it."""

    def in_order(self, segments: Iterable[Segment]) -> Iterator[tuple[Segment, Tensor]]:
        """Each segment with its vectors [n, hidden]. Segments are asked for only as far ahead as they are encoded."""

    def spans_in_order(self, segments: Iterable[Segment], scheme: int) -> Iterator[SegmentSpans]:
        """The same for those who need the spans only that each segment proposes."""

    def together(self, segments: Sequence[Segment]) -> SegmentService:
        """A service for some short texts, of each of which one of these is all there is.

        Those of one length may share a pass of the encoder, where that gives the same numbers.
        """

    def beside(self) -> AbstractContextManager[None]:
        """The caller's own work while others encode. To be entered once for many segments."""


class EncoderService:
    """Segments with their piece vectors, in order, encoded ahead of whoever asks for them. A `SegmentService`.

    On a CPU with several threads each thread encodes a segment of its own, and finds its spans, while the caller links
    what came before: linking is one small step after another, which would leave the other cores idle, and a layer of a
    small encoder is not worth dividing. The threads live as long as the service and serve all who ask; of each at most
    one segment more than there are threads is held. A long segment that has the machine for itself is divided
    nevertheless, which changes no bit of it. A segment is encoded alone, for a padded batch would round differently
    with every neighbour: the vectors are the same whoever else is there. Only short texts that are known to be of one
    length go `together`.

    With one thread, or on another device, `batch` segments of one caller go through the encoder together.
    """

    def __init__(
        self, encode: Encode, propose: Propose, device: torch.device, threads: int | None = None, batch: int = 1
    ) -> None:
        self.encode, self.propose = encode, propose
        self.on_cpu = device.type == "cpu"
        self.threads = (threads or torch.get_num_threads()) if self.on_cpu else 1
        self.batch = batch
        self._pool: ThreadPoolExecutor | None = None
        self._lock = Lock()
        self._under_way = 0  # groups of segments that are being encoded, or wait for it
        self._agrees: dict[tuple[int, int], bool] = {}  # whether so many pieces, so often, are the same as one by one

    def in_order(self, segments: Iterable[Segment]) -> Iterator[tuple[Segment, Tensor]]:
        return self._in_order(segments, lambda segment, pieces: (segment, pieces))

    def spans_in_order(self, segments: Iterable[Segment], scheme: int) -> Iterator[SegmentSpans]:
        return self._in_order(segments, lambda segment, pieces: self.propose(pieces, segment, scheme))

    def _in_order(self, segments: Iterable[Segment], made: Made[_Result]) -> Iterator[_Result]:
        """What is made of each segment's vectors, by the thread that has encoded it."""
        if self.threads == 1:
            for group in _groups(segments, self.batch):
                yield from map(made, group, self._encode(group))
            return
        rest = iter(segments)
        waiting: deque[Future[_Result]] = deque()
        first = list(islice(rest, 2))
        if len(first) == 1 and self._alone():
            try:
                with _threads(self.threads if len(first[0]) >= WORTH_DIVIDING else 1):
                    vectors = self._encode(first)[0]
            finally:
                self._done(None)
            yield made(first[0], vectors)
            return

        @torch.inference_mode()
        def one(segment: Segment) -> _Result:
            return made(segment, self._encode([segment])[0])

        try:
            for segment in first:
                waiting.append(self._submit(one, segment))
            for segment in rest:
                waiting.append(self._submit(one, segment))
                if len(waiting) > self.threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for unneeded in waiting:  # the caller has had enough
                unneeded.cancel()

    def together(self, segments: Sequence[Segment]) -> SegmentService:
        return _Together(self, segments)

    @contextmanager
    def beside(self) -> Iterator[None]:
        """The caller's own work while others encode: in one thread. To be entered once for many segments.

        So sums are always made in the same order, whether others encode just then or not.
        """
        with _threads(1 if self.on_cpu else torch.get_num_threads()):
            yield

    @property
    def under_way(self) -> int:
        return self._under_way

    def _alone(self) -> bool:
        """Whether nobody else encodes; the caller has the machine then, and says when it is `_done`."""
        with self._lock:
            if self._under_way:
                return False
            self._under_way = 1
            return True

    def encode_equal(self, group: Sequence[Segment]) -> Future[list[Tensor]]:
        """Segments of one length in one pass; with one thread at once, else by the first thread that is free."""
        if self.threads > 1:
            return self._submit(self._encode_equal, group)
        done: Future[list[Tensor]] = Future()
        done.set_result(self._encode_equal(group))
        return done

    def _encode_equal(self, group: Sequence[Segment]) -> list[Tensor]:
        """In one pass, if that gives the numbers of passes of their own.

        Which product of matrices is taken depends on the machine and on the number of rows: with few of them some
        round differently. So the first pass of each shape is compared with its first and its last segment alone.
        """
        shape = len(group[0]), len(group)
        if len(group) > 1 and self._agrees.get(shape, True):
            vectors = [one.clone() for one in self._encode(group)]  # not parts of one block: each is freed when used
            if shape not in self._agrees:
                ends = zip((group[0], group[-1]), (vectors[0], vectors[-1]), strict=True)
                self._agrees[shape] = all(torch.equal(self._encode([segment])[0], found) for segment, found in ends)
            if self._agrees[shape]:
                return vectors
        return [self._encode([segment])[0] for segment in group]

    def _submit(self, work: Callable[[_Given], _Result], given: _Given) -> Future[_Result]:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.threads, "encoder", initializer=_single)
            self._under_way += 1
            pool = self._pool
        future = pool.submit(work, given)
        future.add_done_callback(self._done)
        return future

    def _done(self, _: object) -> None:
        with self._lock:
            self._under_way -= 1

    @torch.inference_mode()
    def _encode(self, group: Sequence[Segment]) -> list[Tensor]:
        return self.encode(group)


class _Together:
    """Segments of some short texts: passes in the order in which they are first asked for, a few ahead. A
    `SegmentService`; what is none of them goes to the service that encodes."""

    def __init__(self, service: EncoderService, segments: Sequence[Segment]) -> None:
        self._service = service
        self._passes = _equal_lengths(segments)
        self._pass_of = {segment: number for number, group in enumerate(self._passes) for segment in group}
        self._begun: list[Future[list[Tensor]]] = []  # of the first passes

    @property
    def under_way(self) -> int:
        return self._service.under_way

    def in_order(self, segments: Iterable[Segment]) -> Iterator[tuple[Segment, Tensor]]:
        rest = iter(segments)
        for segment in rest:
            if segment not in self._pass_of:
                yield from self._service.in_order(chain([segment], rest))
                return
            yield segment, self._vectors(segment)

    def spans_in_order(self, segments: Iterable[Segment], scheme: int) -> Iterator[SegmentSpans]:
        for segment, pieces in self.in_order(segments):
            yield self._service.propose(pieces, segment, scheme)

    def together(self, segments: Sequence[Segment]) -> SegmentService:
        return self._service.together(segments)

    def beside(self) -> AbstractContextManager[None]:
        return self._service.beside()

    def _vectors(self, segment: Segment) -> Tensor:
        number = self._pass_of[segment]
        ahead = self._service.threads if self._service.threads > 1 else 0
        while len(self._begun) < min(number + 1 + ahead, len(self._passes)):
            self._begun.append(self._service.encode_equal(self._passes[len(self._begun)]))
        return self._begun[number].result()[self._passes[number].index(segment)]


def _equal_lengths(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Passes of short segments of one length, in the order of the first of each."""
    by_length: dict[int, list[Segment]] = {}
    for segment in segments:
        if len(segment) <= SHORT:
            by_length.setdefault(len(segment), []).append(segment)
    place = {segment: number for number, segment in enumerate(segments)}
    passes: list[list[Segment]] = []
    for equal in by_length.values():
        while equal:
            size = next((size for size in _SIZES if size <= len(equal)), 1)
            passes.append(equal[:size])
            equal = equal[size:]
    return sorted(passes, key=lambda group: place[group[0]])


@contextmanager
def _threads(number: int) -> Iterator[None]:
    """So many threads of the CPU for each operation of this thread."""
    before = torch.get_num_threads()
    if before == number:
        yield
        return
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _single() -> None:
    """One thread of the CPU for each operation of this thread, for good.

    To ask first is needed: a thread that has neither asked nor computed takes over what any other has set last, with
    its first operation, whatever it was given itself.
    """
    torch.get_num_threads()
    torch.set_num_threads(1)


def _groups(segments: Iterable[Segment], size: int) -> Iterator[list[Segment]]:
    rest = iter(segments)
    while group := list(islice(rest, size)):
        yield group
