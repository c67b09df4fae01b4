"""Which entities are right for a span, given where the model has put the mentions before it."""

from __future__ import annotations

import pytest

from streamcoref.training.labels import Labeller, Objective, mention_labels

GOLD = (((0, 1), (4, 6), (8, 9), (12, 13)), ((2, 3), (10, 11)))
EVERYONE = range(100)


def labeller(objective: Objective = "most_recent") -> Labeller:
    return Labeller(GOLD, objective)


def test_the_first_mention_of_a_cluster_starts_an_entity() -> None:
    assert labeller().targets((0, 1), EVERYONE) == set()


def test_a_span_outside_the_gold_clusters_starts_an_entity() -> None:
    labels = labeller()
    labels.place((0, 1), 0)
    labels.place((5, 6), 0)
    assert labels.targets((5, 6), EVERYONE) == set()
    assert labels.targets((8, 9), EVERYONE) == {0}


def test_the_entity_of_the_most_recent_antecedent_is_right_wherever_the_model_put_it() -> None:
    labels = labeller()
    labels.place((0, 1), 0)
    labels.place((4, 6), 7)  # the model's mistake
    assert labels.targets((8, 9), EVERYONE) == {7}
    labels.place((8, 9), 0)
    assert labels.targets((12, 13), EVERYONE) == {0}


def test_an_antecedent_that_was_not_proposed_does_not_count() -> None:
    labels = labeller()
    labels.place((0, 1), 3)
    assert labels.targets((12, 13), EVERYONE) == {3}  # (4, 6) and (8, 9) were never placed


def test_every_mention_stays_known_however_many_follow() -> None:
    """The reference knows only the latest mention of each entity after a segment, and labels the rest "new"."""
    labels = labeller()
    labels.place((0, 1), 0)
    labels.place((2, 3), 0)  # the same entity gets a mention of another cluster ...
    for word in range(20, 60):
        labels.place((word, word + 1), 0)  # ... and many of none
    assert labels.targets((4, 6), EVERYONE) == {0}
    assert labels.targets((10, 11), EVERYONE) == {0}


@pytest.mark.parametrize(("objective", "right"), [("most_recent", {1}), ("all", {0, 1})])
def test_evicted_entities_do_not_count(objective: Objective, right: set[int]) -> None:
    labels = labeller(objective)
    for span, entity in [((0, 1), 0), ((4, 6), 1), ((8, 9), 2)]:
        labels.place(span, entity)
    assert labels.targets((12, 13), {0, 1, 5}) == right
    assert labels.targets((12, 13), {5}) == set()


def test_all_entities_that_hold_an_antecedent_are_right_if_so_wanted() -> None:
    labels = labeller("all")
    for span, entity in [((0, 1), 0), ((4, 6), 1), ((2, 3), 2), ((8, 9), 0)]:
        labels.place(span, entity)
    assert labels.targets((12, 13), EVERYONE) == {0, 1}


def test_spans_that_start_or_end_inside_of_a_word_are_no_mentions() -> None:
    labels = labeller()
    labels.place((0, 1), 0)
    labels.place(None, 1)
    assert labels.targets(None, EVERYONE) == set()
    assert labels.targets((4, 6), EVERYONE) == {0}


def test_published_labels_are_of_the_mention_just_before() -> None:
    labels = labeller("published")
    labels.place((0, 1), 0)
    assert labels.targets((4, 6), EVERYONE) == {0}
    assert labels.targets((8, 9), EVERYONE) == set()  # (4, 6) was not proposed
    labels.place((4, 6), 7)
    assert labels.targets((8, 9), EVERYONE) == {7}
    assert labels.targets((8, 9), {0}) == set()


def test_published_labels_know_only_the_latest_mention_of_an_entity_after_a_segment() -> None:
    labels = labeller("published")
    labels.place((0, 1), 0)
    labels.place((2, 3), 1)
    labels.place(None, 0)  # entity 0 gets another span
    assert labels.targets((4, 6), EVERYONE) == {0}
    labels.end_segment()
    assert labels.targets((4, 6), EVERYONE) == set()
    assert labels.targets((10, 11), EVERYONE) == {1}


def test_mention_labels_mark_exactly_the_gold_mentions() -> None:
    candidates = [(0, 1), (0, 2), (4, 6), None, (6, 4)]
    gold = dict.fromkeys((span for cluster in GOLD for span in cluster), 1.0)
    assert mention_labels(candidates, gold).tolist() == [1, 0, 1, 0, 0]
