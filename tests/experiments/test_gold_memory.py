"""Eviction from gold data: against known cases and against a literal simulation without the model's memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.document import Document
from streamcoref.experiments.gold_memory import Outcome, follow, gold_segments, needed_entities
from streamcoref.model.evict import parse_eviction
from tests.experiments.toy_experiments import long_document
from tests.model import toys

TOKENIZER = toys.tokenizer()
PIECES = 22  # a segment: two sentences of ten words of one piece, and two special pieces


def outcome(document: Document, policy: str, pieces: int = PIECES) -> Outcome:
    return follow(gold_segments(document, TOKENIZER, pieces), parse_eviction(policy).build())


def test_positions_are_those_of_the_models_pieces() -> None:
    document = Document.from_sentences(
        "x", [["the", "lighthouse", "keeper", "left", "."], ["he", "lost", "unbelievable", "."]], [[(0, 3), (5, 6)]]
    )
    (segment,) = gold_segments(document, TOKENIZER, 64)
    (whole,) = toys.cut(document, 64)
    assert segment.end == len(whole)
    first, second = segment.mentions
    assert whole.word_of_piece[first.start : first.end + 1].tolist() == [0, 1, 1, 2]
    assert whole.word_of_piece[second.start : second.end + 1].tolist() == [5]
    assert whole.word_of_piece[first.start - 1] == -1  # the special piece counts: positions are the model's


def test_a_distance_equal_to_the_limit_is_kept_and_one_more_is_not() -> None:
    # Word 0 is piece 1. After segment k, 22k pieces are read: the distance from it is 22k - 1.
    document = long_document([(0, 0), (60, 0)], 80)  # comes back in the fourth segment, after three evictions
    assert outcome(document, "one_distance:distance=65").kept == 1
    assert outcome(document, "one_distance:distance=64").kept == 0
    assert outcome(document, "two_distances:singleton=65,cluster=1000").kept == 1
    assert outcome(document, "two_distances:singleton=64,cluster=1000").kept == 0


def test_an_entity_of_two_mentions_is_no_singleton_any_more() -> None:
    document = long_document([(0, 0), (2, 0), (60, 0)], 80)
    assert outcome(document, "two_distances:singleton=1,cluster=1000") == (2, 2, 1, [((0, 1), (2, 3), (60, 61))])


def test_a_mention_whose_entity_is_gone_starts_anew_and_can_be_found_again() -> None:
    document = long_document([(0, 0), (60, 0), (62, 0)], 80)
    found = outcome(document, "one_distance:distance=30")
    assert found == (2, 1, 1, [((0, 1),), ((60, 61), (62, 63))])


def test_the_peak_is_taken_before_eviction() -> None:
    document = long_document([(0, 0), (1, 1), (2, 2), (40, 3)], 80)
    assert outcome(document, "none").peak_entities == 4
    assert outcome(document, "one_distance:distance=1").peak_entities == 3
    assert outcome(document, "none:budget=1").peak_entities == 3  # one stays, and one comes


def test_a_mention_cut_by_the_end_of_a_segment_is_read_where_it_ends() -> None:
    document = Document.from_sentences("x", [["saw"] * 12], [[(5, 7), (11, 12)]])
    segments = gold_segments(document, TOKENIZER, 8)
    assert [len(segment.mentions) for segment in segments] == [0, 2]
    assert outcome(document, "none", 8).kept == 1


def test_an_empty_document_has_nothing_to_lose() -> None:
    assert outcome(Document("x", (), ()), "one_distance:distance=5") == (0, 0, 0, [])


MENTIONS = st.lists(st.tuples(st.integers(0, 119), st.integers(0, 5)), max_size=25, unique_by=lambda m: m[0])
POLICIES = st.one_of(
    st.builds(lambda s, c: ("two", s, s + c), st.integers(1, 80), st.integers(0, 80)),
    st.builds(lambda d: ("one", d, d), st.integers(1, 120)),
    st.builds(lambda d: ("size", d, 90), st.integers(1, 60)),
    st.just(("none", 10**6, 10**6)),
)


def literal(mentions: list[tuple[int, int]], kind: str, a: int, b: int) -> tuple[int, int, int]:
    """Antecedents, kept and peak: one list of [cluster, size, piece of the latest mention] for the entities alive."""
    alive: list[list[int]] = []
    seen: set[int] = set()
    antecedents = kept = peak = 0
    for segment in range(6):
        for word, cluster in sorted(m for m in mentions if m[0] // 20 == segment):
            piece = segment * 22 + 1 + word % 20
            antecedents += cluster in seen
            seen.add(cluster)
            entity = next((e for e in alive if e[0] == cluster), None)
            if entity is None:
                alive.append([cluster, 1, piece])
            else:
                kept += 1
                entity[1:] = [entity[1] + 1, piece]
        peak = max(peak, len(alive))
        limits = [{"two": a if e[1] == 1 else b, "size": min(a * e[1], b)}.get(kind, a) for e in alive]
        alive = [e for e, limit in zip(alive, limits, strict=True) if (segment + 1) * 22 - e[2] <= limit]
    return antecedents, kept, peak


@given(MENTIONS, POLICIES)
def test_the_models_memory_keeps_what_a_literal_one_keeps(
    mentions: list[tuple[int, int]], policy: tuple[str, int, int]
) -> None:
    kind, a, b = policy
    text = {
        "two": f"two_distances:singleton={a},cluster={b}",
        "one": f"one_distance:distance={a}",
        "size": f"size_times_distance:distance={a},longest={b}",
        "none": "none",
    }[kind]
    document = long_document(mentions, 120)
    found = outcome(document, text)
    assert found[:3] == literal(mentions, *policy)
    assert sorted(s for c in found.clusters for s in c) == sorted(s for c in document.clusters for s in c)
    assert len(found.clusters) == len(document.clusters) + found.antecedents - found.kept


@given(MENTIONS)
def test_who_knows_the_future_needs_only_entities_that_come_back(mentions: list[tuple[int, int]]) -> None:
    segments = gold_segments(long_document(mentions, 120), TOKENIZER, PIECES)
    homes: dict[int, list[int]] = {}
    for word, cluster in mentions:
        homes.setdefault(cluster, []).append(word // 20)
    needed = max((sum(min(h) <= now <= max(h) for h in homes.values()) for now in range(6)), default=0)
    assert needed_entities(segments) == needed


@pytest.mark.corpus
def test_litbank_as_published_by_the_papers_policy(shared: object) -> None:
    """A figure of docs/reproducing.md would need its tokenizer; this is the order of things with the toy one."""
    from pathlib import Path

    from streamcoref.corpora import read_corpus

    documents = list(read_corpus(Path(str(shared)) / "corpora/litbank/dev.ids"))
    none = [outcome(d, "none", 512) for d in documents]
    paper = [outcome(d, "two_distances:singleton=600,cluster=1200", 512) for d in documents]
    assert sum(o.antecedents for o in none) == sum(o.kept for o in none) == 3053 - 776
    assert sum(o.kept for o in paper) < sum(o.kept for o in none)
    assert max(o.peak_entities for o in paper) < max(o.peak_entities for o in none)
