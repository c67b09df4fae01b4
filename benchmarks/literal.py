"""The literal Algorithm 1 over ours, outside the encoder.

    python benchmarks/literal.py [--novel FILE] [--stacked-segments 3] [--rounds 5]

The preset `paper-spanbert-base` with random weights, the encoder's vectors given.
`literal_over_fast`: the literal version of the tests (tests/model/literal.py: one candidate, one span, one entity at a
time) over ours. `stacked_over_fast`: the same with the batches of the paper's code: all candidates in one product of
their concatenated vectors, and for each span all entities stacked. Here the multiplications set the limit: per pair,
the concatenated input has three times the width of the product that is left to us. The bias of the pair score is set so
that about every second span starts an entity. All versions must agree on every link. Ours is run before and after each
run of the other, and the ratio is to the mean of the two.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from statistics import median

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import Tensor
from transformers import PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from streamcoref.language import Voices, lexicon  # noqa: E402
from streamcoref.model.config import ModelConfig, build_model, preset  # noqa: E402
from streamcoref.model.incremental import IncrementalModel  # noqa: E402
from streamcoref.model.reading import SegmentResult  # noqa: E402
from streamcoref.model.segments import Segment, Segmenter  # noqa: E402
from streamcoref.model.tokenizer import PieceTokenizer  # noqa: E402
from streamcoref.text.split import document_from_text  # noqa: E402
from tests.model.literal import LiteralEntity, LiteralModel, bucket  # noqa: E402

SHARED = Path(os.environ.get("STREAMCOREF_SHARED", ROOT.parent / "shared"))
NOVEL = SHARED / "corpora" / "novels" / "1342_pride_and_prejudice.txt"


def make_tokenizer(text: str) -> PieceTokenizer:
    """WordPiece trained on the novel, so that nothing need be downloaded."""
    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    backend.train_from_iterator([text], trainers.WordPieceTrainer(vocab_size=8000, special_tokens=special))
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "cls", "sep", "pad", "mask")}
    return PieceTokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, **names))


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
    version: type[LiteralModel], text: str, tokenizer: PieceTokenizer, count: int, threads: int, rounds: int
) -> tuple[list[float], int]:
    """Ratios, one a round, and how many entities are alive at the end."""
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
    service, reading = model.service(), model.reading(evict=config.evict.build())

    def ours() -> tuple[float, list[SegmentResult]]:
        start = time.perf_counter()
        results = list(model.read(segments, reading, service))
        return time.perf_counter() - start, results

    ratios = []
    before, results = ours()
    links = [(link.span, link.entity) for result in results for link in result.links]
    for _ in range(rounds):
        start = time.perf_counter()
        literal, _ = version(model, config).find_clusters(segments)
        theirs = time.perf_counter() - start
        after, _ = ours()
        ratios.append(2 * theirs / (before + after))
        before = after
        if links != [(link.span, link.entity) for link in literal]:
            raise SystemExit("the literal version and ours disagree")
    return ratios, (results[-1].alive or 0) - len(results[-1].evicted)


def balance(model: IncrementalModel, segments: list[Segment]) -> None:
    """Shift the pair score so that about every second span of the first segment starts an entity."""
    encoded = model.encoder([segments[0]])[0]
    spans = model.spans(encoded, segments[0])
    low, high = -5.0, 5.0
    for _ in range(12):
        middle = (low + high) / 2
        model.pair_score.net.output.bias.fill_(middle)
        links = model.step(model.new_state(), spans, model.reading()).links
        if sum(link.is_new for link in links) > len(links) / 2:
            low = middle
        else:
            high = middle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--novel", type=Path, default=NOVEL)
    parser.add_argument("--stacked-segments", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    text = options.novel.read_text(encoding="utf-8")
    tokenizer = make_tokenizer(text)
    figures: dict[str, object] = {}
    for name, version, count in (("literal", LiteralModel, 1), ("stacked", StackedLiteral, options.stacked_segments)):
        ratios, alive = literal_over_fast(version, text, tokenizer, count, 2, options.rounds)
        figures[f"{name}_over_fast"] = round(median(ratios), 2)
        figures[f"{name}_over_fast_spread"] = [round(min(ratios), 2), round(max(ratios), 2)]
        figures[f"{name}_entities"] = alive
        spread = f"({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"paper-spanbert-base: {name} / ours, outside the encoder {median(ratios):8.2f} {spread}", flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
