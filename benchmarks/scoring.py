"""Time all metrics on the 7 CRAFT development documents, next to a small encoder reading the same text.

    .venv/bin/python benchmarks/scoring.py

The corpus is looked for in ../shared, or in $STREAMCOREF_SHARED. The last line is one JSON object;
`scoring_over_encoder` must be below 0.02.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from streamcoref.document import Clusters, Document
from streamcoref.formats import read_documents
from streamcoref.metrics import Scores, score_documents

SHARED = Path(os.environ.get("STREAMCOREF_SHARED", Path(__file__).resolve().parents[2] / "shared"))
CRAFT = SHARED / "corpora/craft/dev.jsonl"
LIMIT = 0.02
SEGMENT, BATCH, THREADS = 512, 8, 2
TIMED_BATCHES = 3


def main() -> None:
    if not CRAFT.is_file():
        print(f"skipped: no file {CRAFT}; set STREAMCOREF_SHARED to the folder that has corpora/craft")
        return
    documents = list(read_documents(CRAFT))
    words = sum(len(document.words) for document in documents)
    rng = random.Random(13)
    pairs = [(document.clusters, perturbed(document, rng)) for document in documents]
    scoring, scores = time_scoring(pairs)
    encoder, segments = time_encoder(words)
    ratio = scoring / encoder
    show(documents, words, segments, scores, scoring, encoder)
    print(
        json.dumps(
            {
                "documents": len(documents),
                "words": words,
                "scoring_seconds": round(scoring, 4),
                "encoder_seconds": round(encoder, 2),
                "scoring_over_encoder": round(ratio, 5),
            }
        )
    )
    if ratio >= LIMIT:
        sys.exit(f"scoring takes {ratio:.1%} of the encoder's time; the limit is {LIMIT:.0%}")


def perturbed(document: Document, rng: random.Random) -> Clusters:
    """Gold clusters with the mistakes of a system of about 70 F1, so that the overlap graph is a real one."""
    length = len(document.words)
    clusters: list[list[tuple[int, int]]] = []
    for gold in document.clusters:
        kept: list[tuple[int, int]] = []
        for start, end in gold:
            chance = rng.random()
            if chance < 0.12:  # missed
                continue
            if chance < 0.20:  # with a wrong boundary
                start, end = (start, end + 1) if end < length else (start - 1, end)
            kept.append((start, end))
        chance = rng.random()
        if chance < 0.15 and len(kept) > 3:  # split
            rng.shuffle(kept)
            cut = rng.randrange(1, len(kept))
            clusters += [kept[:cut], kept[cut:]]
        elif chance < 0.25 and clusters:  # merged with another
            rng.choice(clusters).extend(kept)
        else:
            clusters.append(kept)
    for _ in range(len(document.clusters) // 10):  # invented
        starts = rng.sample(range(length), 3)
        clusters.append([(start, start + 1) for start in starts])
    # a mention is in one cluster only, as in every system's output
    return Document(document.key, document.words, document.sentence_ends, clusters=tuple(map(tuple, clusters))).clusters


def time_scoring(pairs: list[tuple[Clusters, Clusters]]) -> tuple[float, Scores]:
    """Median seconds of five runs over all documents; scipy is loaded before, as torch is for the encoder."""
    scores = score_documents(pairs)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        score_documents(pairs)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), scores


def time_encoder(pieces: int) -> tuple[float, int]:
    """Seconds for a 6-layer encoder over `pieces` word pieces, scaled up from a sample of full batches.

    A word is at least one piece; taking it as exactly one makes the encoder look faster than it is, never slower.
    """
    import torch
    from transformers import BertConfig, BertModel

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        attn_implementation="sdpa",
    )
    model = BertModel(config, add_pooling_layer=False).eval()
    segments = -(-pieces // SEGMENT)
    seconds = []
    with torch.inference_mode():
        for _ in range(1 + TIMED_BATCHES):
            batch = torch.randint(config.vocab_size, (BATCH, SEGMENT))
            start = time.perf_counter()
            model(batch)
            seconds.append(time.perf_counter() - start)
    # the first batch warms up and is not counted
    return statistics.median(seconds[1:]) / BATCH * segments, segments


def show(documents: list[Document], words: int, segments: int, scores: Scores, scoring: float, encoder: float) -> None:
    table = Table(title=f"{len(documents)} CRAFT documents, {words:,} words")
    table.add_column("what")
    table.add_column("seconds", justify="right")
    table.add_column("of the encoder", justify="right")
    mentions = f"{scores.key_mentions:,} against {scores.response_mentions:,} mentions"
    table.add_row(
        f"all metrics, {mentions}, CoNLL {100 * scores.conll_f1:.1f}", f"{scoring:.3f}", f"{scoring / encoder:.2%}"
    )
    table.add_row(f"encoder 6 x 384, {segments} segments of {SEGMENT} pieces", f"{encoder:.2f}", "100%")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
