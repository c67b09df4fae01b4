"""The gold side: what a first pass over corpora settles, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, Survey, survey
from streamcoref.evaluation.gold import read_gold
from streamcoref.formats import write_documents
from tests.evaluation import toy_evaluation as toy

PLAIN = [toy.document(1, 60), toy.document(2, 30)]
WITH_SINGLETONS = [toy.document(3, 60, singletons=5)]


def test_a_survey_counts_and_settles() -> None:
    corpora = [EvaluationCorpus("a", PLAIN), EvaluationCorpus("b", WITH_SINGLETONS, scheme="x")]
    seen: list[Document] = []
    assert survey(corpora, seen.append) == Survey(
        [
            EvaluationCorpus("a", PLAIN, singletons=False),
            EvaluationCorpus("b", WITH_SINGLETONS, scheme="x", singletons=True),
        ],
        3,
    )
    assert seen == PLAIN + WITH_SINGLETONS
    kept = survey([EvaluationCorpus("a", PLAIN, singletons=True)]).corpora
    assert [corpus.singletons for corpus in kept] == [True]


def test_what_a_check_refuses_stops_the_survey() -> None:
    def refuse(document: Document) -> None:
        if document is PLAIN[1]:
            raise StreamcorefError("not this one")

    with pytest.raises(StreamcorefError, match="not this one"):
        survey([EvaluationCorpus("a", PLAIN)], refuse)


def test_faults_and_empty_corpora_show_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_documents(PLAIN, path, "jsonlines")
    with path.open("a") as stream:
        stream.write("{broken\n")
    with pytest.raises(InputError, match=r"a\.jsonl:3"):
        survey([EvaluationCorpus("a", path)])
    with pytest.raises(StreamcorefError, match="corpus 'a' has no documents"):
        survey([EvaluationCorpus("a", [])])
    with pytest.raises(StreamcorefError, match="corpus 'a' has no coreference clusters"):
        survey([EvaluationCorpus("a", [Document.from_sentences("x", [["y"]])])])


def test_the_key_of_a_conll_file_is_unmerged(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("#begin document (a); part 000\na 0 0 w (0)|(1)\na 0 1 w (0)\na 0 2 w (1)\n\n#end document\n")
    ((document, key),) = read_gold(EvaluationCorpus("a", path))
    assert document.clusters == (((0, 1), (1, 2), (2, 3)),)
    assert key == [[(0, 1), (1, 2)], [(0, 1), (2, 3)]]
