"""The speaker's name before each turn, for the encoder alone: words, spans and offsets stay the document's."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.document import Document
from streamcoref.formats import write_documents
from streamcoref.model.candidates import enumerate_candidates
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.segments import SPEAKER_PIECES, SPECIAL, Segment, Segmenter, SegmentOptions
from tests.model import toys
from tests.model.toy_answers import answer
from tests.training import synthetic

TOKENIZER = toys.tokenizer()
SPEAKERS = ["", "Anna", "Carl", "the old lighthouse keeper of the harbour"]


def dialogue() -> Document:
    return Document.from_sentences(
        "toy",
        [["Carl", "left", "."], ["he", "asked", "her", "."], ["lost", "?"]],
        speakers=["Anna"] * 5 + ["Carl"] * 2 + [""] * 2,
    )


def cut(document: Document, max_pieces: int = 64, speakers_as_text: bool = True) -> list[Segment]:
    return Segmenter(TOKENIZER, SegmentOptions(max_pieces=max_pieces, speakers_as_text=speakers_as_text)).cut(document)


def pieces_of(*words: str) -> list[int]:
    return [piece for word in TOKENIZER(words) for piece in word]


def test_the_name_is_read_before_each_turn() -> None:
    (segment,) = cut(dialogue())
    assert segment.piece_ids.tolist() == [
        TOKENIZER.first,
        *pieces_of("Anna", ":", "Carl", "left", ".", "he", "asked"),
        *pieces_of("Carl", ":", "her", ".", "lost", "?"),  # an unknown speaker has no name to read
        TOKENIZER.last,
    ]
    assert segment.texts == dialogue().words
    kept = segment.word_of_piece != SPECIAL
    (plain,) = cut(dialogue(), speakers_as_text=False)
    assert segment.piece_ids[kept].tolist() == plain.piece_ids[1:-1].tolist()
    assert segment.word_of_piece[kept].tolist() == plain.word_of_piece[1:-1].tolist()
    assert segment.sentence_of_piece[kept].tolist() == plain.sentence_of_piece[1:-1].tolist()


def test_without_the_option_or_without_speakers_nothing_changes() -> None:
    silent = Document.from_sentences("toy", dialogue().sentences)
    (without,), (unknown,) = cut(dialogue(), speakers_as_text=False), cut(silent)
    assert without.piece_ids.tolist() == unknown.piece_ids.tolist()


@given(
    st.lists(st.tuples(st.sampled_from(toys.WORDS), st.sampled_from(SPEAKERS)), min_size=1, max_size=60),
    st.integers(12, 40),
    st.booleans(),
)
def test_no_candidate_reaches_into_or_over_a_name_and_segments_stay_within_their_size(
    said: list[tuple[str, str]], max_pieces: int, word_boundaries: bool
) -> None:
    words, speakers = zip(*said, strict=True)
    sentences = [words[first : first + 7] for first in range(0, len(words), 7)]
    document = Document.from_sentences("toy", sentences, speakers=speakers)
    segments = cut(document, max_pieces)
    assert [word for segment in segments for word in segment.texts] == list(words)
    position = 0
    for segment in segments:
        assert len(segment) <= max_pieces
        assert segment.position == position
        position = segment.end
        candidates = enumerate_candidates(segment, 10, word_boundaries)
        for start, end in zip(candidates.starts, candidates.ends, strict=True):
            assert (segment.word_of_piece[start : end + 1] != SPECIAL).all()
        turns = [
            number
            for number in range(segment.first_word, segment.first_word + len(segment.words))
            if speakers[number] and (number == 0 or speakers[number - 1] != speakers[number])
        ]
        named = {
            int(word)
            for earlier, word in pairwise(segment.word_of_piece[1:].tolist())
            if earlier == SPECIAL and word != SPECIAL
        }
        assert named == set(turns)
        assert (segment.word_of_piece == SPECIAL).sum() - 2 <= SPEAKER_PIECES * len(turns)


@pytest.mark.parametrize("kind", ["incremental", "baseline"])
def test_predictions_are_spans_of_the_document(kind: str) -> None:
    changes = synthetic.BASELINE if kind == "baseline" else {}
    config = toys.config(**changes, segments={"max_pieces": 24, "speakers_as_text": True}, spans={"ratio": 2.0})
    plain = toys.document(3, 80)
    speakers = [SPEAKERS[number // 9 % 4] for number in range(80)]
    document = Document.from_sentences("toy", plain.sentences, speakers=speakers).with_text()
    model = toys.model(config, 0)
    answered = answer(Checkpoint(model, config, TOKENIZER), document)
    assert answered.predicted_clusters
    assert (answered.words, answered.offsets, answered.text) == (document.words, document.offsets, document.text)
    for entity in answered.entities:
        for mention in entity.mentions:
            assert mention.text == " ".join(document.words[mention.word_start : mention.word_end])
    if isinstance(model, IncrementalModel):  # and the names do change what the encoder makes of the words
        without = toys.config(segments={"max_pieces": 24}, spans={"ratio": 2.0})
        assert answer(Checkpoint(model, without, TOKENIZER), document).scores != answered.scores


def test_a_model_trains_with_it(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=1, epochs=1)
    write_documents([dialogue()], tmp_path / "said.jsonl", "jsonlines")
    values["corpora"][0]["path"] = str(tmp_path / "said.jsonl")
    values["model"]["changes"]["segments"] = {"speakers_as_text": True}
    run = synthetic.new_run(values)
    assert pieces_of("Anna", ":")[0] == run.start.train[0].examples[0].segments[0].piece_ids[1]
    assert run.train()
