"""Tables and JSON of an evaluation, alone and next to a baseline's."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from streamcoref.evaluation.report import Table, markdown, relative_loss, tables, to_dict
from streamcoref.evaluation.results import CorpusSettings, DocumentResult, Evaluation
from streamcoref.metrics import Scores
from tests.evaluation.test_groups import result

SETTINGS = [CorpusSettings("a", "plain", True, False)]
RIGHT, WRONG = result(100), result(5000, speakers=3, genre="talk", right=False)


def rows(table: Table) -> dict[str, list[str]]:
    return {row[0]: row[1:] for section in table.sections for row in section}


def percents(*documents: DocumentResult) -> list[str]:
    scores = sum((document.scores for document in documents), Scores())
    metrics = (scores.muc, scores.bcub, scores.ceafe)
    values = [value for m in metrics for value in (m.precision, m.recall, m.f1)]
    return [f"{100 * value:.2f}" for value in (*values, scores.conll_f1, scores.mentions.f1)]


def test_one_model() -> None:
    complete, by_group, cost = tables(Evaluation(SETTINGS, [RIGHT, WRONG]))
    names = ["MUC", "B3", "CEAF-e"]
    figures = [f"{name} {figure}" for name in names for figure in ("P", "R", "F1")]
    assert complete.columns == ["corpus", "docs", *figures, "Avg. F1", "mention F1"]
    assert rows(complete) == {"all": ["2", *percents(RIGHT, WRONG)], "a": ["2", *percents(RIGHT, WRONG)]}
    both, wrong = percents(RIGHT, WRONG)[-2], percents(WRONG)[-2]
    assert rows(by_group) == {
        "all": ["2", both],
        "corpus a": ["2", both],
        "pieces 0-128": ["1", "100.00"],
        "pieces 1153+": ["1", wrong],
        "pieces 4097-8192": ["1", wrong],
        "speakers 1": ["1", "100.00"],
        "speakers 2+": ["1", wrong],
        "genre talk": ["1", wrong],
        "genre none given": ["1", "100.00"],
    }
    assert rows(cost) == {
        "peak entities alive": ["3"],
        "seconds in the encoder": ["2.00"],
        "seconds in the rest": ["1.00"],
        "time in the encoder %": ["66.7"],
        "words a second": ["1,700"],
    }


def test_memory_is_shown_if_measured() -> None:
    measured = Evaluation(SETTINGS, [replace(RIGHT, peak_bytes=1_000_000), replace(RIGHT, peak_bytes=12_340_000)])
    assert rows(tables(measured)[2])["peak tensor memory besides the model, MB"] == ["12.3"]


def test_a_model_next_to_a_baseline() -> None:
    model = Evaluation(SETTINGS, [RIGHT, WRONG])
    # The baseline cuts other pieces and has no entities: rows stay those of the model's documents.
    other = [replace(RIGHT, pieces=9999, peak_entities=None), replace(RIGHT, pieces=9999, peak_entities=None)]
    baseline = Evaluation(SETTINGS, other)
    complete, by_group, cost = tables(model, baseline)
    ours, theirs = percents(RIGHT, WRONG), percents(RIGHT, RIGHT)
    section = complete.sections[0]
    assert complete.columns[:3] == ["corpus", "docs", ""]
    assert section[0] == ["all", "2", "model", *ours]
    assert section[1] == ["", "", "baseline", *theirs]
    lost = [100 - float(figure) for figure in ours]
    assert section[2][:3] == ["", "", "difference"]
    assert section[3][:3] == ["", "", "relative loss %"]
    assert [float(cell) for cell in section[2][3:]] == pytest.approx([-figure for figure in lost], abs=0.011)
    assert [float(cell) for cell in section[3][3:]] == pytest.approx(lost, abs=0.011)  # of 100
    assert by_group.columns == ["documents", "docs", "model", "baseline", "difference", "relative loss %"]
    shown = rows(by_group)
    assert shown["pieces 0-128"] == ["1", "100.00", "100.00", "+0.00", "0.00"]
    assert shown["pieces 4097-8192"][:3] == ["1", percents(WRONG)[-2], "100.00"]
    assert "pieces 8193+" not in shown
    assert rows(cost)["peak entities alive"] == ["3", "–"]


def test_relative_loss() -> None:
    assert relative_loss(0.6, 0.8) == pytest.approx(0.25)
    assert relative_loss(0.8, 0.6) == pytest.approx(-1 / 3)
    assert relative_loss(0.5, 0.0) is None
    nothing = [replace(RIGHT, scores=Scores(documents=1))]
    assert rows(tables(Evaluation(SETTINGS, [RIGHT]), Evaluation(SETTINGS, nothing))[1])["all"][-1] == "–"


def test_json() -> None:
    model, baseline = Evaluation(SETTINGS, [RIGHT, WRONG]), Evaluation(SETTINGS, [RIGHT, RIGHT])
    found = json.loads(json.dumps(to_dict(model, baseline)))
    group = next(g for g in found["groups"] if (g["kind"], g["name"]) == ("length", "1153+"))
    assert group["scores"] == WRONG.scores.to_dict()
    assert group["baseline"] == RIGHT.scores.to_dict()
    assert group["difference"]["Avg. F1"] == pytest.approx(WRONG.scores.conll_f1 - 1)
    assert group["relative_loss"]["Avg. F1"] == pytest.approx(1 - WRONG.scores.conll_f1)
    assert found["model"]["encoder_seconds"] == 2.0
    assert found["model"]["corpora"] == [
        {"name": "a", "scheme": "plain", "singletons": True, "answers_singletons": False}
    ]
    assert [d["pieces"] for d in found["model"]["documents"]] == [100, 5000]
    assert found["baseline"]["documents"][1]["conll_f1"] == 1.0
    assert "baseline" not in to_dict(model)


def test_markdown() -> None:
    text = markdown(Table("T", ["a", "b|c"], [[["1", "2"]], [["x|y", "3"]]]))
    assert text == "### T\n\n| a | b\\|c |\n|---|---:|\n| 1 | 2 |\n| x\\|y | 3 |\n"
