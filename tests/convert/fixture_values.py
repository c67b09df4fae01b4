"""The variables of the fixtures: true names, tiny sizes, and values that anybody can compute again.

Used by the scripts that made the fixtures and by the tests that read them.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

Variables = dict[str, npt.NDArray[np.float32]]

HIDDEN, LAYERS, HEADS, INTERMEDIATE, POSITIONS, WIDTHS, FEATURE, FFNN, ALPHA = 8, 2, 2, 16, 48, 6, 4, 12, 10
SPAN = 3 * HIDDEN + FEATURE
PAIR = 3 * SPAN + 4 * FEATURE
GENRES = ("bc", "bn", "mz", "nw", "pt", "tc", "wb")

WORDS = "Anna Berta Carl Doyle the a old ship captain letter he she it him her saw met left gave and but . , un".split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, "##seen", "##s", "##tain"]

BERT_CONFIG = {
    "attention_probs_dropout_prob": 0.1,
    "directionality": "bidi",
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": HIDDEN,
    "initializer_range": 0.02,
    "intermediate_size": INTERMEDIATE,
    "max_position_embeddings": POSITIONS,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "type_vocab_size": 2,
    "vocab_size": len(VOCABULARY),
}


def values(name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Random numbers of a size that makes scores differ clearly; the same for the same name."""
    random = np.random.RandomState(zlib.crc32(name.encode()))
    if name.endswith("gamma"):
        return (1 + random.uniform(-0.3, 0.3, shape)).astype(np.float32)
    # Pairs of such vectors score about 5; less that, spans both join and start entities.
    middle = -5 if name == "coref_layer/slow_antecedent_scores/output_bias" else 0
    return (middle + random.uniform(-0.6, 0.6, shape)).astype(np.float32)


def ffnn(scope: str, size: int) -> dict[str, tuple[int, ...]]:
    return {
        f"{scope}/hidden_weights_0": (size, FFNN),
        f"{scope}/hidden_bias_0": (FFNN,),
        f"{scope}/output_weights": (FFNN, 1),
        f"{scope}/output_bias": (1,),
    }


def bert_shapes() -> dict[str, tuple[int, ...]]:
    def dense(scope: str, rows: int, columns: int) -> dict[str, tuple[int, ...]]:
        return {f"{scope}/kernel": (rows, columns), f"{scope}/bias": (columns,)}

    def norm(scope: str) -> dict[str, tuple[int, ...]]:
        return {f"{scope}/LayerNorm/beta": (HIDDEN,), f"{scope}/LayerNorm/gamma": (HIDDEN,)}

    shapes = {
        "bert/embeddings/word_embeddings": (len(VOCABULARY), HIDDEN),
        "bert/embeddings/position_embeddings": (POSITIONS, HIDDEN),
        "bert/embeddings/token_type_embeddings": (2, HIDDEN),
        **norm("bert/embeddings"),
        **dense("bert/pooler/dense", HIDDEN, HIDDEN),
    }
    for number in range(LAYERS):
        layer = f"bert/encoder/layer_{number}"
        for part in ("query", "key", "value"):
            shapes |= dense(f"{layer}/attention/self/{part}", HIDDEN, HIDDEN)
        shapes |= dense(f"{layer}/attention/output/dense", HIDDEN, HIDDEN) | norm(f"{layer}/attention/output")
        shapes |= dense(f"{layer}/intermediate/dense", HIDDEN, INTERMEDIATE)
        shapes |= dense(f"{layer}/output/dense", INTERMEDIATE, HIDDEN) | norm(f"{layer}/output")
    return shapes


def scorer_shapes() -> dict[str, tuple[int, ...]]:
    """What the baseline and the incremental model share."""
    return {
        "genre_embeddings": (len(GENRES), FEATURE),
        "span_width_embeddings": (WIDTHS, FEATURE),
        "span_width_prior_embeddings": (WIDTHS, FEATURE),
        "mention_word_attn/output_weights": (HIDDEN, 1),
        "mention_word_attn/output_bias": (1,),
        **ffnn("mention_scores", SPAN),
        **ffnn("width_scores", FEATURE),
        "coref_layer/same_speaker_emb": (2, FEATURE),
        "coref_layer/antecedent_distance_emb": (10, FEATURE),
        "coref_layer/segment_distance/segment_distance_embeddings": (3, FEATURE),
        **ffnn("coref_layer/slow_antecedent_scores", PAIR),
    }


def baseline_only_shapes() -> dict[str, tuple[int, ...]]:
    return {
        "src_projection/output_weights": (SPAN, SPAN),
        "src_projection/output_bias": (SPAN,),
        "antecedent_distance_emb": (10, FEATURE),
        "output_weights": (FEATURE, 1),
        "output_bias": (1,),
        "coref_layer/f/output_weights": (2 * SPAN, SPAN),
        "coref_layer/f/output_bias": (SPAN,),
    }


def baseline_variables() -> Variables:
    shapes = bert_shapes() | scorer_shapes() | baseline_only_shapes()
    return {name: values(name, shape) for name, shape in shapes.items()}
