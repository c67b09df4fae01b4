"""What `streamcoref.model` offers to those who write parts of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

import streamcoref.model

NAMES = [
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


def test_the_names() -> None:
    assert sorted(streamcoref.model.__all__) == NAMES
    for name in NAMES:
        assert getattr(streamcoref.model, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = streamcoref.model.nothing


def test_the_import_is_light() -> None:
    code = "import streamcoref.model, sys; print(*{'torch', 'transformers', 'numpy', 'pydantic'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
