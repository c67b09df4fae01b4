"""Two files scored through Python; the command line's tests have the rest."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.formats import write_documents
from streamcoref.metrics import Comparison, score_document, score_files

KEY = Document.from_sentences("d", [list("abcdef")], [[(0, 1), (2, 3)], [(4, 5)]])
OTHER = Document.from_sentences("e", [["a"]], [[(0, 1)]])
ANSWER = ((0, 1), (4, 5))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    key, response = tmp_path / "key.conllu", tmp_path / "response.jsonl"
    write_documents([KEY, OTHER], key, "conllu")
    given = Document("d", KEY.words, KEY.sentence_ends, KEY.clusters, predicted_clusters=(ANSWER,))
    write_documents([given], response, "jsonlines")
    return key, response


def test_the_predicted_clusters_of_one_file_against_those_of_another(files: tuple[Path, Path]) -> None:
    found = score_files(*files, allow_missing=True)
    scores = score_document(KEY.clusters, [ANSWER]) + score_document(OTHER.clusters, ())
    assert found == Comparison(scores, missing_in_response=1)
    assert found.to_dict() == scores.to_dict() | {"missing_in_key": 0, "missing_in_response": 1}
    without = score_files(*files, allow_missing=True, singletons=False).scores
    assert (without.key_mentions, without.response_mentions) == (2, 2)


def test_a_missing_document_is_an_error_in_the_words_of_python(files: tuple[Path, Path]) -> None:
    with pytest.raises(StreamcorefError, match=r"missing from the response \('e'\).*give allow_missing=True"):
        score_files(*files)
    with pytest.raises(StreamcorefError, match=r"no format 'x'; known formats"):
        score_files(*files, response_format="x")


def test_conll_through_a_pipe_is_read_as_the_official_scorer_reads_a_file(tmp_path: Path) -> None:
    """Unmerged: a mention in two clusters stays in the first, where a Document would join the two."""
    rows = "".join(f"d\t0\t{i}\tw\t{cell}\n" for i, cell in enumerate(("(0)|(1)", "(0)", "(1)", "(2)", "(2)")))
    content = f"#begin document (d); part 000\n{rows}\n#end document\n"
    file, pipe, key = tmp_path / "a.conll", tmp_path / "pipe", tmp_path / "key.conll"
    file.write_text(content)
    key.write_text(content.replace("(0)|(1)", "(0)"))
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(content,))
    writer.start()
    piped = score_files(key, pipe)
    writer.join()
    assert piped == score_files(key, file)
    assert piped.scores.conll_f1 == 1
