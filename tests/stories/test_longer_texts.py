"""Longer everyday texts are answered about as well as they were: a floor for each, and one for all everyday texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import streamcoref
from tests.stories.__main__ import answers_table
from tests.stories.everyday_texts import TEXTS
from tests.stories.judging import judged, mean_f1
from tests.stories.longer_texts import FOLDER, LONGER_TEXTS
from tests.stories.marked import marked_document

if TYPE_CHECKING:
    from streamcoref import Resolver

# CoNLL F1, in percent, singletons dropped: three points below what the bundled model reaches with its scheme for raw
# text. Better weights raise them (`python -m tests.stories` says what a model reaches); nothing lowers them.
# Answered worse than by version 0.1, whose floors stay.
BEYOND = frozenset({"email-thread-translation"})
WORSE = pytest.mark.xfail(reason="version 0.1 answered it better", strict=True)
FLOORS = {
    "abstract-naps": 55,
    "chat-boiler": 76,
    "court-report-forger": 52,
    "email-thread-translation": 62,
    "encyclopedia-botanist": 59,
    "first-person-tractor": 56,
    "minutes-allotments": 60,
    "press-report-drugmaker": 60,
    "recipe-lentil-soup": 56,
    "support-ticket-photos": 67,
}
MEAN_OF_ALL = 66  # of the texts here and those of `everyday_texts.py`, each counting the same

# Always somebody or something in these texts, which “you” and “it” are not.
PERSONAL = frozenset(
    "i me my mine he him his she her hers we us our ours they them their theirs himself herself themselves".split()
)


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return streamcoref.load()


@pytest.mark.model
@pytest.mark.parametrize("name", [pytest.param(n, marks=WORSE) if n in BEYOND else n for n in LONGER_TEXTS])
def test_no_longer_text_is_answered_worse(resolver: Resolver, name: str) -> None:
    assert 100 * judged(resolver, name, LONGER_TEXTS[name]).conll_f1 >= FLOORS[name]


@pytest.mark.model
def test_the_mean_of_all_everyday_texts(resolver: Resolver) -> None:
    scores = [judged(resolver, name, marked) for name, marked in (TEXTS | LONGER_TEXTS).items()]
    assert 100 * mean_f1(scores) >= MEAN_OF_ALL


def test_every_longer_text_has_a_floor() -> None:
    assert set(LONGER_TEXTS) == set(FLOORS)
    assert {path.name for path in FOLDER.iterdir()} == {*(f"{name}.txt" for name in FLOORS), "README.md"}


@pytest.mark.parametrize("name", LONGER_TEXTS)
def test_the_longer_texts_are_marked_well(name: str) -> None:
    """Many entities, all mentioned again; no personal pronoun is left out."""
    document = marked_document(name, LONGER_TEXTS[name])
    assert len(document.clusters) >= 12
    assert all(len(cluster) > 1 for cluster in document.clusters)
    assert 150 <= len((document.text or "").split()) <= 350
    mentions = {(mention.word_start, mention.word_end) for entity in document.entities for mention in entity.mentions}
    pronouns = [number for number, word in enumerate(document.words) if word.lower() in PERSONAL]
    assert [document.words[number] for number in pronouns if (number, number + 1) not in mentions] == []


@pytest.mark.model
@pytest.mark.slow
def test_the_table_has_a_row_a_text_and_a_column_a_scheme(resolver: Resolver) -> None:
    table = answers_table(resolver)
    assert table.columns == ["text", *resolver.checkpoint.config.schemes]
    everyday, longer, means, right = table.sections
    assert [row[0] for row in everyday + longer] == [*TEXTS, *LONGER_TEXTS]
    assert all(0 <= float(cell) <= 100 for row in everyday + longer + means for cell in row[1:])
    here = 100 * judged(resolver, "chat-boiler", LONGER_TEXTS["chat-boiler"]).conll_f1
    (chat,) = (row for row in longer if row[0] == "chat-boiler")
    assert chat[1] == f"{here:.1f}"  # the first scheme is the one for raw text
    assert [row[0] for row in right] == ["stories right", "passages right"]
