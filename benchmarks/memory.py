"""Memory over the length of a text: the incremental model, flat, and the whole-document baseline, growing.

    python benchmarks/memory.py                                   # the novels are looked for in ../shared
    python benchmarks/memory.py --figure docs/images/memory.png   # or in $STREAMCOREF_SHARED

Both models are the preset `small` with random weights and read the same novels, over and over, in segments of 64
pieces instead of 384, so that 5,000 of them take minutes. The incremental model is looked at between two segments,
with everything that it holds while it waits. The baseline is looked at while it scores its antecedents, once with
the published cap on the number of spans and once keeping the same share of spans as the incremental model does.
Each model runs in a process of its own.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import psutil  # type: ignore[import-untyped]
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from streamcoref.model.base import CorefModel
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.config import ModelConfig, build_model, parse_config, preset
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.pair_score import Pairs
from streamcoref.model.reading import SegmentResult
from streamcoref.model.segments import Segment, Segmenter
from streamcoref.model.tokenizer import PieceTokenizer
from streamcoref.model.words import document_words
from streamcoref.text import document_from_text

SHARED = Path(os.environ.get("STREAMCOREF_SHARED", Path(__file__).resolve().parents[2] / "shared"))
MAX_PIECES = 64
INCREMENTAL_SEGMENTS = (10, 100, 1000, 5000)
BASELINE_SEGMENTS = (10, 30, 100, 200, 300, 400, 500, 600, 800, 1000)
LIMIT = 4e9  # bytes of peak RSS after which the baseline is given no longer text
ALL_SPANS = 10**9
MB = 1e6


class Row(NamedTuple):
    """A model after some segments, in bytes."""

    model: str
    segments: int
    tensors: int  # all live tensors, the weights included
    entity_memory: int  # of those, and of the arrays beside them; 0 for a baseline, which has none
    entities: int  # alive, or for a baseline the spans kept
    rss: int  # now, for a baseline the peak so far


def tensor_bytes() -> int:
    """Of all storages that a live tensor holds on to."""
    gc.collect()
    tensors = [x for x in gc.get_objects() if issubclass(type(x), torch.Tensor)]
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


# Text


def chapters(novels: list[Path], characters: int = 20_000) -> Iterator[str]:
    """The novels for ever, some paragraphs at a time."""
    while True:
        for novel in novels:
            lines: list[str] = []
            with novel.open(encoding="utf-8") as file:
                for line in file:
                    lines.append(line)
                    if not line.strip() and sum(map(len, lines)) > characters:
                        yield "".join(lines)
                        lines = []
            yield "".join(lines)


def endless_segments(novels: list[Path], segmenter: Segmenter) -> Iterator[Segment]:
    """Segments of real text without end; no more than some paragraphs are held."""
    builder = segmenter.builder()
    sentences = 0
    for text in chapters(novels):
        document = document_from_text("chapter", text)
        yield from builder.add([w._replace(sentence=sentences + w.sentence) for w in document_words(document)])
        yield from builder.finish()
        sentences += len(document.sentence_ends)


def trained_tokenizer(novel: Path, vocabulary: int = 8000) -> PieceTokenizer:
    """Word pieces of a novel, so that nothing has to be downloaded."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=vocabulary, special_tokens=special, show_progress=False)
    backend.train([str(novel)], trainer)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    return PieceTokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, **names))


def small(**changes: Any) -> ModelConfig:
    """The preset `small` in short segments; spans are not dropped by a threshold that was never trained."""
    values = preset("small").model_dump(mode="json")
    values["segments"]["max_pieces"] = MAX_PIECES
    values["spans"]["min_score"] = None
    return parse_config({**values, **changes}, "benchmark")


# Measurements


def prepare(novels: list[Path], threads: int, config: ModelConfig) -> tuple[CorefModel, Iterator[Segment]]:
    torch.manual_seed(0)
    torch.set_num_threads(threads)
    checkpoint = Checkpoint(build_model(config).eval(), config, trained_tokenizer(novels[0]))
    return checkpoint.model, endless_segments(novels, checkpoint.segmenter)


@torch.inference_mode()
def measure_incremental(novels: list[Path], threads: int) -> list[Row]:
    config = small()
    model, segments = prepare(novels, threads, config)
    assert isinstance(model, IncrementalModel)
    state, reading = model.new_state(), model.reading(evict=config.evict.build())
    encoder = model.service()

    def read() -> Iterator[SegmentResult]:
        with encoder.beside():
            for spans in encoder.spans_in_order(segments, reading.scheme):
                yield model.step(state, spans, reading)

    results = read()
    rows: list[Row] = []
    for count in INCREMENTAL_SEGMENTS:
        for _ in islice(results, count - (rows[-1].segments if rows else 0)):
            pass
        rss = psutil.Process().memory_info().rss
        rows.append(Row("incremental", count, tensor_bytes(), state.memory.nbytes, len(state.memory), rss))
    return rows


