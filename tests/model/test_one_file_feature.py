"""A pair feature owns its columns: a model that has it keeps them everywhere, one that has not keeps nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from safetensors.torch import load

from streamcoref.language import Quotations, Voices
from streamcoref.model import Checkpoint, FeatureOptions, Notes, PairFeature, Surroundings
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.features.agreement import Agreement
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.notes import ENTITY, SPAN, Array, IntArray
from streamcoref.model.span_readings import note_spans
from streamcoref.model.spans import SegmentSpans
from streamcoref.resolver import Resolver
from streamcoref.training.steps import Example, IncrementalOptions, incremental_step
from tests.model import toys
from tests.model.toy_answers import decisions

SEGMENTS = {"max_pieces": 32}


class SharesCapital(PairFeature):
    """Whether a span begins with the capital letter that an entity's latest mentions began with."""

    name = "shares_capital"
    buckets = 2
    span_columns = np.dtype([("capital", np.int64)])
    entity_columns = np.dtype([("capitals", np.int64, (2,))])

    def read(self, spans: SegmentSpans) -> dict[str, Array]:
        letters = [words[0][0] for words in spans.texts]
        return {"capital": np.array([ord(c) if c.isupper() else 0 for c in letters], dtype=np.int64)}

    def note(self, entities: Notes, slot: int, spans: Notes, span: int) -> None:
        entities["capitals"][slot] = [spans["capital"][span], entities["capitals"][slot, 0]]

    def compare(self, spans: Notes, entities: Notes) -> IntArray:
        mine = spans["capital"][..., None]
        same: IntArray = ((entities["capitals"] == mine) & (mine > 0)).any(-1)
        return same


@pytest.fixture(autouse=True)
def _shares_capital() -> Iterator[None]:
    """A feature that only these tests know."""

    class SharesCapitalOptions(FeatureOptions):
        name: Literal["shares_capital"] = "shares_capital"

        def build(self, around: Surroundings) -> PairFeature:
            return SharesCapital()

    yield
    del FeatureOptions.kinds["shares_capital"]


def checkpoint_with(*features: str, **changes: Any) -> Checkpoint:
    pair_score = {
        "name": "coarse_to_fine",
        "hidden": 16,
        "shortlist": 8,
        "features": ["distance", *features],
        "feature_size": 4,
    }
    config = toys.config(pair_score=pair_score, segments=SEGMENTS, **changes)
    return Checkpoint(toys.model(config, 0, spread=4.0), config, toys.tokenizer())


def kept_by(checkpoint: Checkpoint) -> dict[str, set[str]]:
    """The columns of spans and entities, besides those of every model, and what follows the text, by name."""
    model = checkpoint.model
    assert isinstance(model, IncrementalModel)
    state = model.new_state()
    segments = checkpoint.segmenter.cut(toys.document(0, 100))
    (spans,) = toys.read(model, checkpoint.config, segments, state)[-1].spans
    assert len(spans) > 0
    assert len(state.memory) > 0
    entity = set(ENTITY.names or ())
    return {
        "spans": note_spans(spans, model.pair_score.features.features).columns.keys() - set(SPAN.names or ()),
        "memory": state.memory.notes.columns.keys() - entity,
        "saved": load(state.to_bytes()).keys() - entity - {"rows", "header"},
        "tracks": {name for segment in segments for name in segment.tracks},
    }


def test_a_model_keeps_the_columns_of_its_features() -> None:
    assert kept_by(checkpoint_with("agreement")) == {
        "spans": {"kind", "name", "gender", "voice"},
        "memory": {"names", "genders", "voices"},
        "saved": {"names", "genders", "voices"},
        "tracks": {Voices.name, Quotations.name},  # who speaks is told by any model
    }
    assert kept_by(checkpoint_with("shares_capital")) == {
        "spans": {"capital"},
        "memory": {"capitals"},
        "saved": {"capitals"},
        "tracks": {Quotations.name},
    }


