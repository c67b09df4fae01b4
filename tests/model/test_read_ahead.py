"""Encoding ahead in threads changes nothing but the time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import torch

from streamcoref.evaluation.tensor_memory import peak_tensor_bytes
from streamcoref.evaluation.watch import watch
from streamcoref.model.encoder import Encoder
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.read_ahead import ReadAhead
from streamcoref.model.segments import Segment, segment_document
from tests.model import toys


@pytest.fixture(params=[1, 2, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.fixture
def model() -> IncrementalModel:
    model = toys.model(toys.config(), 0)
    assert isinstance(model, IncrementalModel)
    return model


def text(words: int = 300) -> list[Segment]:
    return segment_document(toys.document(0, words), toys.tokenizer(), 24)


@pytest.mark.parametrize("batch", [1, 3])
@torch.inference_mode()
def test_every_segment_comes_in_order_with_its_own_vectors(model: IncrementalModel, threads: int, batch: int) -> None:
    segments = text()
    assert len(segments) > 3 * threads
    found = list(ReadAhead(model.encoder, segments, batch))
    assert [segment for segment, _ in found] == segments
    for segment, vectors in found:
        torch.testing.assert_close(vectors, model.encoder([segment])[0], atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("threads")
def test_links_do_not_depend_on_threads(model: IncrementalModel) -> None:
    segments = text()
    found = list(model.find_clusters(segments, model.new_state()))
    torch.set_num_threads(1)
    assert found == list(model.find_clusters(segments, model.new_state()))


def test_no_more_is_held_than_a_segment_a_thread_and_one(model: IncrementalModel, threads: int) -> None:
    taken = 0

    def source() -> Iterator[Segment]:
        nonlocal taken
        for segment in text(600):
            taken += 1
            yield segment

    for number, _ in enumerate(model.find_clusters(source(), model.new_state()), 1):
        assert taken <= number + (threads if threads > 1 else 0)


def test_threads_are_as_before_whenever_the_caller_is_asked(model: IncrementalModel, threads: int) -> None:
    results = model.find_clusters(text(), model.new_state())
    for _, _ in zip(range(3), results, strict=False):
        assert torch.get_num_threads() == threads
    results.close()
    assert torch.get_num_threads() == threads


@pytest.mark.usefixtures("threads")
def test_a_mistake_of_the_encoder_reaches_the_caller(model: IncrementalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    segments = text()
    forward = Encoder.forward

    def fails(self: Encoder, group: list[Segment]) -> list[torch.Tensor]:
        if group[0] is segments[4]:
            raise RuntimeError("out of memory")
        return forward(self, group)

    monkeypatch.setattr(Encoder, "forward", fails)
    results = model.find_clusters(segments, model.new_state())
    for _ in range(4):
        next(results)
    with pytest.raises(RuntimeError, match="out of memory"):
        next(results)


@pytest.mark.usefixtures("threads")
def test_memory_is_measured_whoever_encodes(model: IncrementalModel) -> None:
    segments = text()

    def peak() -> int:
        with peak_tensor_bytes() as seen:
            for _ in model.find_clusters(segments, model.new_state()):
                pass
        return seen.bytes

    found = peak()
    torch.set_num_threads(1)
    assert found == peak()


@pytest.mark.usefixtures("threads")
def test_time_and_pieces_are_watched_whoever_encodes(model: IncrementalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    segments = text()
    forward = Encoder.forward

    def slow(self: Encoder, group: list[Segment]) -> list[torch.Tensor]:
        time.sleep(0.01)
        return forward(self, group)

    monkeypatch.setattr(Encoder, "forward", slow)
    began = time.perf_counter()
    with watch(model) as seen:
        list(model.find_clusters(segments, model.new_state()))
    assert seen.pieces == sum(len(segment) - 2 for segment in segments)
    assert seen.encoder_seconds >= 0.01
    assert seen.other_seconds >= 0
    assert seen.encoder_seconds + seen.other_seconds <= time.perf_counter() - began
