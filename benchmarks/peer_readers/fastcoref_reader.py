"""fastcoref's F-coref as a reader of `benchmarks/peers.py`: python fastcoref_reader.py JOB.

The encoder has the sizes of the job's, the head those that fastcoref trains by default, but with fewer spans; all
weights are random. It is called as its users call it, with words, so that splitting text is no part of it.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path

from measuring import Job, measure, say

# `top_lambda`, spans a piece, is 0.4 by default: fewer cost less, so that this is to its advantage.
HEAD = {"max_segment_len": 512, "max_span_length": 30, "top_lambda": 0.25, "ffnn_size": 1024, "dropout_prob": 0.3}


def make_model(job: Job) -> Path:
    """A folder as the hub would have it."""
    from fastcoref.coref_models.modeling_fcoref import FCorefModel
    from transformers import AutoConfig

    folder = Path(job.scratch) / "fastcoref"
    folder.mkdir()
    shutil.copy(Path(job.model) / "tokenizer.json", folder)
    names = json.loads((Path(job.model) / "tokenizer_config.json").read_text(encoding="utf-8"))
    kept = {name: value for name, value in names.items() if name.endswith("_token")}
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", **kept}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({**job.architecture, "coref_head": HEAD}), encoding="utf-8")
    FCorefModel(AutoConfig.from_pretrained(folder)).save_pretrained(folder)
    return folder


def main() -> None:
    warnings.simplefilter("ignore")
    job = Job.given()
    os.environ["HF_DATASETS_CACHE"] = str(Path(job.scratch) / "datasets")
    import datasets
    import torch
    from fastcoref import FCoref

    logging.disable(logging.WARNING)
    datasets.disable_progress_bars()
    datasets.disable_caching()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = FCoref(str(make_model(job)), device="cpu", nlp=None, enable_progress_bar=False)
    say(ready=True)

    def read(words: Sequence[str], _ends: Sequence[int]) -> int:
        found = model.predict([list(words)], is_split_into_words=True)
        return len(found[0].clusters)

    measure(job, read)


if __name__ == "__main__":
    main()
