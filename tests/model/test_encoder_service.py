"""Encoding ahead, in threads and for many at once, changes nothing but the time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
import torch
from torch import Tensor

import streamcoref
from streamcoref.evaluation.tensor_memory import peak_tensor_bytes
from streamcoref.evaluation.watching import Watched, WatchedEncoder
from streamcoref.model.encoder_service import WORTH_DIVIDING, Encode
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.reading import SegmentResult
from streamcoref.model.segments import Segment
from tests.model import toys

CPU = torch.device("cpu")


@pytest.fixture(params=[1, 2, 3])
def threads(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


@pytest.fixture
def model() -> IncrementalModel:
    model = toys.model(toys.config(), 0)
    assert isinstance(model, IncrementalModel)
    return model


def text(words: int = 300, seed: int = 0) -> list[Segment]:
    return toys.cut(toys.document(seed, words), 24)


def links(results: list[SegmentResult]) -> list[object]:
    return [result.links for result in results]


@pytest.mark.parametrize("batch", [1, 3])
@torch.inference_mode()
def test_every_segment_comes_in_order_with_its_own_vectors(model: IncrementalModel, threads: int, batch: int) -> None:
    segments = text()
    assert len(segments) > 3 * threads
    found = list(model.service(threads, batch).in_order(segments))
    assert [segment for segment, _ in found] == segments
    for segment, vectors in found:
        torch.testing.assert_close(vectors, model.encoder([segment])[0], atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_without_batches_vectors_are_the_same_to_the_last_bit(model: IncrementalModel, threads: int) -> None:
    alone = [model.encoder([segment])[0] for segment in text()]
    ahead = [vectors for _, vectors in model.service(threads).in_order(text())]
    assert all(torch.equal(a, b) for a, b in zip(alone, ahead, strict=True))


def test_links_do_not_depend_on_threads(model: IncrementalModel, threads: int) -> None:
    found = list(model.read(text(), model.reading(), model.service(threads)))
    assert links(found) == links(list(model.read(text(), model.reading(), model.service(1))))


def test_many_readers_at_once_get_what_each_gets_alone(model: IncrementalModel, threads: int) -> None:
    """Texts of all lengths share one service, and nobody's answer depends on who else is there."""
    texts = [text(words, seed) for seed, words in enumerate([300, 20, 150, 5, 400, 60, 10, 200])]
    alone = [links(list(model.read(t, model.reading(), model.service(1)))) for t in texts]
    service, reading = model.service(threads), model.reading()
    together: list[list[object]] = [[] for _ in texts]
    begin = threading.Barrier(len(texts))

    def read(number: int) -> None:
        begin.wait()
        together[number] = links(list(model.read(texts[number], reading, service)))

    readers = [threading.Thread(target=read, args=(number,)) for number in range(len(texts))]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert together == alone


def test_its_threads_live_as_long_as_it_does(model: IncrementalModel) -> None:
    """No pool is started for a text or a chunk: the same few threads encode all of them."""
    seen: set[int] = set()

    def encode(segments: Sequence[Segment]) -> list[Tensor]:
        seen.add(threading.get_ident())
        return model.encoder(segments)

    service = model.service(2, encode=encode)
    for _ in range(5):
        list(service.in_order(text()))
    assert len(seen) <= 2
    assert threading.get_ident() not in seen


def test_a_segment_that_is_alone_is_encoded_where_it_is_asked_for(model: IncrementalModel) -> None:
    """With all threads of the service, if it is long enough to gain by it: there is nothing else for them to do."""
    seen: list[tuple[int, int]] = []

    def encode(segments: Sequence[Segment]) -> list[Tensor]:
        seen.append((threading.get_ident(), torch.get_num_threads()))
        return model.encoder(segments)

    service = model.service(2, encode=encode)
    short, long = text(12), toys.cut(toys.document(0, 300), WORTH_DIVIDING + 16)[:1]
    assert len(short) == 1
    assert len(short[0]) < WORTH_DIVIDING <= len(long[0])
    with service.beside():
        list(service.in_order(short))
        list(service.in_order(long))
    assert seen == [(threading.get_ident(), 1), (threading.get_ident(), 2)]


