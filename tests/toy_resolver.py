"""A resolver with a small random model, and texts that are hard to read."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

from hypothesis import strategies as st

from streamcoref.events import EntityFinished, EntityStarted, Event, MentionLinked
from streamcoref.model.checkpoint import Checkpoint, save_checkpoint
from streamcoref.model.precision import use_precision
from streamcoref.resolver import Resolver
from tests.evaluation import toy_evaluation
from tests.model import toys
from tests.model.test_exactness import ALL_FEATURES

# Short segments, so that short texts have some, and eviction soon enough to happen in them.
CHANGES: dict[str, Any] = {
    "segments": {"max_pieces": 24},
    "spans": {"ratio": 0.4, "max_width": 5},
    "evict": {"name": "two_distances", "singleton": 30, "cluster": 60},
    "genres": ["unknown", "novel"],
}
TYPES = ("person", "place", "object", "animal")
SEED = 18  # of weights that start, join and evict, and find singletons of either sign


@cache
def resolver() -> Resolver:
    """One for all tests, which is allowed: nothing that it reads changes it. It was never on disk."""
    return make_resolver()


def make_resolver(**changes: Any) -> Resolver:
    _, config, tokenizer = toy_evaluation.checkpoint(**(CHANGES | changes))
    return Resolver(Checkpoint(toys.model(config, SEED), config, tokenizer), Path("nowhere"))


@cache
def int8_resolver() -> Resolver:
    """As `resolver`, in 8-bit integers. For tests that ask for the fixture `needs_int8`."""
    one = make_resolver()
    use_precision(one.checkpoint.model, "int8")
    return one


def make_baseline(**changes: Any) -> Resolver:
    return Resolver(toy_evaluation.checkpoint("baseline", **changes), Path("nowhere"))


@cache
def talking_resolver(kind: Literal["agreement", "identity"] = "identity", types: bool = False) -> Resolver:
    """As `resolver`, of a model that follows who speaks; with `identity` it counts names, too."""
    # The sizes are those whose random weights find several people, merge some, and let them speak.
    more, hidden = (["identity", "talk"], 24) if kind == "identity" else (["agreement"], 32)
    labels = {"labels": {"types": list(TYPES), "hidden": 16}} if types else {}
    pair_score = {"name": "feed_forward", "hidden": hidden, "features": [*ALL_FEATURES, *more]}
    return make_resolver(pair_score=pair_score, **labels)


@cache
def typed_resolver() -> Resolver:
    """As `resolver`, of a model that tells types."""
    # The size is one whose random weights answer with several types.
    return make_resolver(labels={"types": list(TYPES), "hidden": 16})


def save_model(folder: Path) -> Path:
    save_checkpoint(folder, resolver().checkpoint, "# A model of a test\n")
    return folder


def plain_text(seed: int, words: int) -> str:
    return " ".join(toys.document(seed, words).words)


def mentions(events: list[Event]) -> list[tuple[int, int, int]]:
    """Every mention that was reported, with its entity."""
    return [
        (event.entity, event.mention.word_start, event.mention.word_end)
        for event in events
        if isinstance(event, EntityStarted | MentionLinked)
    ]


def started(events: list[Event]) -> list[EntityStarted]:
    return [event for event in events if isinstance(event, EntityStarted)]


def linked(events: list[Event]) -> list[MentionLinked]:
    return [event for event in events if isinstance(event, MentionLinked)]


def finished(events: list[Event]) -> list[EntityFinished]:
    return [event for event in events if isinstance(event, EntityFinished)]


_NASTY = [
    *["\r\n", "\n\n", "\t", "  ", "\ufeff", "\u200b", "\u200d", "\x00", "\u2028", "\u0301", "\ud800"],
    *[
        "cafe\u0301",
        "👨\u200d👩\u200d👧",
        "👍🏽",
        "🇳🇿",
        "שָׁלוֹם",
        "\u200fمرحبا",
        "他来了。",
        "Mr. Lee",
        "Anna’s",
        "don't",
    ],
    *["https://x.org/a?b=1", "“No!”", "(he", "she)", "...", "U.S.", "No. 5", "x" * 130, " " * 70, "well--yes"],
]
# Words that the model knows, so that it finds something, with everything else among them.
nasty_texts = st.lists(
    st.sampled_from([f"{word} " for word in toys.WORDS])
    | st.sampled_from(_NASTY)
    | st.text(max_size=3)
    | st.sampled_from(["Anna saw the captain. He left her. ", "the old ship and its keeper, "]),
    min_size=5,
    max_size=60,
).map("".join)
