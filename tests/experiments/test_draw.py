"""Plots in both forms, whatever texts they carry, and what is said where their libraries are missing."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from streamcoref.errors import StreamcorefError
from streamcoref.experiments import draw as drawing
from streamcoref.experiments.plot import Mark, Plot, Series

ODD = ["costs $5 or $6_", "<b>bold</b> & {x}", "漢字 \\frac", ""]


def test_odd_texts_are_only_texts(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    series = [
        Series("points $x^$ <i>", [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], hover=ODD, labels=ODD, colour=13),
        Series("line", [1.0, 4.0], [2.0, 3.0], "line", colour=None),
    ]
    names = Plot("names", "t", "x", "y", [Series("s", ["a", "b$"], [1.0, 2.0], "line", errors=[0.1, 0.2])])
    bars = Plot(
        "bars", "t", "x", "y", [Series(n, ["a", "b"], [1.0, 2.0], "bars", colour=i) for i, n in enumerate("pq")]
    )
    plots = [Plot("odd", "title $", "x", "y", series, Mark(2.5, "a mark $ <")), names, bars]
    files = drawing.draw(plots, tmp_path)
    assert [file.name for file in files] == [f"{p}.{e}" for p in ("odd", "names", "bars") for e in ("png", "html")]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    for file in files[::2]:
        assert file.read_bytes().startswith(b"\x89PNG")
    html = files[1].read_text(encoding="utf-8")
    assert "<b>bold</b>" not in html
    assert "a mark $" in html
    assert 'src="http' not in html  # it works without a network


def test_sixty_series_look_different() -> None:
    looks = {drawing.look(Series("s", [], [], colour=number)) for number in range(60)}
    assert len(looks) == 60
    assert drawing.look(Series("s", [], [], colour=None))[0] == drawing.GREY


def test_a_missing_extra_answers_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.util.find_spec

    def find(name: str) -> Any:
        return None if name in ("plotly", "openTSNE") else object() if name == "matplotlib" else known(name)

    monkeypatch.setattr(drawing, "find_spec", find)
    said = r"experiments need plotly and openTSNE for their plots; run: pip install 'streamcoref\[plots\]'"
    with pytest.raises(StreamcorefError, match=said):
        drawing.require_plots("openTSNE")
