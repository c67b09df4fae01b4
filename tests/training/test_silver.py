"""Silver: what a teacher finds beside the annotation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import streamcoref
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.formats import write_documents
from streamcoref.training.silver import Teacher, beside
from tests.training import synthetic

PARCEL = """Anna found a parcel on the bench . She picked up the parcel and opened it . Anna smiled ."""


def parcel() -> Document:
    """Only who acts is annotated, and the bench, once."""
    sentences = [[*sentence.split(), "."] for sentence in PARCEL.split(" .") if sentence.strip()]
    return Document.from_sentences("parcel", sentences, [[(0, 1), (8, 9), (17, 18)], [(5, 7)]])


def test_what_is_annotated_is_not_the_teachers_matter() -> None:
    annotated = (((0, 1), (5, 6)), ((9, 10),))
    people, mixed, thing, once = ((0, 1), (5, 6), (7, 8)), ((9, 10), (12, 13)), ((2, 3), (20, 22)), ((30, 31),)
    mostly_thing = ((5, 6), (40, 41), (42, 43), (44, 45))
    found = (people, mixed, thing, once, mostly_thing)
    assert beside(found, annotated, 2) == (thing, mostly_thing[1:])
    assert beside(found, annotated, 1) == (thing, once, mostly_thing[1:])
    assert beside((), annotated, 1) == beside((once,), (), 2) == ()


def test_a_teacher_shows_things_where_only_people_are_marked() -> None:
    """The bundled model knows what a parcel is in its scheme for everything."""
    default = streamcoref.load()
    taught = Teacher(default, "ontogum").add_to(parcel(), singletons=False)
    words = taught.words
    found = [[" ".join(words[a:b]) for a, b in cluster] for cluster in taught.clusters]
    assert found == [["Anna", "She", "Anna"], ["a parcel", "the parcel", "it"]]
    assert set(Teacher(default, "ontogum").add_to(parcel(), singletons=True).clusters) > set(parcel().clusters)


def test_a_teacher_of_a_scheme_with_singletons_shows_them_too() -> None:
    default, bare = streamcoref.load(), replace(parcel(), clusters=())
    with_them, without = (Teacher(default, "litbank").add_to(bare, singletons=one).clusters for one in (True, False))
    assert min(map(len, without)) > 1
    assert set(with_them) > set(without)
    assert min(map(len, with_them)) == 1


def test_a_teacher_is_asked_once_for_a_document_that_is_learnt_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def add_to(_teacher: Teacher, document: Document, **_options: bool) -> Document:
        asked.append(document.key)
        return document

    monkeypatch.setattr(Teacher, "add_to", add_to)
    values = synthetic.recipe(tmp_path, documents=6, epochs=3)
    values["model"]["changes"]["schemes"] = ["litbank"]
    values["corpora"][0] |= {"teacher": str(streamcoref.load().folder), "scheme": "litbank", "weight": 0.5}
    run = synthetic.new_run(values)
    assert asked == []
    assert run.train()
    seen = {line["document"] for line in synthetic.log(tmp_path / "run") if line["event"] == "step"}
    assert sorted(asked) == sorted(seen)


def test_a_recipe_names_the_teacher_of_a_corpus(tmp_path: Path) -> None:
    default = streamcoref.load().folder
    write_documents([parcel()], tmp_path / "parcel.jsonl", "jsonlines")
    values = synthetic.recipe(tmp_path)
    values["model"]["changes"]["schemes"] = ["ontogum", "ours"]
    silver = {"name": "silver", "path": str(tmp_path / "parcel.jsonl"), "use": "train", "teacher": str(default)}
    values["corpora"].append(silver | {"scheme": "ontogum"})
    plain, taught, *_ = synthetic.new_run(values).start.train
    assert taught.examples[0].document.clusters == parcel().clusters  # nobody has been asked yet
    assert len(taught.examples[0].taught().document.clusters) == 2
    assert plain.examples[0].taught().document.clusters == synthetic.document(0).clusters
    values["corpora"][-1]["scheme"] = "ours"
    with pytest.raises(StreamcorefError, match=r"the teacher .* has no scheme 'ours'; it has litbank, ontogum"):
        synthetic.new_run(values)
