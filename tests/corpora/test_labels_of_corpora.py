"""Labels of mentions that lie beside a corpus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from streamcoref import Document, InputError, MentionLabels
from streamcoref.corpora import LabelFiles, read_corpus
from streamcoref.formats import write_documents

DOCUMENT = Document.from_sentences("ship", [["The", "Marigold", "sailed", "."], ["She", "left", "Bristol", "."]])
TABLE = (
    "MENTION\tT0\t0\t0\t0\t1\tThe Marigold\tVEH\tPROP\n"
    "MENTION\tT1\t1\t0\t1\t0\tShe\tVEH\tPRON\n"
    "MENTION\tT2\t1\t2\t1\t2\tBristol\tGPE\tPROP\n"
    "COREF\tT0\tThe_Marigold-0\nCOREF\tT1\tThe_Marigold-0\n"
)
LABELS = {
    (0, 2): MentionLabels(("vehicle",), "PROP"),
    (4, 5): MentionLabels(("vehicle",), "PRON"),
    (6, 7): MentionLabels(("place",), "PROP"),
}


def test_a_table_of_litbank_is_found_by_the_documents_key(tmp_path: Path) -> None:
    (tmp_path / "ship.tsv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "other.tsv").write_text("", encoding="utf-8")
    for path in (tmp_path, tmp_path / "ship.tsv"):
        labels = LabelFiles(path)
        assert labels.has(DOCUMENT)
        assert labels.add_to(DOCUMENT) == replace(DOCUMENT, labels=LABELS)
        assert not labels.has(replace(DOCUMENT, key="boat"))
        with pytest.raises(InputError, match="there are no labels for the document boat"):
            labels.add_to(replace(DOCUMENT, key="boat"))


def test_documents_may_lend_their_labels_to_others_of_the_same_words(tmp_path: Path) -> None:
    clustered = replace(DOCUMENT, clusters=(((0, 2), (4, 5)),))
    write_documents(
        [replace(DOCUMENT, labels=LABELS), replace(DOCUMENT, key="boat")], tmp_path / "all.jsonl", "jsonlines"
    )
    (tmp_path / "apart").mkdir()
    write_documents([replace(DOCUMENT, labels=LABELS)], tmp_path / "apart" / "ship.jsonl", "jsonlines")
    for path in (tmp_path / "all.jsonl", tmp_path / "apart"):
        labelled = LabelFiles(path).add_to(clustered)
        assert (labelled.clusters, labelled.labels) == (clustered.clusters, LABELS)
        with pytest.raises(InputError, match="its words are not those of the document ship"):
            LabelFiles(path).add_to(Document.from_sentences("ship", [["The", "boat"]]))
    assert LabelFiles(tmp_path / "all.jsonl").add_to(replace(DOCUMENT, key="boat")).labels == {}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("MENTION\tT0\t0\t0\t0\t1\tThe Ship\tVEH\tPROP", "does not have 'The Ship' there"),
        ("MENTION\tT0\t0\t4\t0\t4\tShe\tVEH\tPRON", "does not have 'She' there"),
        ("MENTION\tT0\t2\t0\t2\t0\tShe\tVEH\tPRON", "does not have 'She' there"),
        ("MENTION\tT0\t0\t0\t0\tThe\tVEH\tPROP", "not 9 columns"),
        ("MENTION\tT0\t0\tx\t0\t1\tThe\tVEH\tPROP", "not 9 columns"),
    ],
)
def test_a_table_that_is_another_texts_is_refused(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "ship.tsv").write_text(TABLE + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        LabelFiles(tmp_path).add_to(DOCUMENT)
    assert caught.value.line == 6


@pytest.mark.corpus
def test_every_mention_of_litbank_and_ontogum(shared: Path) -> None:
    corpora = shared / "corpora"
    labels = LabelFiles(corpora / "litbank" / "mentions")
    found = [labels.add_to(document) for document in read_corpus(corpora / "litbank" / "train.ids")]
    for document in found:
        assert document.labels.keys() == {span for cluster in document.clusters for span in cluster}
    assert sum(len(document.labels) for document in found) == 23_218  # from the README beside the corpora
    assert all(label.kind and label.types for document in found for label in document.labels.values())
    gum = LabelFiles(corpora / "gum" / "conllu")
    assert sum(len(gum.add_to(document).labels) for document in read_corpus(corpora / "ontogum" / "dev.ids")) == 5_133
