"""Imported models answer as the published formulas do on the published variables, evaluated literally."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from streamcoref.convert.importing import import_checkpoint
from streamcoref.document import Document
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.checkpoint import Checkpoint, load_checkpoint
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.segments import Segment
from tests.convert import fixture_values, literal_tf, make_authors_checkpoint
from tests.convert.bundle_writer import write_bundle

DATA = Path(__file__).parent / "data"
TINY = DATA / "spanbert_tiny"
GENRE = "nw"
NUMBER = fixture_values.GENRES.index(GENRE)
TOLERANCE = {"rtol": 2e-5, "atol": 2e-5}  # of 32-bit floats against doubles


def tf_variables() -> dict[str, np.ndarray]:
    return {name: array.astype(np.float64) for name, array in fixture_values.baseline_variables().items()}


def torch_variables(threshold: float) -> dict[str, np.ndarray]:
    state = make_authors_checkpoint.state_dict(threshold)
    return {name: tensor.numpy().astype(np.float64) for name, tensor in state.items()}


def document(seed: int, sentences: int = 24) -> Document:
    choose = random.Random(seed)
    words = [*(w for w in fixture_values.WORDS if w != "un"), "unseen", "captains", "stranger"]
    turns = [[choose.choice(words) for _ in range(choose.randint(2, 9))] for _ in range(sentences)]
    speakers = [name for turn in turns for name in [choose.choice(["Anna", "Carl"])] * len(turn)]
    return Document.from_sentences(f"{GENRE}/{seed}", turns, speakers=speakers, genre=GENRE)


def texts(segments: list[Segment]) -> list[literal_tf.Text]:
    return [
        literal_tf.Text(s.piece_ids.tolist(), s.word_of_piece.tolist(), s.sentence_of_piece.tolist(), s.position)
        for s in segments
    ]


def encode(segments: list[Segment]) -> list[np.ndarray]:
    variables = tf_variables()
    return [
        literal_tf.bert(variables, s.piece_ids.tolist(), fixture_values.LAYERS, fixture_values.HEADS) for s in segments
    ]


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    folder = tmp_path_factory.mktemp("baseline") / "out"
    import_checkpoint(TINY, folder)
    return load_checkpoint(folder)


def incremental(folder: Path, threshold: float) -> Checkpoint:
    make_authors_checkpoint.save(folder / "checkpoint.bin", threshold)
    import_checkpoint(folder / "checkpoint.bin", folder / "out", encoder=TINY)
    return load_checkpoint(folder / "out")


def cut(checkpoint: Checkpoint, text: Document) -> list[Segment]:
    return checkpoint.segmenter.cut(text)


@torch.inference_mode()
def test_piece_vectors(baseline: Checkpoint) -> None:
    segments = cut(baseline, document(0))
    assert len(segments) > 2
    for segment, literal in zip(segments, encode(segments), strict=True):
        np.testing.assert_allclose(baseline.model.encoder([segment])[0].numpy(), literal, **TOLERANCE)


@torch.inference_mode()
@pytest.mark.parametrize("seed", range(3))
def test_mention_scores(baseline: Checkpoint, tmp_path: Path, seed: int) -> None:
    segments = cut(baseline, document(seed))
    for checkpoint, parts in (
        (baseline, literal_tf.tf_span_parts(tf_variables())),
        (incremental(tmp_path, 0.0), literal_tf.torch_span_parts(torch_variables(0.0))),
    ):
        for segment, text, pieces in zip(segments, texts(segments), encode(segments), strict=True):
            candidates, scores = checkpoint.model.spans.score(checkpoint.model.encoder([segment])[0], segment, 0)
            literal = literal_tf.candidates(parts, text, pieces)
            places = (candidates.starts + segment.position, candidates.ends + segment.position)
            assert list(zip(*(p.tolist() for p in places), strict=True)) == [(s.start, s.end) for s in literal]
            np.testing.assert_allclose(scores.link.numpy(), [s.score for s in literal], **TOLERANCE)


@pytest.mark.parametrize("seed", range(3))
def test_the_baseline_finds_the_same_antecedents(baseline: Checkpoint, seed: int) -> None:
    compare_antecedents(baseline, tf_variables(), seed)


def test_a_baseline_that_tells_more_segments_apart(tmp_path: Path) -> None:
    """The published bert_base tells 11, the others 3."""
    name = "coref_layer/segment_distance/segment_distance_embeddings"
    table = fixture_values.values(name, (11, fixture_values.FEATURE))
    write_bundle(tmp_path / "model.max.ckpt", fixture_values.baseline_variables() | {name: table})
    import_checkpoint(tmp_path, tmp_path / "out", encoder=TINY)
    compare_antecedents(load_checkpoint(tmp_path / "out"), tf_variables() | {name: table.astype(np.float64)}, 0)


@torch.inference_mode()
def compare_antecedents(baseline: Checkpoint, variables: dict[str, np.ndarray], seed: int) -> None:
    text = document(seed)
    segments = cut(baseline, text)
    model = baseline.model
    assert isinstance(model, BaselineModel)
    model.pair_score.shortlist = 5  # fewer than the 50 published, so that the coarse score decides something
    spans, antecedents = model.resolve([model.encoder([s])[0] for s in segments], segments, model.reading(GENRE))
    kept, scores = literal_tf.baseline(
        variables, texts(segments), encode(segments), text.speakers, NUMBER, baseline.config.spans.ratio, 5
    )
    assert spans.words == [span.words for span in kept]
    joined = 0
    for row, (literal, columns, values) in enumerate(
        zip(scores, antecedents.rows.tolist(), antecedents.scores.tolist(), strict=True)
    ):
        ours = dict(list(zip(columns, values, strict=True))[: min(row, 5)])
        assert ours.keys() == literal.keys()
        np.testing.assert_allclose([ours[j] for j in literal], list(literal.values()), rtol=2e-4, atol=2e-4)
        joined += max(ours.values(), default=0) > 0
    assert 3 < joined < len(kept)


@torch.inference_mode()
@pytest.mark.parametrize("threshold", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_the_incremental_model_links_the_same(tmp_path: Path, seed: int, threshold: float) -> None:
    checkpoint = incremental(tmp_path, threshold)
    model = checkpoint.model
    assert isinstance(model, IncrementalModel)
    # the published distances, 600 and 1200, are longer than the text
    options = checkpoint.config.evict.model_copy(update={"singleton": 40, "cluster": 70})
    reading = model.reading(GENRE, evict=options.build())
    segments = cut(checkpoint, document(seed))
    results = list(model.read(segments, reading, model.service()))
    links = [link for result in results for link in result.links]
    alphas = [1 - link.share for link in links if not link.is_new]
    literal = literal_tf.incremental(
        torch_variables(threshold), texts(segments), encode(segments), NUMBER, checkpoint.config.spans.ratio, 40, 70
    )
    assert [(link.span, link.entity) for link in links] == [(d.words, d.entity) for d in literal]
    np.testing.assert_allclose([link.score for link in links], [d.score for d in literal], rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(alphas, [d.alpha for d in literal if d.alpha is not None], **TOLERANCE)
    assert any(result.evicted for result in results)
    assert 3 < len(alphas) < len(links) - 3
