"""Types as an answer: what an entity is by the votes of its mentions, in documents, streams, states and files."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from streamcoref import Document, EntityFinished, MentionLabels, Resolver, Store, StreamcorefError
from streamcoref._stream_state import pack_state, unpack_state
from streamcoref.events import with_answer
from streamcoref.formats import FORMATS
from streamcoref.text import document_from_text
from tests import toy_resolver
from tests.toy_resolver import TYPES, finished, typed_resolver

TEXT = toy_resolver.plain_text(5, 300)
LABELS: dict[str, Any] = {"labels": {"types": list(TYPES), "hidden": 24}}  # of which a random baseline makes several


def by_hand(resolver: Resolver, text: str) -> dict[tuple[int, int], tuple[str, float]]:
    """For each entity of the answer, by its first mention: the mean of what its spans' vectors say."""
    model, config, _ = resolver.checkpoint
    document = document_from_text("text", text)
    segments = resolver.checkpoint.segmenter.cut(document)
    votes: dict[int, list[torch.Tensor]] = defaultdict(list)
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    with torch.inference_mode():
        for result in model.read(segments, model.reading(evict=config.evict.build()), model.service()):
            vectors = torch.cat([part.vectors for part in result.spans])
            shares = torch.softmax(model.labels.heads["types"](vectors), -1)
            for link, share in zip(result.links, shares, strict=True):
                votes[link.entity].append(share)
                spans[link.entity].append(link.span)
    means = {entity: torch.stack(shares).mean(0) for entity, shares in votes.items() if len(shares) > 1}
    return {min(spans[e]): (TYPES[int(mean.argmax())], float(mean.max())) for e, mean in means.items()}


@pytest.mark.parametrize("resolver", [typed_resolver(), toy_resolver.make_baseline(**LABELS)], ids=["stream", "whole"])
def test_an_entity_is_what_its_mentions_say(resolver: Resolver) -> None:
    document = resolver.resolve(TEXT)
    expected = by_hand(resolver, TEXT)
    assert len(document.entities) > 5
    for entity in document.entities:
        first = entity.mentions[0]
        kind, score = expected[first.word_start, first.word_end]
        assert entity.type == kind
        assert entity.type_score == pytest.approx(score, abs=1e-5)
    assert len({entity.type for entity in document.entities}) > 1


def test_a_model_without_types_answers_as_before() -> None:
    document = toy_resolver.resolver().resolve(TEXT)
    assert document.types == {}
    assert {(entity.type, entity.type_score) for entity in document.entities} == {(None, None)}
    assert "type" not in document.to_dict()
    assert '"type"' not in written("json", document)
    assert ",type" not in written("csv", document)
    assert '"type":' not in written("html", document)


@pytest.mark.parametrize("step", [7, 100, 10_000])
def test_a_stream_says_the_same_however_it_is_cut_and_resumed(step: int) -> None:
    resolver = typed_resolver()
    stream = resolver.stream()
    events = []
    for first in range(0, len(TEXT), step):
        events += stream.feed(TEXT[first : first + step])
        if first // step % 3 == 2:
            stream = resolver.stream(stream.state())
    alive = stream.entities()
    assert {event.type for event in alive} <= set(TYPES)
    events += stream.close()
    whole = resolver.resolve(TEXT)
    answered = with_answer(replace(whole, predicted_clusters=None, scores={}, types={}), events)
    assert answered.types == whole.types
    assert all(event.type in TYPES and 0 < (event.type_score or 0) <= 1 for event in finished(events))


def test_what_is_remembered_of_an_entity_does_not_grow() -> None:
    stream = typed_resolver().stream(evict="none:budget=3")
    for _ in range(4):
        stream.feed(TEXT)
        values, _ = unpack_state(stream.state())
        assert {len(entity[-1]) for entity in values["entities"].values()} == {len(TYPES)}


@pytest.mark.parametrize("votes", [[], [0.0] * 4, [1.0] * 3, [1.0] * 5, [-1.0, 1.0, 1.0, 1.0], ["1"] * 4])
def test_a_state_with_other_votes_is_refused(votes: list[Any]) -> None:
    stream = typed_resolver().stream()
    stream.feed(TEXT)
    values, memory = unpack_state(stream.state())
    next(iter(values["entities"].values()))[-1] = votes
    del values["version"]
    with pytest.raises(StreamcorefError, match="damaged"):
        typed_resolver().stream(pack_state(values, memory))


def written(name: str, document: Document) -> str:
    stream = io.StringIO()
    known = FORMATS[name]
    assert known.write is not None
    known.write([document], stream)
    return stream.getvalue()


ANN = Document.from_sentences(
    "ann", [["Ann", "ran", "."], ["She", "fell", "."]], predicted_clusters=[[(0, 1), (3, 4)], [(1, 2)]]
)
TYPED = replace(ANN, types={(0, 1): ("person", 0.75)})


def test_types_in_the_formats() -> None:
    ann, ran = json.loads(written("json", TYPED))[0]["entities"]
    assert (ann["type"], ann["type_score"]) == ("person", 0.75)
    assert "type" not in ran
    assert "\nAnn (person, 2 mentions)\n" in written("entities", TYPED)
    assert '{"name":"Ann","type":"person","spans":' in written("html", TYPED)
    mention = TYPED.entities[0].mentions[0]
    event = EntityFinished(3, "Ann", 2, mention, mention, "person", 0.75)
    to_line = FORMATS["events"].write_event
    assert to_line is not None
    line = json.loads(to_line(event, "ann"))
    assert (line["type"], line["type_score"]) == ("person", 0.75)
    assert "type" not in json.loads(to_line(replace(event, type=None, type_score=None), "ann"))


def test_types_in_a_store(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    expected = {
        (entity.mentions[0].word_start, entity.mentions[0].word_end): (entity.type, entity.type_score)
        for entity in typed_resolver().resolve(TEXT).entities
    }
    with typed_resolver().resolve_file(tmp_path / "text.txt", tmp_path / "text.sqlite") as store:
        assert isinstance(store, Store)
        found = {}
        for entity in store.entities():
            first = next(store.mentions(entity.id))
            found[first.word_start, first.word_end] = entity.type, entity.type_score
    assert found == expected


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_types_in_data_frames(kind: Any) -> None:
    pytest.importorskip(kind)
    assert list(TYPED.to_frame(kind)["type"])[:2] == ["person", None] or TYPED.to_frame(kind)["type"][0] == "person"
    assert list(TYPED.entities_to_frame(kind).columns)[-2:] == ["type", "type_score"]
    assert TYPED.entities_to_frame(kind)["type_score"][0] == 0.75
    assert "type" not in list(ANN.to_frame(kind).columns)
    assert "type" not in list(ANN.entities_to_frame(kind).columns)


def test_gold_entities_have_the_type_that_most_of_their_mentions_have() -> None:
    labels = {
        (0, 1): MentionLabels(("person",)),
        (3, 4): MentionLabels(("place", "facility")),
        (4, 5): MentionLabels(("place", "facility")),
        (1, 2): MentionLabels(kind="NOM"),
    }
    clusters = (((0, 1), (3, 4), (4, 5)), ((1, 2),), ((2, 3),))
    gold = replace(ANN, clusters=clusters, predicted_clusters=None, labels=labels)
    assert [entity.type for entity in gold.entities] == ["place", None, None]
    assert [entity.type for entity in replace(gold, predicted_clusters=clusters).entities] == [None, None, None]
