"""Silver: what a teacher finds beside the annotation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import streamcoref
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.formats import write_documents
from streamcoref.training.kinds import step_of
from streamcoref.training.silver import Lesson, Teacher, beside, teach_all
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
    lesson, words = Teacher(default, "ontogum").teach(parcel(), singletons=False), parcel().words
    found = [[" ".join(words[a:b]) for a, b in cluster] for cluster in lesson.clusters]
    assert found == [["Anna", "She", "Anna"], ["a parcel", "the parcel", "it"]]
    assert set(Teacher(default, "ontogum").teach(parcel(), singletons=True).clusters) > set(parcel().clusters)


def test_a_teacher_of_a_scheme_with_singletons_shows_them_too() -> None:
    default, bare = streamcoref.load(), replace(parcel(), clusters=())
    with_them, without = (Teacher(default, "litbank").teach(bare, singletons=one).clusters for one in (True, False))
    assert min(map(len, without)) > 1
    assert set(with_them) > set(without)
    assert min(map(len, with_them)) == 1


def test_a_teacher_is_asked_once_for_a_document_that_is_learnt_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def teach(_teacher: Teacher, document: Document, **_options: bool) -> Lesson:
        asked.append(document.key)
        return Lesson(document.clusters)

    monkeypatch.setattr(Teacher, "teach", teach)
    values = synthetic.recipe(tmp_path, documents=6, epochs=3)
    values["model"]["changes"]["schemes"] = ["litbank"]
    values["corpora"][0] |= {"teachers": [str(streamcoref.load().folder)], "scheme": "litbank", "weight": 0.5}
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
    silver = {"name": "silver", "path": str(tmp_path / "parcel.jsonl"), "use": "train", "teachers": [str(default)]}
    values["corpora"].append(silver | {"scheme": "ontogum"})
    plain, taught, *_ = synthetic.new_run(values).start.train
    assert taught.examples[0].document.clusters == parcel().clusters  # nobody has been asked yet
    assert len(taught.examples[0].taught().document.clusters) == 2
    assert plain.examples[0].taught().document.clusters == synthetic.document(0).clusters
    values["corpora"][-1]["scheme"] = "ours"
    with pytest.raises(StreamcorefError, match=r"the teacher .* has no scheme 'ours'; it has ontogum, litbank"):
        synthetic.new_run(values)


def test_what_a_teacher_says_is_kept_for_who_asks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    default, bare = streamcoref.load(), replace(parcel(), clusters=())
    first = Teacher(default, "ontogum", tmp_path / "cache").teach(bare, singletons=False)
    assert first.clusters
    monkeypatch.setattr(type(default), "watched", None)  # nobody reads any more
    again = Teacher(default, "ontogum", tmp_path / "cache").teach(bare, singletons=False)
    assert again.clusters == first.clusters
    assert again.sure == pytest.approx(first.sure, abs=1e-3)
    assert again.chances == pytest.approx(first.chances, abs=1e-3)
    for other in ("litbank", "ontogum"):
        with pytest.raises(TypeError):  # another scheme, another text: it is asked
            Teacher(default, other, tmp_path / "cache").teach(
                bare if other == "litbank" else replace(bare, words=("Berta", *bare.words[1:])), singletons=False
            )


def test_a_second_teacher_adds_what_the_first_has_left_out() -> None:
    """What the first said stands: the second's entities lie beside it, and its chances count where they are better."""
    default, bare = streamcoref.load(), replace(parcel(), clusters=())
    whole = Teacher(default, "ontogum").teach(bare, singletons=False)

    class OfPeople(Teacher):
        def teach(self, document: Document, singletons: bool) -> Lesson:
            chances = dict.fromkeys(whole.chances, 0.01)
            return Lesson((*document.clusters, ((0, 1), (8, 9))), {(8, 9): 0.6}, chances)

    both = teach_all([OfPeople(default, None), Teacher(default, "ontogum")], bare, singletons=False)
    assert [[" ".join(bare.words[a:b]) for a, b in cluster] for cluster in both.clusters] == [
        ["Anna", "She"],
        ["a parcel", "the parcel", "it"],
    ]
    assert both.sure[8, 9] == 0.6
    assert both.chances[8, 9] == 0.01
    parcels = both.clusters[1]
    assert {span: both.chances[span] for span in parcels} == {span: whole.chances[span] for span in parcels}


def test_scores_are_taught_and_not_only_decisions() -> None:
    """All that the teacher holds for a mention in some degree; but what is annotated is so for certain."""
    lesson = Teacher(streamcoref.load(), "ontogum").teach(parcel(), singletons=False)
    annotated = {span for cluster in parcel().clusters for span in cluster}
    mentions = {span for cluster in lesson.clusters for span in cluster}
    assert set(lesson.sure) == mentions - annotated
    assert annotated.isdisjoint(lesson.chances)
    assert mentions - annotated < set(lesson.chances)
    assert all(0 < value <= 1 for values in (lesson.sure, lesson.chances) for value in values.values())


def test_a_decision_weighs_as_much_as_the_teacher_was_sure(tmp_path: Path) -> None:
    """And a span is a mention by the chance that it gave."""
    run = synthetic.new_run(synthetic.recipe(tmp_path, documents=1, mention_loss="all"))
    model, (example, *_) = run.model, run.start.train[0].examples
    spans = {span for cluster in example.document.clusters for span in cluster}
    step, precision, losses = step_of(run.start.checkpoint, run.recipe.training), run.start.precision, []
    lessons = [Lesson(()), Lesson((), dict.fromkeys(spans, 0.0)), Lesson((), {}, dict.fromkeys(spans, 0.5))]
    for lesson in lessons:
        model.eval()
        taught = replace(example, lesson=lesson)
        losses.append(step(taught, run.start.encode, np.random.default_rng(0), precision))
    certain, weightless, by_half = losses
    assert weightless < certain != pytest.approx(by_half)
