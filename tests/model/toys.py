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
from streamcoref.model.agreement import SPAN_TRAITS
from streamcoref.model.config import Model, ModelConfig, build_model, parse_config, preset
from streamcoref.model.segments import SPECIAL, IntArray, PieceTokenizer, Segment
from streamcoref.model.voices import NARRATOR

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


def model(config: ModelConfig, seed: int, spread: float = 6.0) -> Model:
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
                words=(f"word{number}",),
                voices=(NARRATOR,),
                first_word=number,
                position=sum(lengths[:number]),
            )
        )
    return result


def note(
    start: int = 0, end: int | None = None, form: int = 1, last_word: int = 1, score: float = 0.0
) -> tuple[int, int, IntArray, IntArray, float]:
    """What the memory is told of a mention besides its row: `memory.add(row, *note(...))`."""
    return (
        start,
        start if end is None else end,
        np.array([form, last_word]),
        np.zeros(SPAN_TRAITS, dtype=np.int64),
        score,
    )
