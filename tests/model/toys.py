"""Small random models, tokenizers and documents for tests: everything real, nothing trained, nothing downloaded."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from streamcoref.document import Document
from streamcoref.language.versions import LATEST, lexicon
from streamcoref.language.voices import NARRATOR, Voices
from streamcoref.model.base import CorefModel
from streamcoref.model.config import ModelConfig, build_model, parse_config, preset
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.notes import Array, Notes
from streamcoref.model.reading import SegmentResult
from streamcoref.model.segments import SPECIAL, Segment, Segmenter, SegmentOptions
from streamcoref.model.state import State
from streamcoref.model.tokenizer import PieceTokenizer
from streamcoref.model.words import Word

WORDS = (
    "Anna Berta Carl Doyle Emma Frank Anna's the a old young ship captain harbour letter garden he she it they him her "
    "his its saw met left found lost gave took asked and but when near under . , ; ! ? lighthouse keeper unbelievable"
).split()


# Words that agreement is about; the tokenizer spells what it does not know.
TALK = "Anna Berta Doyle Mr. Mrs. I you my your he she it they we the captain said . , “ ” “ ” “ ”".split()


def tokenizer() -> PieceTokenizer:
    """A WordPiece tokenizer of letters, some whole words and their pieces."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    characters = sorted({c for word in WORDS for c in word.lower()} | set("abcdefghijklmnopqrstuvwxyz'"))
    whole = [
        w.lower() for w in dict.fromkeys(WORDS) if len(w) > 1 and w not in ("lighthouse", "unbelievable", "captain")
    ]
    pieces = ["light", "##house", "un", "##believ", "##able", "cap", "##tain"]
    vocabulary += list(dict.fromkeys(characters + [f"##{c}" for c in characters] + whole + pieces))
    backend = Tokenizer(models.WordPiece({w: i for i, w in enumerate(vocabulary)}, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return PieceTokenizer(
        PreTrainedTokenizerFast(
            tokenizer_object=backend,
            unk_token="[UNK]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            pad_token="[PAD]",
            mask_token="[MASK]",
        )
    )


def document(seed: int, words: int, longest_sentence: int = 20, vocabulary: Sequence[str] = WORDS) -> Document:
    choose = random.Random(seed)
    sentences: list[list[str]] = []
    while words > 0:
        length = min(words, choose.randint(1, longest_sentence))
        sentences.append([choose.choice(vocabulary) for _ in range(length)])
        words -= length
    return Document.from_sentences(f"toy/{seed}", sentences)


def config(**changes: Any) -> ModelConfig:
    """The preset `tiny` with some of its tables replaced or, where both are tables, overlaid."""
    values = preset("tiny").model_dump(mode="json")
    for key, value in changes.items():
        named = isinstance(value, dict) and "name" in value
        values[key] = {**values[key], **value} if isinstance(value, dict) and not named else value
    return parse_config(values, "test")


def model(config: ModelConfig, seed: int, spread: float = 6.0) -> CorefModel:
    """Random weights, heads scaled up so that scores differ clearly and spans both join and start entities."""
    torch.manual_seed(seed)
    built = build_model(config).eval()
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if not name.startswith("encoder.") and name != "new_entity_score":
                parameter.mul_(spread) if parameter.dim() > 1 else parameter.uniform_(-0.1, 0.1)
    return built


def segments(lengths: Sequence[int], seed: int = 0, vocabulary: int = 100) -> list[Segment]:
    """Segments of one text with the given numbers of pieces (special ones counted), one word and one sentence each.

    The pieces are random, but none of the first ten, which tokenizers use for padding and the like.
    """
    choose = np.random.default_rng(seed)
    result: list[Segment] = []
    for number, length in enumerate(lengths):
        result.append(
            Segment(
                piece_ids=choose.integers(10, vocabulary, length),
                word_of_piece=np.array([SPECIAL, *[number] * (length - 2), SPECIAL]),
                sentence_of_piece=np.full(length, number),
                words=(Word(f"word{number}", number, opens=True, ends=True),),
                tracks={Voices.name: (NARRATOR,)},
                number=number,
                first_word=number,
                position=sum(lengths[:number]),
            )
        )
    return result


def cut(document: Document, max_pieces: int, max_sentences: int | None = None) -> list[Segment]:
    """A document's segments, with all that any pair feature may want to know of their words."""
    options = SegmentOptions(max_pieces=max_pieces, max_sentences=max_sentences)
    return Segmenter(tokenizer(), options, lambda: [Voices(lexicon(LATEST))]).cut(document)


@torch.inference_mode()
def read(
    model: CorefModel,
    config: ModelConfig,
    segments: Sequence[Segment],
    state: State | None = None,
    batch: int = 1,
    scheme: str | None = None,
) -> list[SegmentResult]:
    """What a model makes of segments, from the beginning of a text or on from a state, evicting as its config says."""
    reading = model.reading(scheme=scheme, evict=config.evict.build())
    if state is None:
        return list(model.read(segments, reading, model.service(batch=batch)))
    assert isinstance(model, IncrementalModel)
    proposed = model.service(1).spans_in_order(segments, reading.scheme)
    return [model.step(state, spans, reading) for spans in proposed]


def note(start: int = 0, end: int | None = None, score: float = 0.0, **columns: Any) -> tuple[Notes, int]:
    """What the memory is told of a mention besides its row: `memory.add(row, *note(...))`."""
    place = start + (start if end is None else end)
    values: dict[str, Array] = {name: np.array([value]) for name, value in columns.items()}
    return Notes({"start": np.array([start]), "place": np.array([place]), "score": np.array([score]), **values}), 0
