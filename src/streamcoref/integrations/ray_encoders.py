"""One text on many machines: segments are encoded by actors of a Ray cluster, and linked here, in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from streamcoref.errors import StreamcorefError
from streamcoref.integrations.ray_cluster import ModelParcel, check_workers, connect, cpus, device_of, parcel_in_store
from streamcoref.model.candidates import Candidates
from streamcoref.model.segments import Segment
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.words import Word
from streamcoref.resolver import Resolver
from streamcoref.resolver import load as load_here

if TYPE_CHECKING:
    from streamcoref.model.arrays import FloatArray
    from streamcoref.model.encoder_service import SegmentService

PATIENCE = 300.0  # seconds without any worker until we give up: machines may be on their way
AHEAD = 2  # segments of a worker: one that it encodes, and one that waits, so that it never does
ATTEMPTS = 8  # workers that one segment may cost; it is the segment's fault then
_ASK_SECONDS = 0.2
_ANY_WORD = Word("", 0, opens=False, ends=False)


class SpansOnTheWay(NamedTuple):
    """What linking needs of a segment's k spans. The segment itself stays where it is linked."""

    starts: npt.NDArray[np.int32]  # [k] pieces of the segment
    ends: npt.NDArray[np.int32]  # [k]
    vectors: FloatArray  # [k, size]
    link_scores: FloatArray  # [k]
    prune_scores: FloatArray  # [k]

    @classmethod
    def of(cls, spans: SegmentSpans) -> SpansOnTheWay:
        places = spans.kept.starts.astype(np.int32), spans.kept.ends.astype(np.int32)
        return cls(*places, _sent(spans.vectors), _sent(spans.link_scores), _sent(spans.prune_scores))

    def arrived(self, segment: Segment, device: torch.device) -> SegmentSpans:
        """The spans of the segment. Candidates that were not kept are for training alone, and did not travel."""
        kept = Candidates(self.starts.astype(np.int64), self.ends.astype(np.int64))
        prune_scores = _received(self.prune_scores, device)
        return SegmentSpans(
            segment=segment,
            kept=kept,
            vectors=_received(self.vectors, device),
            link_scores=_received(self.link_scores, device),
            prune_scores=prune_scores,
            candidates=kept,
            candidate_scores=prune_scores,
        )


def _sent(tensor: Tensor) -> FloatArray:
    array: FloatArray = tensor.cpu().numpy()
    return array


def _received(array: FloatArray, device: torch.device) -> Tensor:
    """A copy: the array lies in the object store, which wants its place back."""
    return torch.tensor(array, device=device)


def on_the_way(segment: Segment) -> Segment:
    """A segment without its words, of which an encoder needs the number only."""
    return replace(segment, words=(_ANY_WORD,) * len(segment.words), tracks={})


class EncoderWorker:
    """An actor: the model, loaded once, that encodes segments and proposes their spans."""

    def __init__(self, fetch: Callable[[], ModelParcel], device: str) -> None:
        self._model = fetch().unpack(device).checkpoint.model

    def ready(self) -> None:
        """Answered as soon as the model is loaded."""

    @torch.inference_mode()
    def spans(self, segment: Segment, scheme: int) -> SpansOnTheWay:
        return SpansOnTheWay.of(self._model.spans(self._pieces(segment), segment, scheme))

    @torch.inference_mode()
    def pieces(self, segment: Segment) -> FloatArray:
        """[n, hidden]"""
        return _sent(self._pieces(segment))

    def _pieces(self, segment: Segment) -> Tensor:
        pieces: Tensor = self._model.encoder([segment])[0]
        return pieces


@dataclass(eq=False, slots=True)
class _Worker:
    actor: Any = None
    starting: Any = None  # what it was asked when it was started; None: it has answered, and works
    busy: int = 0  # segments


@dataclass(eq=False, slots=True)
class _Order:
    """A segment that a worker has been given, and what it will answer."""

    segment: Segment
    method: Literal["spans", "pieces"]
    more: tuple[int, ...]
    attempts: int = 0
    worker: _Worker | None = None
    actor: Any = None  # the worker's, which may have another one by now
    answer: Any = None


