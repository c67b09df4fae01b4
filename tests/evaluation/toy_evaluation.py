"""Random checkpoints and documents with gold clusters, for tests of evaluation."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from streamcoref.document import Document
from streamcoref.model.checkpoint import Checkpoint
from tests.model import toys
from tests.model.test_exactness import COARSE_TO_FINE

SCHEMES = ["plain", "litbank"]


# Seeds whose models start and join entities, and answer with some singletons.
SEEDS = {"incremental": 12, "baseline": 7}


def checkpoint(kind: str = "incremental", **changes: Any) -> Checkpoint:
    """Of either kind; the incremental one follows its scheme, and both can tell singletons."""
    values: dict[str, Any] = {"kind": kind, "schemes": SCHEMES, "singletons": True}
    if kind == "baseline":
        values["pair_score"] = COARSE_TO_FINE
    else:
        values["pair_score"] = {"name": "feed_forward", "hidden": 32, "features": ["distance", "scheme"]}
    config = toys.config(**(values | changes))
    return Checkpoint(toys.model(config, SEEDS[kind]), config, toys.tokenizer())


def document(seed: int, words: int, singletons: int = 0, **changes: Any) -> Document:
    """Gold clusters of two to five short mentions each, about one a ten words, and `singletons` more of one."""
    plain = toys.document(seed, words)
    choose = random.Random(seed)
    spans = [(i, i + width) for i in range(words - 2) for width in (1, 2)]
    choose.shuffle(spans)
    sizes = [choose.randint(2, 5) for _ in range(max(1, words // 10))] + [1] * singletons
    clusters = tuple(tuple(spans.pop() for _ in range(size)) for size in sizes)
    return replace(plain, clusters=clusters, **changes)
