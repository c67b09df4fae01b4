"""The model: Algorithm 1 in `incremental.py`, its parts in a file each, and the whole-document `baseline/`.

The names here are those that parts of one's own are written with; see `docs/extending.md`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamcoref.model.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
    from streamcoref.model.config import ModelConfig, build_model, parse_config, preset
    from streamcoref.model.evict import EvictionOptions, EvictionPolicy
    from streamcoref.model.features import FeatureOptions, PairFeature
    from streamcoref.model.mention_score import MentionScorer, MentionScorerOptions, MentionScores
    from streamcoref.model.notes import Notes
    from streamcoref.model.pair_score import FeatureTables, Pairs, PairScorer, PairScorerOptions
    from streamcoref.model.pair_score.query import QueryScorerOptions
    from streamcoref.model.parts import Surroundings, load_code
    from streamcoref.model.text_context import Question, TextContext
    from streamcoref.model.update import UpdateOptions, UpdateRule

__all__ = [
    "Checkpoint",
    "EvictionOptions",
    "EvictionPolicy",
    "FeatureOptions",
    "FeatureTables",
    "MentionScorer",
    "MentionScorerOptions",
    "MentionScores",
    "ModelConfig",
    "Notes",
    "PairFeature",
    "PairScorer",
    "PairScorerOptions",
    "Pairs",
    "QueryScorerOptions",
    "Question",
    "Surroundings",
    "TextContext",
    "UpdateOptions",
    "UpdateRule",
    "build_model",
    "load_checkpoint",
    "load_code",
    "parse_config",
    "preset",
    "save_checkpoint",
]

# Nearly all of these import torch, which takes seconds: not before somebody wants them.
_LAZY = {
    "checkpoint": ("Checkpoint", "load_checkpoint", "save_checkpoint"),
    "config": ("ModelConfig", "build_model", "parse_config", "preset"),
    "evict": ("EvictionOptions", "EvictionPolicy"),
    "features": ("FeatureOptions", "PairFeature"),
    "mention_score": ("MentionScorer", "MentionScorerOptions", "MentionScores"),
    "notes": ("Notes",),
    "pair_score": ("FeatureTables", "PairScorer", "PairScorerOptions", "Pairs"),
    "pair_score.query": ("QueryScorerOptions",),
    "parts": ("Surroundings", "load_code"),
    "text_context": ("Question", "TextContext"),
    "update": ("UpdateOptions", "UpdateRule"),
}
_MODULE_OF = {name: module for module, names in _LAZY.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
