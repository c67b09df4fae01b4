"""Documents as they might also have been written: what changes, what stays, and that a run can learn from them."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.language.lexicon import Gender
from streamcoref.language.people_names import GIVEN_NAMES, SURNAMES
from streamcoref.mention_labels import MentionLabels
from streamcoref.model.segments import Segment, Segmenter, SegmentOptions
from streamcoref.text import document_from_text
from streamcoref.training import TrainingRun
from streamcoref.training.augmenting import (
    Augmenter,
    AugmentOptions,
    other_quotes,
    recapitalise,
    rename_speakers,
    with_words,
)
from streamcoref.training.renaming import rename_people
from streamcoref.training.steps import Example
from tests.formats.generated_documents import documents
from tests.model import toys
from tests.training import synthetic


def story(text: str, *clusters: str) -> Document:
    """A text whose clusters are the mentions given, words apart by blanks, each at its first free place."""
    document = document_from_text("story", text)
    found: list[list[tuple[int, int]]] = []
    taken: set[tuple[int, int]] = set()
    for cluster in clusters:
        found.append([])
        begin = 0
        for mention in cluster.split(" / "):
            parts = tuple(mention.split())
            place = next(
                (i, i + len(parts))
                for i in range(begin, len(document.words))
                if document.words[i : i + len(parts)] == parts and (i, i + len(parts)) not in taken
            )
            taken.add(place)
            found[-1].append(place)
            begin = place[0]
    return replace(document, clusters=tuple(map(tuple, found)))


STORY = story(
    "Mr. John Harley met Ellen Harley. He kissed her, and she took his arm. Ellen saw that John was tired. "
    "HARLEY slept.",
    "Mr. John Harley / He / his / John / HARLEY",
    "Ellen Harley / her / she / Ellen",
)


def renamed(document: Document, genders: float = 0.0, seed: int = 0) -> Document:
    return with_words(document, rename_people(document, genders, np.random.default_rng(seed)))


@pytest.mark.parametrize("seed", range(5))
def test_people_have_other_names_wherever_they_are_named(seed: int) -> None:
    found = renamed(STORY, seed=seed)
    words = found.words
    given, family = words[1], words[2]
    assert given in GIVEN_NAMES[Gender.HE]
    assert family in SURNAMES
    assert words[4] in GIVEN_NAMES[Gender.SHE]
    expected = (STORY.text or "").replace("John", given).replace("Ellen", words[4]).replace("Harley", family)
    assert found.text == expected.replace("HARLEY", family.upper())
    assert (found.clusters, found.sentence_ends) == (STORY.clusters, STORY.sentence_ends)
    assert len({renamed(STORY, seed=n).words for n in range(5)}) > 1
    assert renamed(STORY, seed=seed) == found


def test_a_person_of_the_other_gender_takes_pronouns_and_titles_along() -> None:
    found = renamed(STORY, genders=1.0)
    he, family, she = found.words[1], found.words[2], found.words[4]
    assert he in GIVEN_NAMES[Gender.SHE]
    assert she in GIVEN_NAMES[Gender.HE]
    assert found.text == (
        f"Mrs. {he} {family} met {she} {family}. She kissed him, and he took her arm. {she} saw that {he} was tired. "
        f"{family.upper()} slept."
    )


@pytest.mark.parametrize(
    ("text", "clusters", "why"),
    [
        ("Anna and her son came. The girl smiled.", ["Anna / her / The girl"], "a noun that has a gender"),
        ("Anna left. They found her dead.", ["Anna / her"], "nobody knows what this her is"),
        ("Mother Anna left. She slept.", ["Mother Anna / She"], "a title that has no other"),
        ("Kim left. He slept. Kim stayed. She woke.", ["Kim / He", "Kim / She"], "a name of both"),
    ],
)
def test_who_cannot_be_of_the_other_gender_stays(text: str, clusters: list[str], why: str) -> None:
    document = story(text, *clusters)
    found = renamed(document, genders=1.0)
    pronouns = {"he", "she", "him", "her", "his", "hers"}
    assert [w for w in found.words if w.lower() in pronouns] == [w for w in document.words if w.lower() in pronouns], (
        why
    )


@pytest.mark.parametrize(
    ("text", "cluster"),
    [
        ("The Lynx sank. It was old.", "The Lynx / It"),
        ("Lindqvist slept. Lindqvist woke.", "Lindqvist / Lindqvist"),  # by nobody's word a woman
        ("Captain Good slept. It was a good day. He woke.", "Captain Good / He"),
        ("The Harleys came. They slept.", "The Harleys / They"),
    ],
)
def test_what_may_be_no_persons_name_stays(text: str, cluster: str) -> None:
    document = story(text, cluster)
    assert renamed(document, genders=1.0) == document


def test_labels_say_who_is_no_person() -> None:
    document = story("Daisy slept. She woke.", "Daisy / She")
    assert renamed(document) != document
    labels = {(0, 1): MentionLabels(("animal",))}
    assert renamed(replace(document, labels=labels)) == replace(document, labels=labels)


def test_the_lists_hold_names_and_nobody_twice() -> None:
    he, she = GIVEN_NAMES[Gender.HE], GIVEN_NAMES[Gender.SHE]
    for names in (he, she, SURNAMES):
        assert len(names) == len(set(names)) > 100
        assert all(name.isalpha() and name[0].isupper() for name in names)
    assert not set(he) & set(she)


def test_words_change_and_what_stands_between_them_does_not() -> None:
    document = document_from_text("d", "  Ann ran.\n\nBo\tfell !\n")
    words = ["Clara" if word == "Ann" else word for word in document.words]
    found = with_words(document, words)
    assert found.text == "  Clara ran.\n\nBo\tfell !\n"
    assert [found.text[a:b] for a, b in found.offsets] == list(found.words)
    assert with_words(document, document.words) == document


def test_speakers_have_other_names_and_are_called_so_in_the_text() -> None:
    spoken = Document.from_sentences(
        "talk",
        [["Hi", "Anna", "."], ["Hello", "!"], ["Well", "."]],
        speakers=["Bo", "Bo", "Bo", "Anna", "Anna", "", ""],
    )
    words = ["Clara" if word == "Anna" else word for word in spoken.words]
    bo, _, _, anna, *_, unknown = rename_speakers(spoken, words, np.random.default_rng(0))
    assert anna == "Clara"
    assert unknown == ""
    assert bo in {*GIVEN_NAMES[Gender.HE], *GIVEN_NAMES[Gender.SHE]}
    assert rename_speakers(spoken, spoken.words, np.random.default_rng(0))[3] == "Anna"


def test_quotation_marks_of_the_other_kind() -> None:
    straight = '" I do n\'t , " said Ann \'s son . " No . "'.split()
    curly = "“ I do n’t , ” said Ann ’s son . “ No . ”".split()
    assert other_quotes(straight) == curly
    assert other_quotes(curly) == straight
    assert other_quotes("`` No ''".split()) == "“ No ”".split()


def test_capitals_and_small_letters_by_sentence() -> None:
    document = document_from_text("d", "Ann ran. She fell.")
    random = np.random.default_rng(0)
    assert recapitalise(document, 1.0, 0.0, random) == "ANN RAN . SHE FELL .".split()
    assert recapitalise(document, 0.0, 1.0, random) == "ann ran . she fell .".split()
    assert recapitalise(document, 0.0, 0.0, random) == list(document.words)
    both = {tuple(recapitalise(document, 0.5, 0.5, np.random.default_rng(seed))) for seed in range(20)}
    assert len(both) == 4


@given(documents(texts=True), st.integers(0, 1000))
def test_whatever_a_document_is_its_annotation_stays(document: Document, seed: int) -> None:
    options = AugmentOptions(names=1, genders=1, speakers=1, quotes=1, capitals=0.3, small=0.3)
    augment = Augmenter(options, _Segmenter())  # type: ignore[arg-type]
    found = augment(Example(document, [], None, 0.0), np.random.default_rng(seed)).document
    assert len(found.words) == len(document.words)
    assert (found.clusters, found.sentence_ends, found.labels) == (
        document.clusters,
        document.sentence_ends,
        document.labels,
    )
    assert bool(found.speakers) == bool(document.speakers)
    assert len(found.offsets) == len(document.offsets)


class _Segmenter:
    def cut(self, document: Document) -> list[Any]:
        return []


def test_an_example_is_cut_anew_and_one_that_does_not_change_is_the_same() -> None:
    document = toys.document(1, 60)
    example = Example(document, toys.cut(document, 30), None, 0.0)
    segmenter = synthetic_segmenter()
    assert Augmenter(AugmentOptions(names=1.0, speakers=1.0), segmenter)(example, np.random.default_rng(0)) is example
    found = Augmenter(AugmentOptions(capitals=1.0), segmenter)(example, np.random.default_rng(0))
    assert found.document.words == tuple(word.upper() for word in document.words)
    assert [text for segment in found.segments for text in segment.texts] == list(found.document.words)


def synthetic_segmenter() -> Segmenter:
    return Segmenter(toys.tokenizer(), SegmentOptions(max_pieces=30), list)


def test_a_run_learns_from_them_and_goes_on_as_if_never_stopped(tmp_path: Path) -> None:
    augment = {"names": 1.0, "quotes": 1.0, "speakers": 1.0, "small": 0.5, "capitals": 0.5}
    values = synthetic.recipe(tmp_path, documents=3, epochs=2, augment=augment)

    def seen(name: str, *, stop: bool = False) -> tuple[list[tuple[str, ...]], dict[str, torch.Tensor]]:
        """The words that each step has encoded, and the weights at the end."""
        texts: list[tuple[str, ...]] = []
        words: list[str] = []

        def new_run() -> TrainingRun:
            run = synthetic.new_run(values, folder=str(tmp_path / name), checkpoint_minutes=0)
            encode = run.start.encode

            def noting(segments: Sequence[Segment]) -> list[torch.Tensor]:
                words.extend(text for segment in segments for text in segment.texts)
                return encode(segments)

            run.start = replace(run.start, encode=noting)
            return run

        def note(line: dict[str, Any]) -> None:
            if line["event"] == "step":
                texts.append(tuple(words))
                words.clear()

        def note_and_stop(line: dict[str, Any]) -> None:
            note(line)
            signal.raise_signal(signal.SIGINT)

        run = new_run()
        if stop:
            assert not run.train(listener=note_and_stop)
            run = new_run()
        assert run.train(resume=stop, listener=note)
        return texts, {key: tensor.clone() for key, tensor in run.model.state_dict().items()}

    whole, weights = seen("whole")
    stopped, resumed = seen("stopped", stop=True)
    assert stopped == whole
    assert all(torch.equal(tensor, resumed[name]) for name, tensor in weights.items())
    plain = {synthetic.document(seed).words for seed in range(3)}
    assert len(set(whole)) == 6, "each visit draws anew"
    assert not plain & set(whole)
    assert {len(words) for words in plain} == {len(words) for words in whole}


def test_a_cache_of_encodings_has_nothing_to_keep(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, encoder_rate=0.0, augment={"names": 0.5})
    with pytest.raises(StreamcorefError, match="a cache of encodings has nothing to keep"):
        synthetic.new_run(values, cache=str(tmp_path / "cache"))
