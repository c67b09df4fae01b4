"""Progress bars: shown by notebooks without any widgets, by terminals, and by nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

import pytest

import streamcoref
from streamcoref import ReadingProgress
from tests import toy_resolver

CELL = """
import streamcoref
from streamcoref import Document, ReadingProgress
with streamcoref.progress_bar("a <novel>") as show:
    for part in range(1, 1001):
        show(ReadingProgress(part, 1000, 2 * part, 7))
"""


def test_where_nobody_looks_nothing_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with streamcoref.progress_bar("text") as show:
        document = toy_resolver.resolver().resolve(toy_resolver.plain_text(1, 200), on_progress=show)
    assert document.entities
    assert capfd.readouterr() == ("", "")


def test_on_a_terminal_it_is_the_bar_of_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "150")
    with streamcoref.progress_bar("text") as show:
        show(ReadingProgress(500, 1000, 90, 7))
    shown = capsys.readouterr().err
    assert "90 words" in shown
    assert re.search(r"50\s*%", shown)


def test_it_imports_no_notebook() -> None:
    code = "import streamcoref, sys\nwith streamcoref.progress_bar(): pass\nprint('IPython' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"


FAILING = """
try:
    with streamcoref.progress_bar() as show:
        show(ReadingProgress(1, 4, 1, 1))
        raise ValueError
except ValueError:
    pass
"""


@pytest.mark.slow
def test_in_a_notebook_it_is_one_output_that_changes() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: pip install 'streamcoref[dev]'")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install 'streamcoref[dev]'")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install 'streamcoref[dev]'")
    document = "Document('d', ('Anna', 'saw', 'her'), (3,), (((0, 1), (2, 3)),))"
    nothing_to_do = "with streamcoref.progress_bar('again'): pass"
    cells = [nbformat.v4.new_code_cell(textwrap.dedent(code)) for code in (CELL, document, nothing_to_do, FAILING)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (bar,) = notebook.cells[0].outputs
    html = bar["data"]["text/html"]
    assert '<progress value="1" max="1">' in html, "the last picture is not the whole"
    assert "a &lt;novel&gt;" in html
    assert "2,000 words · 7 entities alive" in html
    assert '<progress value="1" max="1">' in notebook.cells[2].outputs[0]["data"]["text/html"]
    assert '<progress value="1" max="4">' in notebook.cells[3].outputs[0]["data"]["text/html"]
    (shown,) = notebook.cells[1].outputs
    assert shown["data"]["text/html"].count('title="Anna"') == 3
