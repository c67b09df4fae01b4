"""How much time everything takes over the encoder alone, and the literal Algorithm 1 over ours.

    python benchmarks/speed.py [--novel FILE] [--segments 40] [--stacked-segments 3]

`total_over_encoder_N_threads`: the bundled model on a novel, from raw text (splitting into sentences and words,
pieces, segments) to links, over its encoder alone on the same segments.

`literal_over_fast`: the preset `paper-spanbert-base` with random weights, time outside the encoder, the literal
version of the tests (tests/model/literal.py: one candidate, one span, one entity at a time) over ours.
`stacked_over_fast`: the same with the batches of the paper's code: all candidates in one product of their
concatenated vectors, and for each span all entities stacked. Here the multiplications set the limit: per pair, the
concatenated input has three times the width of the product that is left to us. The bias of the pair score is set so
that about every second span starts an entity. All versions must agree on every link.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import Tensor
from transformers import PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from streamcoref.language import Voices, lexicon  # noqa: E402
from streamcoref.model.checkpoint import load_checkpoint  # noqa: E402
from streamcoref.model.config import ModelConfig, build_model, preset  # noqa: E402
from streamcoref.model.incremental import IncrementalModel  # noqa: E402
from streamcoref.model.segments import Segment, Segmenter  # noqa: E402
from streamcoref.model.tokenizer import PieceTokenizer  # noqa: E402
from streamcoref.text.split import document_from_text  # noqa: E402
from tests.model.literal import LiteralEntity, LiteralModel, bucket  # noqa: E402

NOVEL = ROOT.parent / "shared" / "corpora" / "novels" / "1342_pride_and_prejudice.txt"
BATCH = 4


def make_tokenizer(text: str) -> PieceTokenizer:
    """WordPiece trained on the novel, so that nothing need be downloaded."""
    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    backend.train_from_iterator([text], trainers.WordPieceTrainer(vocab_size=8000, special_tokens=special))
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "cls", "sep", "pad", "mask")}
    return PieceTokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, **names))


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


@torch.inference_mode()
def total_over_encoder(text: str, count: int, threads: int, rounds: int) -> dict[str, float]:
    torch.set_num_threads(threads)
    model, config, _ = checkpoint = load_checkpoint("default")
    service = model.service(batch=BATCH)
    excerpt = text[: count * config.segments.max_pieces * 5]  # more than enough: a piece has four characters or so
    document = document_from_text("novel", excerpt)
    segments = checkpoint.segmenter.cut(document)[:count]
    excerpt = excerpt[: document.offsets[segments[-1].first_word + len(segments[-1].words) - 1][1]]

    def encoder() -> None:
        for first in range(0, len(segments), BATCH):
            model.encoder(segments[first : first + BATCH])

    def everything() -> None:
        read = checkpoint.segmenter.cut(document_from_text("novel", excerpt))
        for _ in model.read(read, model.reading(evict=config.evict.build()), service):
            pass

    encoder(), everything()
    ratios = [timed(everything) / timed(encoder) for _ in range(rounds)]
    spans = sum(len(r.links) for r in model.read(segments, model.reading(evict=config.evict.build()), service))
    return {"ratio": statistics.median(ratios), "spans_per_segment": spans / len(segments), "segments": len(segments)}


class StackedLiteral(LiteralModel):
    """The literal version with the batches that the paper's code has: all candidates, all entities of one span."""

    def spans(self, pieces: Tensor, segment: Segment) -> list[tuple[int, int, Tensor, Tensor, Tensor]]:
        from streamcoref.model.candidates import enumerate_candidates

        options, scorer, vectors = self.config.spans, self.model.spans.scorer, self.model.spans.vectors
        candidates = enumerate_candidates(segment, options.max_width, options.word_boundaries)
        x = torch.cat([vectors(pieces, candidates[rows]) for rows in blocks(len(candidates), 1024)])
        widths = torch.from_numpy(candidates.ends - candidates.starts)
        scores = scorer.span(x) + scorer.width(scorer.width_prior(widths))
        rows = scores.topk(int(options.ratio * len(segment))).indices.sort().values
        return [(int(candidates.starts[i]), int(candidates.ends[i]), x[i], scores[i], scores[i]) for i in rows.tolist()]

    def pair_scores(
        self, start: int, end: int, x: Tensor, words: tuple[str, ...], entities: list[LiteralEntity]
    ) -> list[float]:
        if not entities:
            return []
        scorer = self.model.pair_score
        tables = scorer.features.tables
        stacked = torch.stack([e.vector for e in entities])
        distances = torch.tensor([bucket(int((start + end) / 2 - (e.start + e.end) / 2)) for e in entities])
        features = torch.cat(
            [
                torch.zeros(len(entities), 20),
                tables["genre"].weight[:1].expand(len(entities), -1),
                tables["distance"](distances),
                tables["segment"].weight[:1].expand(len(entities), -1),
            ],
            dim=1,
        )
        span = x.expand_as(stacked)
        scores: list[float] = scorer.net(torch.cat([span, stacked, span * stacked, features], dim=1)).tolist()
        return scores


