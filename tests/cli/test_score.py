"""`streamcoref score`, run as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from streamcoref.cli import app
from streamcoref.cli.remedies import sentence
from streamcoref.errors import StreamcorefError

ANN = [[[0, 0], [3, 3]], [[5, 6], [8, 8]], [[1, 1]]]  # inclusive word offsets
WORDS = ["Ann", "slept", "while", "she", "and", "her", "dog", "-", "it", "snored"]


def line(key: str, clusters: list[list[list[int]]], words: list[str] = WORDS, **fields: Any) -> str:
    return json.dumps({"doc_key": key, "sentences": [words], "clusters": clusters, **fields})


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{text}\n" for text in lines), encoding="utf-8")
    return path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["score", *map(str, arguments)])
    if isinstance(result.exception, StreamcorefError):
        raise StreamcorefError(sentence(result.exception))
    assert result.exit_code == 0, result.output
    return result.stdout


def as_json(*arguments: object) -> dict[str, Any]:
    output = run(*arguments, "--json")
    assert output.count("\n") == 1
    data: dict[str, Any] = json.loads(output)
    return data


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return write(tmp_path / "key.jsonl", line("one", ANN), line("two", [[[0, 0], [3, 3]]]))


def test_table_shows_percents_and_counts(tmp_path: Path, key: Path) -> None:
    response = write(tmp_path / "r.jsonl", line("one", [[[0, 0], [3, 3]], [[1, 1]]]), line("two", []))
    rows = {text.split("  ")[1].strip(): text.split()[-3:] for text in run(key, response).splitlines() if "." in text}
    assert rows["MUC"] == ["100.00", "33.33", "50.00"]
    assert rows["Mention detection"] == ["100.00", "42.86", "60.00"]
    assert rows["LEA"] == ["100.00", "42.86", "60.00"]
    assert rows["CEAF-e"] == ["100.00", "50.00", "66.67"]
    assert rows["CoNLL average"][-1] == "58.89"
    assert {"B-cubed", "CEAF-m", "BLANC"} <= rows.keys()
    assert "2 documents, singletons kept; 7 mentions in the key, 3 in the response" in run(key, response)


def test_documents_are_matched_by_key_in_any_order(tmp_path: Path) -> None:
    lines = [line(f"document {i}", [[[0, 0], [i % 7 + 1, i % 7 + 1]]]) for i in range(9)]
    forward, backward = write(tmp_path / "a.jsonl", *lines), write(tmp_path / "b.jsonl", *reversed(lines))
    data = as_json(forward, backward)
    assert data["documents"] == 9
    assert data["conll_f1"] == 1


def test_predicted_clusters_of_the_response_and_clusters_of_the_key(tmp_path: Path) -> None:
    both = write(tmp_path / "both.jsonl", line("one", ANN, predicted_clusters=ANN[:1]))
    data = as_json(both, both)
    assert data["muc"] == {"precision": 1, "recall": 0.5, "f1": pytest.approx(2 / 3)}
    assert (data["key_mentions"], data["response_mentions"]) == (5, 2)
    nothing = write(tmp_path / "nothing.jsonl", line("one", ANN, predicted_clusters=[]))
    assert as_json(both, nothing)["response_mentions"] == 0


def test_two_formats_that_can_be_forced(tmp_path: Path) -> None:
    conll = write(
        tmp_path / "response",
        "#begin document (one); ",
        "one\t0\t0\tAnn\t(3)",
        "one\t0\t1\tslept\t-",
        "",
        "#end document",
    )
    words = write(tmp_path / "key.txt", line("one", [[[0, 0]]], ["Ann", "slept"]))
    data = as_json(words, conll, "--key-format", "jsonlines", "--response-format", "conll")
    assert (data["bcub"]["f1"], data["documents"]) == (1, 1)


def test_a_conll_response_with_a_mention_in_two_clusters_is_scored_as_the_official_scorer_does(tmp_path: Path) -> None:
    """The first cluster keeps the mention; a Document would merge the two. In the manner of case A8."""

    def conll(name: str, cells: str) -> Path:
        rows = (f"d\t0\t{i}\tw\t{cell}" for i, cell in enumerate(cells.split()))
        return write(tmp_path / name, "#begin document (d); part 000", *rows, "", "#end document")

    gold = conll("key.conll", "(0) (1 1) (1) (2) (2) (2)")
    plain = conll("plain.conll", "(0) (1 1) (1) (2) (3) -")
    repeated = conll("repeated.conll", "(0) (1(3 3)1) (1) (2) (3) -")
    assert as_json(gold, repeated) == as_json(gold, plain)


@pytest.mark.parametrize(
    ("key", "response", "muc"),
    [
        ("(0 - 0) - - (0)", "(0 - 0)|(0 0) - (0)", 0.0),  # there they are (2, 2), (0, 3) and (5, 5)
        ("(0 - 0) - - (0)", "(0 - (0|0) 0) - (0)", 0.0),  # the same brackets, in another order
        ("(0 (0) 0) - - (0)", "(0 0)|(0 0) - - (0)", 1.0),  # (1, 1), (0, 2) and (5, 5)
    ],
)
def test_an_entity_that_closes_and_opens_at_one_word_is_read_as_the_official_scorer_does(
    tmp_path: Path, key: str, response: str, muc: float
) -> None:
    def conll(name: str, cells: str) -> Path:
        rows = (f"d\t0\t{i}\tw\t{cell}" for i, cell in enumerate(cells.split()))
        return write(tmp_path / name, "#begin document (d); part 000", *rows, "", "#end document")

    assert as_json(conll("key.conll", key), conll("response.conll", response))["muc"]["f1"] == pytest.approx(muc)


def test_singletons_can_be_dropped(tmp_path: Path, key: Path) -> None:
    response = write(tmp_path / "r.jsonl", line("one", ANN[:2]), line("two", [[[0, 0], [3, 3]], [[4, 4]]]))
    kept, dropped = as_json(key, response), as_json(key, response, "--drop-singletons")
    assert kept["conll_f1"] < 1
    assert (kept["key_mentions"], kept["response_mentions"]) == (7, 7)
    assert dropped["conll_f1"] == 1
    assert (dropped["key_mentions"], dropped["response_mentions"]) == (6, 6)
    assert "singletons dropped" in run(key, response, "--drop-singletons")


def test_a_missing_document_is_an_error(tmp_path: Path, key: Path) -> None:
    response = write(tmp_path / "r.jsonl", line("two", []))
    with pytest.raises(StreamcorefError, match=r"1 document is missing from the response \('one'\).*--allow-missing"):
        run(key, response)
    with pytest.raises(StreamcorefError, match=r"1 document is missing from the key \('one'\)"):
        run(response, key)
    many = write(tmp_path / "many.jsonl", *(line(f"d{i}", []) for i in range(5)))
    with pytest.raises(
        StreamcorefError, match=r"5 documents are missing from the response \('d0', 'd1', 'd2', \.\.\.\)"
    ):
        run(many, write(tmp_path / "x.jsonl", line("x", [])))


def test_a_missing_document_counts_when_allowed(tmp_path: Path, key: Path) -> None:
    response = write(tmp_path / "r.jsonl", line("one", ANN), line("three", [[[0, 0], [1, 1], [2, 2]]]))
    data = as_json(key, response, "--allow-missing")
    assert (data["missing_in_key"], data["missing_in_response"], data["documents"]) == (1, 1, 3)
    assert data["mentions"]["recall"] == 5 / 7
    assert data["mentions"]["precision"] == 5 / 8
    assert data["muc"]["recall"] == 2 / 3
    assert data["muc"]["precision"] == 2 / 4
    assert "missing from the response and counted against the score: 1 document\n" in run(
        key, response, "--allow-missing"
    )


def test_a_key_that_comes_twice_is_an_error(tmp_path: Path, key: Path) -> None:
    twice = write(tmp_path / "twice.jsonl", line("one", ANN), line("two", []), line("one", ANN))
    for pair in (key, twice), (twice, key):
        with pytest.raises(StreamcorefError, match=r"twice\.jsonl: document 'one' comes twice"):
            run(*pair)


def test_different_words_are_an_error(tmp_path: Path, key: Path) -> None:
    response = write(tmp_path / "r.jsonl", line("one", ANN, [*WORDS, "."]), line("two", []))
    with pytest.raises(StreamcorefError, match=r"document 'one' has 10 words in the key and 11 in the response"):
        run(key, response)


def test_two_files_without_documents_are_an_error(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.jsonl")
    with pytest.raises(StreamcorefError, match="no documents"):
        run(empty, empty, "--key-format", "jsonlines", "--response-format", "jsonlines")


def test_an_error_is_one_sentence_and_status_2(tmp_path: Path, key: Path) -> None:
    command = [sys.executable, "-c", "from streamcoref.cli import main; main()", "score", str(key)]
    result = subprocess.run([*command, str(tmp_path / "nowhere.jsonl")], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "nowhere.jsonl" in result.stderr


@pytest.mark.corpus
def test_the_official_reference_cases_through_the_command(shared: Path) -> None:
    folder = shared / "scorer-cases"
    for case in json.loads((folder / "cases.json").read_text(encoding="utf-8")):
        data = as_json(folder / case["key"], folder / case["response"])
        for metric, expected in case["expected_recall_precision_f1"].items():
            ours = [data[metric][name] for name in ("recall", "precision", "f1")]
            assert [f"{x:.5f}" for x in ours] == [f"{x:.5f}" for x in expected], (case["id"], metric)
