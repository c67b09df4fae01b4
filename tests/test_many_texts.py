"""Many texts: short ones share passes of the encoder, and every answer is that of `resolve`, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from streamcoref.errors import StreamcorefError
from streamcoref.model.encoder_service import Encode
from streamcoref.model.segments import Segment
from streamcoref.resolver import Resolver, load
from tests import test_two_passes
from tests.model import toys
from tests.toy_resolver import int8_resolver, make_baseline, nasty_texts, plain_text, resolver

OPTIONS: list[dict[str, Any]] = [{"singletons": True}, {"min_score": 0.3, "genre": "novel"}]
# Few lengths, so that many are equal; among them nothing, one word, and texts of several segments.
LENGTHS = (0, 1, 1, 4, 4, 4, 7, 7, 9, 9, 9, 9, 60, 200)
VARIED: list[Any] = [
    *(plain_text(seed, LENGTHS[seed % len(LENGTHS)]) for seed in range(60)),
    "",
    " \n ",
    {"turns": [("Anna", "I saw the ship."), ("Carl", "You saw her?")], "key": "a chat"},
    {"turns": [("Carl", "I saw the ship."), ("Anna", "You saw him?")]},
    {"words": [["he", "left"]], "speakers": "Anna"},
    {"words": [["she", "left"]], "speakers": "Carl"},
]


class Noted:
    """An encoder, and the lengths of the segments of each of its passes."""

    def __init__(self, encode: Encode) -> None:
        self.encode, self.passes = encode, list[list[int]]()

    def __call__(self, segments: Sequence[Segment]) -> list[Tensor]:
        self.passes.append([len(segment) for segment in segments])
        return self.encode(segments)


def noted(one: Resolver, threads: int = 1) -> tuple[Resolver, Noted]:
    model = one.checkpoint.model
    seen = Noted(model.encoder)
    return Resolver(one.checkpoint, Path("nowhere"), model.service(threads, encode=seen)), seen


def one_by_one(one: Resolver, texts: Sequence[Any], **options: Any) -> list[Any]:
    arguments = [{"text": text} if isinstance(text, str) else text for text in texts]
    return [one.resolve(**{"key": f"text-{i}", **given}, **options) for i, given in enumerate(arguments)]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_answers_are_those_of_one_by_one(threads: int, options: dict[str, Any]) -> None:
    many, seen = noted(resolver(), threads)
    found = list(many.resolve_many(VARIED, **options))
    assert found == one_by_one(resolver(), VARIED, **options)
    scores = [document.scores for document in found]
    assert scores == [document.scores for document in one_by_one(resolver(), VARIED, **options)]
    assert any(scores)
    shared = [lengths for lengths in seen.passes if len(lengths) > 1]
    assert max(map(len, shared)) >= 4
    assert all(len(set(lengths)) == 1 for lengths in shared)  # nothing is padded


@settings(max_examples=15)
@given(st.lists(nasty_texts | st.sampled_from(["", "Anna", "he saw her ."]), max_size=12), st.integers(1, 12))
def test_whatever_the_texts_and_however_many_ahead(texts: list[str], ahead: int) -> None:
    found = list(resolver().resolve_many(texts, ahead=ahead, singletons=True))
    assert found == one_by_one(resolver(), texts, singletons=True)


@pytest.mark.usefixtures("needs_int8")
def test_in_8_bit_integers() -> None:
    assert list(int8_resolver().resolve_many(VARIED)) == one_by_one(int8_resolver(), VARIED)


def test_texts_that_are_read_twice() -> None:
    one = test_two_passes.resolver()
    options = {"passes": 2, "singletons": True, **test_two_passes.BOTH}
    assert list(one.resolve_many(VARIED[:20], **options)) == one_by_one(one, VARIED[:20], **options)


def test_of_a_whole_document_model() -> None:
    one = make_baseline()
    assert list(one.resolve_many(VARIED)) == one_by_one(one, VARIED)


@pytest.mark.parametrize("threads", [1, 2])
def test_where_sharing_would_round_differently_nothing_is_shared(threads: int) -> None:
    """As small products do on some machines: the first pass of a shape is compared, and its kind not used again."""
    one = resolver()
    model = one.checkpoint.model
    together: list[int] = []

    def rounding(segments: Sequence[Segment]) -> list[Tensor]:
        vectors = model.encoder(segments)
        if len(segments) == 1:
            return vectors
        together.append(len(segments))
        return [*vectors[:-1], torch.nextafter(vectors[-1], torch.ones(()))]  # only the last one

    many = Resolver(one.checkpoint, Path("nowhere"), model.service(threads, encode=rounding))
    texts = [plain_text(seed, 6) for seed in range(40)]
    expected = one_by_one(one, texts, singletons=True)
    assert list(many.resolve_many(texts, singletons=True)) == expected
    shapes = len(together)
    assert shapes > 0
    assert list(many.resolve_many(texts, singletons=True)) == expected
    assert len(together) == shapes


def test_a_long_text_is_held_alone() -> None:
    """What is held does not grow with the texts: nothing is taken after a long one."""
    taken = 0

    def texts() -> Iterator[str]:
        nonlocal taken
        for seed in range(9):
            taken += 1
            yield plain_text(seed, 200 if seed % 3 == 2 else 5)

    documents = resolver().resolve_many(texts())
    for number in range(9):
        next(documents)
        assert taken == 3 * (number // 3) + 3


def test_texts_before_a_fault_are_answered_first() -> None:
    def texts() -> Iterator[Any]:
        yield from ("Anna saw him.", "Carl saw her.")
        raise OSError("the line is dead")

    documents = resolver().resolve_many(texts())
    assert [next(documents).key, next(documents).key] == ["text-0", "text-1"]
    with pytest.raises(OSError, match="the line is dead"):
        next(documents)
    mixed = resolver().resolve_many(["Anna saw him.", 3, "Carl saw her."])  # type: ignore[list-item]
    assert next(mixed).key == "text-0"
    with pytest.raises(StreamcorefError, match=r"text 1 \(counted from 0\): a text is a str or a mapping"):
        next(mixed)


@pytest.mark.model
@pytest.mark.slow
def test_messages_of_a_chat_by_the_bundled_model() -> None:
    who, did, what = ("Anna", "my brother", "the doctor"), ("called", "wrote to"), ("her", "him", "the keys", "it")
    more = ("", " again", ". He told me so himself", ". Can you ask her?")
    messages = [f"{a} {b} {c}{d}" for a in who for b in did for c in what for d in more]
    messages += ["Hi", "no", "", " ".join(toys.document(1, 500).words)]
    model = load(threads=1)
    assert list(model.resolve_many(messages)) == one_by_one(model, messages)
