"""The example of docs/metrics.md runs and means what it says."""

from __future__ import annotations

import re
from pathlib import Path

from streamcoref.metrics import Scores


def test_the_example_runs() -> None:
    page = (Path(__file__).parents[2] / "docs/metrics.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, object] = {}
    exec(example, names)
    scores = names["scores"]
    assert isinstance(scores, Scores)
    assert scores.muc.recall == 0.5
