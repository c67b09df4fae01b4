"""Reading ahead: the same vectors in the same order, and no further ahead than promised."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from streamcoref.model.encode_ahead import encode_ahead
from streamcoref.model.segments import Segment
from tests.model import toys


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def encoder() -> torch.nn.Module:
    return toys.model(toys.config(), 0).encoder


def counted(segments: list[Segment], read: list[int]) -> Iterator[Segment]:
    for number, segment in enumerate(segments):
        read.append(number)
        yield segment


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_every_segment_once_in_order_with_its_own_vectors(encoder: torch.nn.Module, size: int) -> None:
    segments = toys.segments([9, 30, 12, 30, 17, 21, 8])
    with torch.inference_mode():
        given = list(encode_ahead(encoder, segments, size))
        expected = [encoder([segment])[0] for segment in segments]
    assert [segment for segment, _ in given] == segments
    for (_, vectors), wanted in zip(given, expected, strict=True):
        torch.testing.assert_close(vectors, wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(("size", "ahead"), [(1, 1), (2, 4), (3, 6)])
def test_at_most_two_groups_are_read_ahead(encoder: torch.nn.Module, size: int, ahead: int) -> None:
    read: list[int] = []
    segments = counted(toys.segments([10] * 20), read)
    with torch.inference_mode():
        next(encode_ahead(encoder, segments, size))
    assert len(read) == ahead


@pytest.mark.usefixtures("two_threads")
def test_a_stream_left_in_the_middle_leaves_no_thread_behind(encoder: torch.nn.Module) -> None:
    with torch.inference_mode():
        stream = encode_ahead(encoder, toys.segments([10] * 20), 2)
        next(stream)
        stream.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("streamcoref-encoder")]


@pytest.mark.usefixtures("two_threads")
def test_an_error_of_the_encoder_reaches_the_caller(encoder: torch.nn.Module) -> None:
    too_long = toys.segments([200] * 4)  # the toy encoder has 128 positions
    with torch.inference_mode(), pytest.raises(Exception, match="128"):
        list(encode_ahead(encoder, too_long, 2))
