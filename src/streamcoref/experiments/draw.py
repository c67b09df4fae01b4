"""Plots as PNG (matplotlib) and as interactive pages (plotly): the extra `plots`."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from streamcoref.errors import StreamcorefError
from streamcoref.experiments.plot import Plot, Series
from streamcoref.formats.files import open_output

COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#003f5c")
GREY = "#c8c8c8"
# The same shapes for both libraries; after ten colours the next shape begins, so that 60 series differ.
SHAPES = (("o", "circle"), ("s", "square"), ("^", "triangle-up"), ("D", "diamond"), ("v", "triangle-down"), ("X", "x"))


def require_plots(*modules: str) -> None:
    """Say what to install, before any work is done."""
    missing = [name for name in ("matplotlib", "plotly", *modules) if find_spec(name) is None]
    if missing:
        raise StreamcorefError(
            f"experiments need {' and '.join(missing)} for their plots; run: pip install 'streamcoref[plots]'"
        )


def draw(plots: Iterable[Plot], folder: Path) -> list[Path]:
    """Write NAME.png and NAME.html of each plot; the files."""
    files = []
    for plot in plots:
        files += [draw_png(plot, folder / f"{plot.name}.png"), draw_html(plot, folder / f"{plot.name}.html")]
    return files


def draw_png(plot: Plot, path: Path) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), dpi=150, layout="constrained")
    axes: Any = figure.add_subplot()
    bars = [series for series in plot.series if series.kind == "bars"]
    for series in plot.series:
        if series.kind == "bars":
            _draw_bars(axes, series, bars.index(series), len(bars))
        else:
            _draw_points(axes, series)
    if plot.mark is not None:
        axes.axhline(plot.mark.y, color="black", linewidth=0.8, linestyle="--")
        place = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "top"}
        axes.annotate(_plain(plot.mark.name), (1, plot.mark.y), **place)
    axes.set_title(_plain(plot.title))
    axes.set_xlabel(_plain(plot.x))
    axes.set_ylabel(_plain(plot.y))
    if any(isinstance(value, str) and len(value) > 12 for series in plot.series for value in series.x):
        axes.tick_params(axis="x", labelrotation=30)
        for tick in axes.get_xticklabels():
            tick.set_horizontalalignment("right")
    if 1 < len(plot.series) <= 2 * len(COLOURS):  # a longer legend would hide the plot
        axes.legend(fontsize=8)
    temporary = path.with_suffix(".part")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a text in a script that the font lacks
        figure.savefig(temporary, format="png")
    temporary.replace(path)
    return path


def _draw_bars(axes: Any, series: Series, number: int, of: int) -> None:
    """Side by side with the bars of the other series at each name."""
    width = 0.8 / of
    places = [place + (number - (of - 1) / 2) * width for place in range(len(series.x))]
    axes.bar(places, series.y, width, color=look(series)[0], label=_plain(series.name))
    axes.set_xticks(range(len(series.x)), [_plain(str(name)) for name in series.x])


def _draw_points(axes: Any, series: Series) -> None:
    colour, shape, _ = look(series)
    label = _plain(series.name)
    x = [_plain(value) if isinstance(value, str) else value for value in series.x]
    if series.kind == "line":
        axes.plot(x, series.y, color=colour, label=label, marker=shape if _is_named(series.x) else None)
    else:
        axes.scatter(x, series.y, s=30, marker=shape, alpha=0.85, color=colour, label=label)
    if series.errors:
        axes.errorbar(x, series.y, yerr=series.errors, fmt="none", ecolor=colour, capsize=4)
    if series.labels:
        for text, *place in zip(series.labels, x, series.y, strict=True):
            axes.annotate(_plain(text), place, xytext=(4, 3), textcoords="offset points", fontsize=6, color="#333333")


def draw_html(plot: Plot, path: Path) -> Path:
    import plotly.graph_objects as go

    figure = go.Figure()
    for series in plot.series:
        figure.add_trace(_trace(go, series))
    if plot.mark is not None:
        figure.add_hline(plot.mark.y, line_dash="dash", line_width=1, annotation_text=html.escape(plot.mark.name))
    figure.update_layout(
        title=html.escape(plot.title),
        xaxis_title=html.escape(plot.x),
        yaxis_title=html.escape(plot.y),
        barmode="group",
        template="plotly_white",
    )
    with open_output(path, force=True) as stream:
        stream.write(figure.to_html(include_plotlyjs=True))  # the page works without a network
    return path


def _trace(go: Any, series: Series) -> Any:
    colour, _, shape = look(series)
    common = {"name": html.escape(series.name), "x": list(series.x), "y": list(series.y)}
    if series.hover:
        common |= {"hovertext": [html.escape(text) for text in series.hover], "hoverinfo": "text+name"}
    errors = {"type": "data", "array": list(series.errors)} if series.errors else None
    if series.kind == "bars":
        return go.Bar(**common, marker_color=colour, error_y=errors)
    mode = "markers" if series.kind == "points" else "lines+markers" if _is_named(series.x) else "lines"
    marker = {"symbol": shape, "size": 9, "color": colour}
    return go.Scatter(**common, mode=mode, marker=marker, line={"color": colour}, error_y=errors)


def _is_named(x: Sequence[float] | Sequence[str]) -> bool:
    return bool(x) and isinstance(x[0], str)


def look(series: Series) -> tuple[str, str, str]:
    """Colour, and shape in either library."""
    if series.colour is None:
        return GREY, *SHAPES[0]
    return COLOURS[series.colour % len(COLOURS)], *SHAPES[series.colour // len(COLOURS) % len(SHAPES)]


def _plain(text: str) -> str:
    """matplotlib would read formulas between dollar signs."""
    return text.replace("$", r"\$")
