"""Models of ours as readers of `benchmarks/peers.py`: python ours.py JOB incremental|whole_document."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from measuring import Job, measure, say

import streamcoref
from streamcoref.document import Document
from streamcoref.model.checkpoint import Checkpoint, load_checkpoint
from streamcoref.model.config import build_model, parse_config

SPANS_A_WORD = 0.2  # that the bundled model keeps by a threshold, which random weights have not learnt
ALL_SPANS = 10**9  # no cap: every mention of the text is to be found


def whole_document(job: Job) -> Checkpoint:
    """The whole-document model with the sizes of the bundled one, and random weights."""
    _, config, tokenizer = load_checkpoint(job.model)
    values = config.model_dump(mode="json")
    values["kind"] = "baseline"
    values["higher_order"]["max_spans"] = ALL_SPANS
    values["spans"].update(min_score=None, ratio=SPANS_A_WORD, ratio_of="words")
    ours = parse_config(values, "benchmark")
    torch.manual_seed(0)
    return Checkpoint(build_model(ours, tokenizer=tokenizer).eval(), ours, tokenizer)


def main() -> None:
    job, name = Job.given(), sys.argv[2]
    torch.set_num_threads(1)
    checkpoint = load_checkpoint(job.model) if name == "incremental" else whole_document(job)
    resolver = streamcoref.Resolver(checkpoint, Path(job.model))
    say(ready=True)

    def read(words: Sequence[str], ends: Sequence[int]) -> int:
        document = Document(key="text", words=tuple(words), sentence_ends=tuple(ends))
        return len(resolver.resolve(document=document).entities)

    measure(job, read)


if __name__ == "__main__":
    main()