class ClusterService:
    """Segments encoded by actors, in order. A `SegmentService`.

    Each worker encodes a segment at a time, in one thread, as a thread of this machine would: the answer is the same.
    It has one more waiting; whoever asks holds no more than these. In the place of a worker that is lost, or whose
    machine is, Ray starts another where there is room, and its segments go to others meanwhile: each is held here
    until its answer has come.
    """

    def __init__(self, resolver: Resolver, ray: Any, workers: int, gpus: float = 0.0) -> None:
        self._ray = ray
        self._local = resolver.checkpoint.model.service(1)
        self._device = resolver.checkpoint.model.device
        self._lock = Lock()
        self._parcel = parcel_in_store(ray, resolver)  # held: a worker that is started again fetches it again
        self._actor = ray.remote(EncoderWorker).options(num_cpus=1, num_gpus=gpus, scheduling_strategy="SPREAD")
        self._arguments = self._parcel, device_of(gpus)
        self._workers = [self._started(_Worker()) for _ in range(workers)]
        self._fault: BaseException | None = None  # of a worker that will never work
        self._idlest()

    @property
    def under_way(self) -> int:
        return sum(worker.busy for worker in self._workers)

    @property
    def working(self) -> int:
        """Workers that are there now."""
        self._greet()
        return sum(worker.starting is None for worker in self._workers)

    def in_order(self, segments: Iterable[Segment]) -> Iterator[tuple[Segment, Tensor]]:
        for segment, answer in self._answers(_Order(segment, "pieces", ()) for segment in segments):
            yield segment, _received(answer, self._device)

    def spans_in_order(self, segments: Iterable[Segment], scheme: int) -> Iterator[SegmentSpans]:
        for segment, answer in self._answers(_Order(segment, "spans", (scheme,)) for segment in segments):
            yield SpansOnTheWay(*answer).arrived(segment, self._device)

    def together(self, segments: Sequence[Segment]) -> SegmentService:
        """Itself: a worker is given one segment at a time."""
        return self

    def beside(self) -> AbstractContextManager[None]:
        return self._local.beside()

    def _answers(self, orders: Iterable[_Order]) -> Iterator[tuple[Segment, Any]]:
        waiting: deque[_Order] = deque()
        try:
            for order in orders:
                self._give(order)
                waiting.append(order)
                if len(waiting) > AHEAD * max(self.working, 1):
                    yield self._first(waiting)
            while waiting:
                yield self._first(waiting)
        finally:
            for order in waiting:  # the caller has had enough
                self._take_back(order)

    def _first(self, waiting: deque[_Order]) -> tuple[Segment, Any]:
        """The answer to the first order; what was given to a lost worker is given to others."""
        lost = self._ray.exceptions
        while True:
            order = waiting[0]
            try:
                answer = self._ray.get(order.answer)
            except lost.RayTaskError as error:  # it has failed, and would do so again
                raise error.cause from None
            except lost.RayError as error:
                if order.attempts >= ATTEMPTS:
                    raise StreamcorefError(
                        f"segment {order.segment.number} of a text was lost with {ATTEMPTS} workers of the cluster, "
                        f"the last time because: {_first_line(error)}; have the workers memory enough?"
                    ) from error
                actor = order.actor
                self._miss(actor)
                for other in waiting:
                    if other.actor is actor:
                        self._take_back(other)
                        self._give(other)
            else:
                waiting.popleft()
                self._take_back(order)
                return order.segment, answer

    def _give(self, order: _Order) -> None:
        worker = self._idlest()
        with self._lock:
            worker.busy += 1
        order.worker, order.actor, order.attempts = worker, worker.actor, order.attempts + 1
        order.answer = getattr(order.actor, order.method).remote(on_the_way(order.segment), *order.more)

    def _take_back(self, order: _Order) -> None:
        with self._lock:
            if order.worker is not None:
                order.worker.busy -= 1
        order.worker = order.actor = order.answer = None

    def _miss(self, actor: Any) -> None:
        """Another reader may have missed it already."""
        with self._lock:
            for worker in self._workers:
                if worker.actor is actor:
                    self._started(worker)

    def _started(self, worker: _Worker) -> _Worker:
        # Not by Ray's own restarts: calls would wait for an actor that may have no machine any more.
        worker.actor = self._actor.remote(*self._arguments)
        worker.starting = worker.actor.ready.remote()
        return worker

    def _idlest(self) -> _Worker:
        """The worker with the least to do, as soon as there is any."""
        until = time.monotonic() + PATIENCE
        while True:
            self._greet()
            working = [worker for worker in self._workers if worker.starting is None]
            if working:
                return min(working, key=lambda worker: worker.busy)
            if not self._workers:
                assert self._fault is not None
                raise self._fault
            if time.monotonic() > until:
                raise StreamcorefError(
                    f"no worker has started on the cluster for {PATIENCE:.0f} seconds; "
                    "has it CPUs, or GPUs, that are free?"
                )
            starting = [worker.starting for worker in self._workers if worker.starting is not None]
            self._ray.wait(starting, timeout=_ASK_SECONDS)
            time.sleep(_ASK_SECONDS / 10)  # a worker that starts again may answer at once that it is not there

    def _greet(self) -> None:
        """Note which workers have answered."""
        with self._lock:
            asked = {worker.starting: worker for worker in self._workers if worker.starting is not None}
            if not asked:
                return
            answered, _ = self._ray.wait(list(asked), num_returns=len(asked), timeout=0)
            for answer in answered:
                worker = asked[answer]
                try:
                    self._ray.get(answer)
                    worker.starting = None
                except self._ray.exceptions.RayError as error:
                    if getattr(error, "actor_init_failed", False):  # for good: its model cannot be loaded
                        self._workers.remove(worker)
                        self._fault = StreamcorefError(f"a worker of the cluster cannot start: {_last_line(error)}")
                    else:
                        self._started(worker)


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0]


def _last_line(error: BaseException) -> str:
    """Of a traceback in a message: what was wrong."""
    return str(error).strip().splitlines()[-1]


def load(
    model: str | Path | None = None,
    *,
    address: str | None = None,
    workers: int | None = None,
    gpus: float = 0.0,
    revision: str | None = None,
) -> Resolver:
    """A resolver as `streamcoref.load` gives, whose segments are encoded by the workers of a Ray cluster.

    Linking is done here, in order, and the answer is the same, event for event. `workers` are actors of one CPU each,
    and of so many `gpus`; without a number there are as many as the cluster has CPUs, but for one, which links. They
    live as long as the resolver. `address` is Ray's; see `ray.init`.
    """
    check_workers(workers)
    ray = connect(address)
    return on_cluster(load_here(model, revision=revision), ray, workers, gpus)


def on_cluster(resolver: Resolver, ray: Any, workers: int | None = None, gpus: float = 0.0) -> Resolver:
    """The same resolver with workers elsewhere."""
    service = ClusterService(resolver, ray, workers or max(cpus(ray) - 1, 1), gpus)
    return Resolver(resolver.checkpoint, resolver.folder, service)
