"""What a Document does with every kind of clusters, and which values it refuses."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from itertools import chain
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref import Document, Mention, Section, StreamcorefError
from streamcoref.document import as_clusters, merge_clusters

WORDS = ("Ann", "and", "her", "dog", "ran", ".", "They", "fell", ".")


def document(*clusters: tuple[tuple[int, int], ...]) -> Document:
    return Document("d", WORDS, (6, 9), clusters)


def test_nested_overlapping_and_crossing_mentions_are_kept() -> None:
    nested = document(((0, 4), (6, 7)), ((0, 1), (2, 3)), ((2, 4),))
    assert nested.clusters == (((0, 1), (2, 3)), ((0, 4), (6, 7)), ((2, 4),))
    crossing = document(((0, 3),), ((2, 5),))
    assert crossing.clusters == (((0, 3),), ((2, 5),))
    in_one_cluster = document(((0, 4), (2, 3), (1, 7)))
    assert in_one_cluster.clusters == (((0, 4), (1, 7), (2, 3)),)


def test_a_repeated_mention_counts_once() -> None:
    assert document(((6, 7), (0, 4), (6, 7))).clusters == (((0, 4), (6, 7)),)


def test_clusters_that_share_a_mention_are_merged() -> None:
    assert document(((0, 1), (2, 3)), ((6, 7), (2, 3))).clusters == (((0, 1), (2, 3), (6, 7)),)
    chained = document(((0, 1), (1, 2)), ((3, 4), (4, 5)), ((1, 2), (3, 4)), ((7, 8),))
    assert chained.clusters == (((0, 1), (1, 2), (3, 4), (4, 5)), ((7, 8),))


def test_empty_clusters_vanish_and_singletons_stay() -> None:
    assert document((), ((4, 5),)).clusters == (((4, 5),),)


def test_predicted_clusters_are_put_in_the_same_form() -> None:
    answered = replace(document(((0, 1),)), predicted_clusters=(((6, 7), (0, 4)), ((0, 4),), ()))
    assert answered.predicted_clusters == (((0, 4), (6, 7)),)
    assert answered.clusters == (((0, 1),),)
    assert document().predicted_clusters is None


spans = st.tuples(st.integers(0, 8), st.integers(1, 9)).map(lambda pair: (min(pair), max(pair[0] + 1, pair[1])))


@given(st.lists(st.lists(spans, max_size=4), max_size=6), st.randoms(use_true_random=False))
def test_normal_form(clusters: list[list[tuple[int, int]]], random: Random) -> None:
    """Every mention in one cluster, all of a given cluster together, no matter the order; and again is no change."""
    merged = merge_clusters(clusters)
    mentions = list(chain.from_iterable(merged))
    assert len(mentions) == len(set(mentions))
    assert set(mentions) == set(chain.from_iterable(clusters))
    for cluster in filter(None, clusters):
        assert sum(set(cluster) <= set(whole) for whole in merged) == 1
    shuffled = [list(cluster) for cluster in clusters]
    for cluster in shuffled:
        random.shuffle(cluster)
    random.shuffle(shuffled)
    assert merge_clusters(shuffled) == merged == merge_clusters(merged)
    assert all(list(cluster) == sorted(cluster) for cluster in merged)
    assert list(merged) == sorted(merged)


def test_empty_document() -> None:
    empty = Document("e", (), ())
    assert (empty.sentences, empty.entities, empty.sentence_of_word) == ((), (), ())
    assert empty.with_text().text == ""
    with pytest.raises(StreamcorefError, match="the document has 0 words"):
        Document("e", (), (), (((0, 1),),))


def test_one_word_document() -> None:
    one = Document("o", ("Go",), (1,), (((0, 1),),))
    assert one.sentences == (("Go",),)
    (entity,) = one.entities
    assert (entity.id, entity.name, entity.size) == (0, "Go", 1)


@pytest.mark.parametrize("span", [(-1, 1), (8, 10), (3, 3), (4, 2)])
def test_a_mention_outside_the_document_is_an_error(span: tuple[int, int]) -> None:
    with pytest.raises(StreamcorefError, match=r"document 'd': a cluster has the mention .* 9 words, 0 to 8"):
        document((span,))
    with pytest.raises(StreamcorefError, match="a cluster has the mention"):
        replace(document(), predicted_clusters=((span,),))


@pytest.mark.parametrize("ends", [(), (6,), (6, 10), (6, 6, 9), (9, 6), (0, 9)])
def test_sentences_must_cover_the_words(ends: tuple[int, ...]) -> None:
    with pytest.raises(StreamcorefError, match="sentences must be non-empty and cover all 9 words"):
        Document("d", WORDS, ends)


def test_wrong_numbers_of_speakers_and_offsets() -> None:
    with pytest.raises(StreamcorefError, match="2 speakers for 9 words"):
        Document("d", WORDS, (6, 9), speakers=("A", "B"))
    with pytest.raises(StreamcorefError, match="1 character offsets for 9 words"):
        Document("d", WORDS, (6, 9), text="Ann", offsets=((0, 3),))
    with pytest.raises(StreamcorefError, match="character offsets without a text"):
        Document("d", ("Ann",), (1,), offsets=((0, 3),))


def test_mentions_and_entities_have_characters_of_the_original_text() -> None:
    text = "Ann\r\nran.  She fell."
    offsets = ((0, 3), (5, 8), (8, 9), (11, 14), (15, 19), (19, 20))
    words = tuple(text[a:b] for a, b in offsets)
    gold = Document("d", words, (3, 6), (((0, 1), (3, 4)), ((0, 3),)), text=text, offsets=offsets, scores={(3, 4): 0.5})
    first, second = gold.entities
    assert first.mentions == (Mention(0, 1, 0, 3, "Ann", 0), Mention(3, 4, 11, 14, "She", 1, 0.5))
    assert (first.id, first.name, first.size) == (0, "Ann", 2)
    assert (second.id, second.mentions[0].text) == (1, "Ann\r\nran.")
    assert gold.with_text() is gold


def test_entities_are_the_predicted_ones_if_there_are_any() -> None:
    gold = document(((0, 1), (2, 3)))
    assert [entity.size for entity in gold.entities] == [2]
    assert [entity.size for entity in replace(gold, predicted_clusters=(((0, 4),),)).entities] == [1]
    assert replace(gold, predicted_clusters=()).entities == ()


def test_without_text_there_are_no_character_offsets_until_asked_for() -> None:
    plain = document(((0, 4), (6, 7)))
    mention = plain.mention((0, 4))
    assert (mention.start, mention.end, mention.text) == (None, None, "Ann and her dog")
    full = plain.with_text()
    assert full.text == "Ann and her dog ran .\nThey fell ."
    assert all(full.text[a:b] == word for (a, b), word in zip(full.offsets, full.words, strict=True))
    assert (full.clusters, full.key, full.sentence_ends) == (plain.clusters, plain.key, plain.sentence_ends)
    assert full.mention((6, 7)).start == 22


def test_sentences() -> None:
    assert document().sentences == (WORDS[:6], WORDS[6:])
    assert document().sentence_of_word == (0,) * 6 + (1,) * 3
    assert document().mention((7, 8)).sentence == 1


def test_from_sentences() -> None:
    built = Document.from_sentences(
        "k", [["a", "b"], [], ["c"]], clusters=[[[0, 1], [2, 3]]], speakers=["A", "A", ""], genre="g"
    )
    assert built == Document("k", ("a", "b", "c"), (2, 3), (((0, 1), (2, 3)),), None, ("A", "A", ""), "g")
    assert Document.from_sentences("k", [["a"]], predicted_clusters=[[(0, 1)]]).predicted_clusters == (((0, 1),),)


def test_values_are_plain() -> None:
    assert as_clusters([[[0, 1], [2, 3]]]) == (((0, 1), (2, 3)),)
    with pytest.raises(FrozenInstanceError):
        document().key = "other"  # type: ignore[misc]
    assert document(((0, 1), (2, 3))) == document(((2, 3), (0, 1), (0, 1)))


@pytest.mark.parametrize("offsets", [((0, 4), (5, 99)), ((0, 4), (8, 5))])
def test_character_offsets_outside_the_text_are_refused(offsets: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(StreamcorefError, match="outside its text"):
        Document("x", ("Anna", "ran"), (2,), text="Anna ran", offsets=offsets)


LONG = Document("long", ("Ann",) * 5000, (5000,), (((0, 1), (1, 2)),), (((2, 3),),), scores={(2, 3): 0.5})


def test_a_document_is_shown_in_a_line() -> None:
    assert repr(LONG) == (
        "<Document key='long', 5,000 words, 1 sentence, 1 entity found, 1 gold entity: "
        "'Ann Ann Ann Ann Ann Ann Ann Ann…'>"
    )
    assert repr(Document("", (), ())) == "<Document key='', 0 words, 0 sentences: ''>"
    assert len(repr(Document("wide", ("x" * 10_000,), (1,)))) < 200


def test_a_document_is_a_value() -> None:
    """It can be a key, be copied and be sent to another process."""
    assert LONG.entities
    twins = [copy.copy(LONG), copy.deepcopy(LONG), pickle.loads(pickle.dumps(LONG)), replace(LONG)]
    assert {LONG, *twins} == {LONG}
    assert all(twin == LONG and twin.entities == LONG.entities for twin in twins)
    assert hash(LONG) != hash(replace(LONG, key="other"))


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ([Section("I", 1, 0, 99)], "a section lies outside its text"),
        ([Section("I", 1, -1, 2)], "a section lies outside its text"),
        ([Section("I", 1, 3, 2)], "a section lies outside its text"),
        ([Section("I", 0, 0, 2)], "has a level below 1"),
        ([Section("I", 1, 4, 6), Section("II", 1, 0, 4)], "sections must be in the order of the text"),
    ],
)
def test_sections_that_cannot_be(sections: list[Section], message: str) -> None:
    with pytest.raises(StreamcorefError, match=message):
        replace(document().with_text(), sections=tuple(sections))
    with pytest.raises(StreamcorefError, match="lies outside"):
        replace(document(), sections=(Section("I", 1, 0, 1),))


def test_sections_stay_with_the_answer() -> None:
    sections = Section("I", 1, 0, 20), Section("a", 2, 3, 20), Section("II", 1, 20, 30)
    given = replace(document().with_text(), sections=sections)
    assert replace(given, predicted_clusters=()).sections == sections
