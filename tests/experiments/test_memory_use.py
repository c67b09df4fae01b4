"""`memory`: tensors of known size, lines of known slope, and the paper's picture in small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.evaluation import EvaluationCorpus
from streamcoref.evaluation.tensor_memory import peak_tensor_bytes
from streamcoref.experiments.evaluating import evaluate_cell, evaluation_of
from streamcoref.experiments.memory_use import fitted_line
from streamcoref.experiments.options import RunChoice
from streamcoref.formats import write_documents
from streamcoref.model.checkpoint import BUNDLED, Checkpoint
from tests.evaluation import toy_evaluation as toy
from tests.experiments import toy_experiments as toys
from tests.experiments.toy_experiments import table


@given(st.integers(-500, 5000), st.integers(0, 10**6), st.sets(st.integers(1, 20_000), min_size=2, max_size=20))
def test_a_line_is_found_exactly(slope: int, start: int, pieces: set[int]) -> None:
    x = sorted(pieces)
    line = fitted_line(x, [slope * p + start for p in x])
    assert line is not None
    assert line.slope == pytest.approx(slope, abs=1e-5)
    assert line.start == pytest.approx(start, rel=1e-6, abs=0.1)
    assert line.fit == pytest.approx(1.0, abs=1e-6)


def test_no_line_without_two_lengths() -> None:
    assert fitted_line([], []) is None
    assert fitted_line([7, 7], [1, 2]) is None
    line = fitted_line([0, 0, 2, 2], [0, 2, 4, 6])
    assert line is not None
    assert line == pytest.approx((2.0, 1.0, 1 - 4 / 20))


def test_a_tensor_of_known_size_shows_in_the_peak_of_a_cell() -> None:
    """A model that holds a million bytes more while it reads is measured as exactly that much larger."""
    checkpoint = toy.checkpoint()
    corpus = EvaluationCorpus("one", [toy.document(1, 20)])

    def peak(checkpoint: Checkpoint) -> int:
        values = evaluate_cell(checkpoint, corpus, RunChoice(), lambda _done, _of: None, memory=True)
        assert values["device"] == "cpu"
        (document,) = evaluation_of(values).documents
        assert document.peak_bytes is not None
        return document.peak_bytes

    before = peak(checkpoint)
    held: list[torch.Tensor] = []
    hook = checkpoint.model.encoder.register_forward_pre_hook(
        lambda *_: held.append(torch.zeros(1_000_000, dtype=torch.uint8))
    )
    assert peak(checkpoint) == before + 1_000_000
    assert len(held) == 1  # one segment
    hook.remove()
    with peak_tensor_bytes() as seen:
        torch.zeros(250_000)
    assert seen.bytes == 1_000_000


def config(folder: Path) -> dict[str, Any]:
    own = str(folder / "incremental")
    return {
        "models": [
            {"name": "baseline", "path": str(folder / "baseline"), "paper": "JS-L"},
            {"name": "short", "path": own, "segment_length": 16, "paper": "ours"},
            {"name": "long", "path": own, "segment_length": 64, "paper": "ours"},
            {"name": "random", "preset": "tiny", "tokenizer": str(BUNDLED)},  # 30,522 pieces, the preset 400
        ],
        "corpora": [{"name": "plain", "path": str(folder / "lengths.jsonl")}],
    }


@pytest.mark.slow
def test_the_baseline_grows_with_the_text_and_the_incremental_model_does_not(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    toys.models(tmp_path)
    write_documents([toy.document(n, 100 * n) for n in (2, 4, 8)], tmp_path / "lengths.jsonl", "jsonlines")
    toys.run("memory", config(tmp_path), tmp_path)
    page = (tmp_path / "out/memory.md").read_text(encoding="utf-8")
    assert "Measured on the CPU, by a dispatch mode of torch" in page
    header, *rows = table(page, "Peak size of tensors")
    slope = {row[0]: int(row[header.index("slope, bytes a piece")].replace(",", "")) for row in rows}
    largest = {row[0]: float(row[header.index("largest peak, MB")]) for row in rows}
    assert slope["baseline"] > 1000
    assert abs(slope["short"]) < slope["baseline"] / 20
    assert abs(slope["long"]) < slope["baseline"] / 20
    assert largest["short"] < largest["long"] < largest["baseline"]
    assert rows[-1][0] == "random"
    assert rows[-1][-1] == "–"  # its F1 would mean nothing
    cells = json.loads((tmp_path / "out/results.json").read_text())["cells"]
    weights = sum(p.nbytes for p in toy.checkpoint().model.parameters())
    assert cells["short | plain"]["weights_bytes"] >= weights
    assert ["paper: JS-L", "> 11.9", "80.1"] in table(page, "The paper's Table 3: OntoNotes 5.0, development")
    html = (tmp_path / "out/memory.html").read_text(encoding="utf-8")
    assert f"{slope['baseline']:,} bytes a piece" in html