def test_a_model_without_a_feature_keeps_and_computes_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's model knows nothing of agreement, nor does it follow who says what."""

    def never(*_: object) -> None:
        raise AssertionError("nobody asked for it")

    document = toys.document(0, 100, vocabulary=toys.TALK)
    stream = Resolver(checkpoint_with("agreement"), Path()).stream()
    stream.feed_words(document.sentences)
    assert b'"voices"' in stream.state()
    for name in ("read", "note", "compare", "trackers"):
        monkeypatch.setattr(Agreement, name, never)
    monkeypatch.setattr(Voices, "read", never)
    assert kept_by(checkpoint_with()) == {"spans": set(), "memory": set(), "saved": set(), "tracks": {Quotations.name}}
    stream = Resolver(checkpoint_with(), Path()).stream()
    assert stream.feed_words(document.sentences)
    assert b'"voices"' not in stream.state()


def test_the_memory_is_smaller_without_it() -> None:
    sizes = []
    for features in ((), ("agreement",)):
        model = checkpoint_with(*features).model
        assert isinstance(model, IncrementalModel)
        memory = model.new_state().memory
        sizes.append((memory.nbytes - memory.rows.nbytes) // len(memory.rows))
    assert sizes[0] == ENTITY.itemsize
    assert sizes[1] == ENTITY.itemsize + 8 * (6 + 1 + 2)  # names, genders, voices


def other_table(checkpoint: Checkpoint) -> None:
    """Weights with which the feature counts for much."""
    scorer: Any = checkpoint.model.pair_score
    with torch.no_grad():
        scorer.features.tables["shares_capital"].weight.copy_(torch.tensor([[-9.0], [9.0]]).expand(2, 4))


def test_a_feature_counts_in_the_incremental_model() -> None:
    checkpoint = checkpoint_with("shares_capital")
    segments = checkpoint.segmenter.cut(toys.document(0, 100))
    before = decisions(toys.read(checkpoint.model, checkpoint.config, segments))
    other_table(checkpoint)
    assert decisions(toys.read(checkpoint.model, checkpoint.config, segments)) != before


def test_a_feature_counts_in_the_baseline() -> None:
    """And compares a span with an antecedent as with an entity of one mention."""
    checkpoint = checkpoint_with("shares_capital", kind="baseline")
    model, document = checkpoint.model, toys.document(0, 60)
    assert isinstance(model, BaselineModel)
    segments = checkpoint.segmenter.cut(document)
    with torch.inference_mode():
        spans, _ = model.resolve(model.encoder(segments), segments, model.reading())
        before = decisions(list(model.read(segments, model.reading(), model.service())))
        other_table(checkpoint)
        after = decisions(list(model.read(segments, model.reading(), model.service())))
    assert before != after
    firsts = [document.words[start][0] for start, _ in spans.words]
    (feature,) = (f for f in model.pair_score.features.features if f.name == "shares_capital")
    everyone = np.arange(len(firsts))
    buckets = feature.compare(spans.notes.at((everyone, None)), spans.as_entities.at(everyone))
    expected = [[a == b and a.isupper() for b in firsts] for a in firsts]
    assert np.array_equal(buckets, expected)
    assert 0 < np.sum(expected) < len(firsts) ** 2


def test_a_feature_is_trained() -> None:
    checkpoint = checkpoint_with("shares_capital")
    model = checkpoint.model.train()
    assert isinstance(model, IncrementalModel)
    document = toys.document(0, 100)
    document = replace(document, clusters=(tuple((i, i + 1) for i in range(0, 100, 2)),))
    example = Example(document, checkpoint.segmenter.cut(document), None, 0.0)
    incremental_step(model, example, IncrementalOptions(), model.encoder, np.random.default_rng(0), lambda: 0.0)
    scorer: Any = model.pair_score
    gradient = scorer.features.tables["shares_capital"].weight.grad
    assert (gradient.abs().sum(1) > 0).tolist() == [True, True]  # both buckets were seen


def test_two_features_with_a_column_of_one_name_are_refused() -> None:
    class Again(SharesCapital):
        name = "again"

    class AgainOptions(FeatureOptions):
        name: Literal["again"] = "again"

        def build(self, around: Surroundings) -> PairFeature:
            return Again()

    try:
        with pytest.raises(TypeError, match="two pair features have a column 'capital', or all spans and entities"):
            checkpoint_with("shares_capital", "again")
    finally:
        del FeatureOptions.kinds["again"]
