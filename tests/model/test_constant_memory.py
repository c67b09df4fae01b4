"""Constant memory: after 1,000 segments a stream holds what it held after 50."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import pytest
import torch

from streamcoref.language import NARRATOR, Voices
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.reading import SegmentResult
from streamcoref.model.segments import Segment, make_segment
from streamcoref.model.text_context import TextContext
from streamcoref.model.words import Word
from tests.model import toys

EARLY, LATE = 50, 1000  # segments
MAX_PIECES = 24
RATIO = 0.3  # spans kept per piece
BUDGET = 60

# The allocator also counts plain numbers, and Python makes an object of a number only above 256: those that a segment
# carries cost some blocks more later in a text. To keep one number a segment would cost hundreds.
FEW_BLOCKS = 100


@pytest.fixture(autouse=True)
def _only_the_stream() -> Iterator[None]:
    """What was there before a test, such as the modules that a model imports when it is built, is not counted.

    One thread: on a busy machine, two are many times slower for products this small.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    toys.model(toys.config(), 0)
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
    torch.set_num_threads(threads)


class Live(NamedTuple):
    """What a test holds."""

    tensors: int
    tensor_bytes: int  # of their storages: a view counts as all that it keeps alive
    objects: int  # that the garbage collector tracks
    blocks: int  # of Python's allocator: also the numbers, strings and arrays that the collector does not track


def live() -> Live:
    gc.collect()
    tensors = [x for x in gc.get_objects() if issubclass(type(x), torch.Tensor)]
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    counts = len(tensors), sum(storages.values())
    del tensors, storages
    # Attribute look-ups leave up to 4,096 names in the interpreter's cache: not ours, and they fill up slowly.
    getattr(sys, "_clear_internal_caches", sys._clear_type_cache)()
    gc.collect()
    # Objects come last: to ask a tensor for its storage makes an object that stays with the tensor.
    return Live(*counts, len(gc.get_objects()), sys.getallocatedblocks())


def endless_segments(seed: int) -> Iterator[Segment]:
    """Random sentences for ever, made one segment at a time and forgotten; a segment's end may cut a sentence.

    Segments differ in length, but every EARLY-th has the same words, so that counts taken there can be equal.
    """
    tokenizer = toys.tokenizer()
    pieces_of = dict(zip(toys.WORDS, tokenizer(toys.WORDS), strict=True))
    choose = random.Random(seed)
    first_word = position = sentence = number = 0
    opens = True
    while True:
        number += 1
        text = random.Random(seed) if number % EARLY == 0 else choose
        limit = text.randint(8, MAX_PIECES - 2)
        words: list[Word] = []
        while limit >= len(pieces_of[word := text.choice(toys.WORDS)]):
            limit -= len(pieces_of[word])
            ends = text.random() < 0.15
            words.append(Word(word, sentence, opens, ends))
            sentence += ends
            opens = ends
        pieces = [pieces_of[word.text] for word in words]
        tracks = {Voices.name: (NARRATOR,) * len(words)}
        segment = make_segment(tokenizer, words, pieces, first_word, position, number - 1, tracks=tracks)
        first_word, position = first_word + len(words), segment.end
        yield segment


class Stream:
    """A random model that reads endless text and of it keeps nothing but a few sums."""

    def __init__(
        self, evict: dict[str, Any], pair_score: dict[str, Any] | None = None, reads_text: bool = False, seed: int = 0
    ):
        spans, segments = {"ratio": RATIO}, {"max_pieces": MAX_PIECES}
        config = toys.config(spans=spans, segments=segments, evict=evict, pair_score=pair_score or {})
        model = toys.model(config, seed)
        assert isinstance(model, IncrementalModel)
        model.pair_score.uses_text = reads_text
        self.model = model
        self.state = model.new_state()
        self.memory = self.state.memory
        self.reading = model.reading(evict=config.evict.build())
        self.results = self.read_on()
        self.read = self.joined = self.evicted = self.peak = 0

    def read_on(self) -> Iterator[SegmentResult]:
        encoder = self.model.service()
        for spans in encoder.spans_in_order(endless_segments(0), self.reading.scheme):
            yield self.model.step(self.state, spans, self.reading)

    @torch.inference_mode()
    def read_until(self, segments: int) -> None:
        for result in islice(self.results, segments - self.read):
            self.joined += sum(not link.is_new for link in result.links)
            self.evicted += len(result.evicted)
            assert result.alive is not None
            self.peak = max(self.peak, result.alive)
        self.read = segments


COARSE_TO_FINE = {
    "name": "coarse_to_fine",
    "hidden": 16,
    "shortlist": 4,
    "features": ["distance", "size", "exact_match", "last_word_match", "agreement"],
    "feature_size": 4,
}
STREAMS: dict[str, dict[str, Any]] = {
    "budget": {"evict": {"name": "none", "budget": BUDGET}},
    "distances and budget": {
        "evict": {"name": "two_distances", "singleton": 900, "cluster": 1800, "budget": BUDGET},
        "pair_score": COARSE_TO_FINE,
        "seed": 6,  # of weights that start entities enough to fill the budget
    },
}


@pytest.mark.parametrize(("case", "late_segments"), [("budget", LATE), ("distances and budget", 350)])
def test_a_stream_holds_late_what_it_held_early(case: str, late_segments: int) -> None:
    """The stream is looked at while it waits for its next segment, with all that it holds then."""
    stream = Stream(**STREAMS[case])
    early = live()  # counted twice, so that both counts below find one count already there
    stream.read_until(EARLY)
    assert len(stream.memory) == BUDGET  # full at both times: what is compared is not a matter of how much was found
    early, early_bytes = live(), stream.memory.nbytes
    stream.read_until(late_segments)
    late, late_bytes = live(), stream.memory.nbytes

    assert late[:3] == early[:3]
    assert abs(late.blocks - early.blocks) <= FEW_BLOCKS
    assert late_bytes == early_bytes
    assert len(stream.memory) == BUDGET
    assert min(stream.joined, stream.evicted) > late_segments  # and a lot happened in between


def test_the_papers_distances_bound_the_memory() -> None:
    """Nothing older than `cluster` pieces stays, and a piece brings at most RATIO entities."""
    cluster = 400
    stream = Stream({"name": "two_distances", "singleton": 200, "cluster": cluster})
    place = stream.memory.nbytes // len(stream.memory.rows)
    stream.read_until(200)
    assert stream.evicted > 200
    assert 50 < stream.peak <= RATIO * (cluster + 2 * MAX_PIECES)
    spans = int(RATIO * MAX_PIECES)  # room is made for a whole segment before it is read
    assert len(stream.memory.rows) <= 2 * (stream.peak + spans)
    assert stream.memory.nbytes == place * len(stream.memory.rows)


def test_texts_leave_with_their_entities() -> None:
    """A scorer that reads text makes entities remember some of theirs: the latest few, and only while they live."""
    stream = Stream({"name": "none", "budget": 20}, reads_text=True)
    stream.read_until(100)
    remembered = [len(texts) for texts in stream.memory.texts]
    assert len(remembered) == len(stream.memory) == 20
    contexts = stream.model.pair_score.contexts
    assert remembered == [min(size, contexts) for size in stream.memory.sizes.tolist()]
    assert stream.memory.sizes.max() > contexts
    gc.collect()
    assert sum(type(x) is TextContext for x in gc.get_objects()) == sum(remembered)