def blocks(count: int, size: int) -> list[slice]:
    return [slice(first, first + size) for first in range(0, count, size)]


@torch.inference_mode()
def literal_over_fast(
    version: type[LiteralModel], text: str, tokenizer: PieceTokenizer, count: int, threads: int
) -> dict[str, float]:
    torch.manual_seed(1)
    torch.set_num_threads(threads)
    config: ModelConfig = preset("paper-spanbert-base")
    model = build_model(config).eval()
    assert isinstance(model, IncrementalModel)
    document = document_from_text("novel", text[: count * config.segments.max_pieces * 5])
    # The literal version follows who says what, though this model has no feature that asks.
    segmenter = Segmenter(tokenizer, config.segments, lambda: [Voices(lexicon(config.language.version))])
    segments = segmenter.cut(document)[:count]
    balance(model, segments)
    pieces = {id(segment): model.encoder([segment])[0] for segment in segments}
    model.encoder.forward = lambda batch: [pieces[id(segment)] for segment in batch]  # type: ignore[method-assign]

    service = model.service()
    start = time.perf_counter()
    results = list(model.read(segments, model.reading(evict=config.evict.build()), service))
    fast = time.perf_counter() - start
    ours = [link for result in results for link in result.links]
    start = time.perf_counter()
    literal, _ = version(model, config).find_clusters(segments)
    slow = time.perf_counter() - start
    if [(a.span, a.entity) for a in ours] != [(b.span, b.entity) for b in literal]:
        raise SystemExit("the literal version and ours disagree")
    alive = (results[-1].alive or 0) - len(results[-1].evicted)
    return {"ratio": slow / fast, "entities": alive, "spans": len(ours)}


def balance(model: IncrementalModel, segments: list[Segment]) -> None:
    """Shift the pair score so that about every second span of the first segment starts an entity."""
    encoded = model.encoder([segments[0]])[0]
    spans = model.spans(encoded, segments[0])
    low, high = -5.0, 5.0
    for _ in range(12):
        middle = (low + high) / 2
        model.pair_score.net.output.bias.fill_(middle)
        links = model.link(spans, model.new_state().memory, model.reading())
        if sum(link.is_new for link in links) > len(links) / 2:
            low = middle
        else:
            high = middle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--novel", type=Path, default=NOVEL)
    parser.add_argument("--segments", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--stacked-segments", type=int, default=3)
    options = parser.parse_args()
    text = options.novel.read_text(encoding="utf-8")
    tokenizer = make_tokenizer(text)
    figures: dict[str, float] = {}
    print(f"{'':44}{'ratio':>8}")
    for threads in (1, 2):
        result = total_over_encoder(text, options.segments, threads, options.rounds)
        name = f"total_over_encoder_{threads}_thread" + ("s" if threads > 1 else "")
        figures[name] = round(result["ratio"], 3)
        figures["spans_per_segment"] = round(result["spans_per_segment"], 1)
        print(f"default: everything / encoder, {threads} thread(s){result['ratio']:>14.3f}")
    figures["total_over_encoder"] = max(v for k, v in figures.items() if k.startswith("total_over_encoder"))
    for name, version, count in (("literal", LiteralModel, 1), ("stacked", StackedLiteral, options.stacked_segments)):
        result = literal_over_fast(version, text, tokenizer, count, 2)
        figures[f"{name}_over_fast"] = round(result["ratio"], 2)
        figures[f"{name}_entities"] = result["entities"]
        print(f"paper-spanbert-base: {name} / ours, outside the encoder{result['ratio']:>11.2f}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