@torch.inference_mode()
def measure_baseline(novels: list[Path], threads: int, name: str, max_spans: int) -> list[Row]:
    config = small(kind="baseline", higher_order={"depth": 2, "max_spans": max_spans})
    model, segments = prepare(novels, threads, config)
    assert isinstance(model, BaselineModel)
    live = 0
    refine = model.pair_score.refine

    def measured(pairs: Pairs, tables: Any) -> torch.Tensor:
        nonlocal live
        live = max(live, tensor_bytes())
        return refine(pairs, tables)

    model.pair_score.refine = measured  # type: ignore[method-assign]
    rows: list[Row] = []
    text: list[Segment] = []
    for count in BASELINE_SEGMENTS:
        text.extend(islice(segments, count - len(text)))
        spans, _ = model.resolve([model.encoder([segment])[0] for segment in text], text, model.reading())
        rows.append(Row(name, count, live, 0, len(spans.words), peak_rss()))
        if rows[-1].rss > LIMIT:
            break
    return rows


def peak_rss() -> int:
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # Linux counts in KB


def alone(function: Callable[..., list[Row]], *arguments: Any) -> list[Row]:
    """In a fresh process, so that no measurement sees the memory of another."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def allocator() -> str:
    """Fragmentation may look like a leak in RSS, so the settings that matter for it are part of the result."""
    settings = {k: v for k, v in os.environ.items() if k.startswith("MALLOC_") or k in ("LD_PRELOAD", "GLIBC_TUNABLES")}
    return ", ".join(f"{k}={v}" for k, v in settings.items()) or "malloc of the C library, default settings"


# Results


def growth(rows: list[Row], column: str) -> float:
    """From 100 segments to the last, relative."""
    early = next(row for row in rows if row.segments == 100)
    return float(getattr(rows[-1], column) / getattr(early, column) - 1)


def per_segment(rows: list[Row], column: str) -> float:
    return float((getattr(rows[-1], column) - getattr(rows[0], column)) / (rows[-1].segments - rows[0].segments))


def print_table(rows: list[Row]) -> None:
    print(f"{'model':26} {'segments':>8} {'live tensors':>13} {'entity memory':>14} {'entities':>9} {'RSS':>11}")
    for row in rows:
        memory = f"{row.entity_memory / MB:.2f} MB" if row.entity_memory else "-"
        print(
            f"{row.model:26} {row.segments:8,} {row.tensors / MB:10,.2f} MB {memory:>14} {row.entities:9,} "
            f"{row.rss / MB:8,.0f} MB"
        )


def draw(rows: list[Row], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharex=True, sharey=True)
    for axis, column, title in zip(axes, ("tensors", "rss"), ("live tensors", "process (RSS)"), strict=True):
        for model in dict.fromkeys(row.model for row in rows):
            mine = [row for row in rows if row.model == model]
            axis.plot([r.segments for r in mine], [getattr(r, column) / MB for r in mine], marker="o", label=model)
        axis.set(title=title, xlabel="segments of 64 pieces", xscale="log", yscale="log")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("MB, weights included")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory over the length of a text.")
    parser.add_argument("--figure", type=Path, help="draw the table into this file")
    parser.add_argument("--threads", type=int, default=1, help="threads of each model (default 1)")
    options = parser.parse_args()
    novels = sorted((SHARED / "corpora" / "novels").glob("*.txt"))
    if not novels:
        print(f"no novels in {SHARED / 'corpora' / 'novels'}: set STREAMCOREF_SHARED to the folder that has them")
        return
    began = time.perf_counter()
    stream = alone(measure_incremental, novels, options.threads)
    capped = alone(measure_baseline, novels, options.threads, "baseline, 3,900 spans", 3900)
    whole = alone(measure_baseline, novels, options.threads, "baseline, all its spans", ALL_SPANS)
    rows = [*stream, *capped, *whole]
    print_table(rows)
    print(f"allocator: {allocator()}; threads: {options.threads}; {time.perf_counter() - began:.0f} seconds")
    if options.figure:
        draw(rows, options.figure)
    figures = {
        "growth_after_100_segments": growth(stream, "tensors"),
        "entity_memory_growth_after_100_segments": growth(stream, "entity_memory"),
        "rss_growth_after_100_segments": growth(stream, "rss"),
        "baseline_growth_after_100_segments": growth(whole, "tensors"),
        "baseline_rss_growth_after_100_segments": growth(whole, "rss"),
        "baseline_segments": whole[-1].segments,
        "baseline_bytes_per_segment": round(per_segment(whole, "tensors")),
        "baseline_rss_bytes_per_segment": round(per_segment(whole, "rss")),
        "capped_baseline_bytes_per_segment": round(per_segment(capped, "tensors")),
        "capped_baseline_rss_bytes_per_segment": round(per_segment(capped, "rss")),
        "allocator": allocator(),
        "threads": options.threads,
        "rows": [row._asdict() for row in rows],
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