def test_a_thread_that_encodes_keeps_to_itself_whatever_others_set(model: IncrementalModel) -> None:
    """Sums are made in another order by two threads than by one."""
    seen: list[int] = []
    started, others = threading.Event(), threading.Event()

    def encode(segments: Sequence[Segment]) -> list[Tensor]:
        started.set()
        others.wait(60)
        vectors = model.encoder(segments)
        seen.append(torch.get_num_threads())
        return vectors

    def set_three() -> None:
        started.wait(60)  # a thread of the service runs, and has computed nothing yet
        torch.set_num_threads(3)
        others.set()

    somebody = threading.Thread(target=set_three)
    somebody.start()
    list(model.service(2, encode=encode).in_order(text()))
    somebody.join()
    torch.set_num_threads(torch.get_num_threads())  # for the threads of other tests
    assert set(seen) == {1}


@pytest.mark.model
@torch.inference_mode()
def test_dividing_a_segment_among_threads_changes_no_bit() -> None:
    """Or an answer would depend on who else was there, and on how a text was cut into chunks."""
    model = streamcoref.load().checkpoint.model
    numbers = torch.arange(384).numpy()
    for pieces in range(WORTH_DIVIDING, 384, 31):
        segment = Segment(numbers[:pieces] * 61 + 1000, numbers[:pieces], numbers[:pieces] * 0, (), 0, 0)
        [(_, divided)] = model.service(2).in_order([segment])
        [(_, whole)] = model.service(1).in_order([segment])
        assert torch.equal(divided, whole), pieces


def test_no_more_is_held_than_a_segment_a_thread_and_one(model: IncrementalModel, threads: int) -> None:
    taken = 0

    def source() -> Iterator[Segment]:
        nonlocal taken
        for segment in text(600):
            taken += 1
            yield segment

    service = model.service(threads)
    for number, _ in enumerate(service.in_order(source()), 1):
        assert taken <= number + (threads if threads > 1 else 0)


def test_the_callers_own_work_has_one_thread_while_others_encode(model: IncrementalModel, threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        service = model.service(encode=lambda segments: [torch.zeros(len(s), 4) for s in segments])
        with service.beside():
            assert torch.get_num_threads() == 1
            list(service.in_order(text()))
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def failing(encode: Encode, bad: Segment) -> Encode:
    def fails(group: Sequence[Segment]) -> list[Tensor]:
        if group[0] is bad:
            raise RuntimeError("out of memory")
        return encode(group)

    return fails


def test_a_mistake_of_the_encoder_reaches_the_caller_and_nobody_else(model: IncrementalModel, threads: int) -> None:
    segments = text()
    service = model.service(threads, encode=failing(model.encoder, segments[4]))
    results = service.in_order(segments)
    for _ in range(4):
        next(results)
    with pytest.raises(RuntimeError, match="out of memory"):
        next(results)
    assert len(list(service.in_order(text()))) == len(segments)


def measured(threads: int, model: IncrementalModel) -> int:
    with peak_tensor_bytes() as seen:
        for _ in model.read(text(), model.reading(), model.service(threads)):
            pass
    return seen.bytes


def test_memory_is_measured_in_one_thread(model: IncrementalModel) -> None:
    assert measured(1, model) == measured(1, model) > 0


def slow(encode: Encode, wait: Callable[[], None]) -> Encode:
    def encoded(group: Sequence[Segment]) -> list[Tensor]:
        wait()
        return encode(group)

    return encoded


def test_time_and_pieces_are_watched_whoever_encodes(model: IncrementalModel, threads: int) -> None:
    segments = text()
    pause = threading.Event()
    watched = WatchedEncoder(slow(model.encoder, lambda: pause.wait(0.002) and None), CPU)
    list(model.service(threads, encode=watched).in_order(segments))
    assert watched.seen.pieces == sum(len(segment) - 2 for segment in segments)
    # Each segment takes at least so long, and no more of them are at work at once than there are threads.
    assert watched.seen.encoder_seconds >= 0.002 * len(segments) / threads
    watched.seen = Watched()
    assert watched.seen.encoder_seconds == 0
