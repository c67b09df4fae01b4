"""A state saved after any segment and loaded in another process goes on as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import Checkpoint, save_checkpoint
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.reading import SegmentResult
from streamcoref.model.segments import Segment
from streamcoref.model.state import VERSION, State
from tests.model import toys
from tests.model.test_exactness import ALL_FEATURES, CASES, COARSE_TO_FINE

WORDS = 260
ROOT = Path(__file__).parents[2]

# Loads the model and the states of a folder, reads on from each, and prints all links and evictions.
SCRIPT = """
import json, pathlib, sys
from streamcoref.document import Document
from streamcoref.model.checkpoint import load_checkpoint
from tests.model import toys
from tests.model.test_state import plain

answers = {}
for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    checkpoint = load_checkpoint(folder / "model")
    document = Document.from_sentences("x", json.loads((folder / "sentences.json").read_text()))
    segments = checkpoint.segmenter.cut(document)
    for path in sorted((folder / "states").iterdir()):
        state = checkpoint.model.load_state(path.read_bytes())
        results = toys.read(checkpoint.model, checkpoint.config, segments[int(path.name):], state)
        answers[f"{folder.name} {path.name}"] = plain(results)
print(json.dumps(answers))
"""


def make(case: str) -> tuple[Checkpoint, list[Segment]]:
    config = toys.config(**CASES[case], evict={"singleton": 20, "cluster": 60})
    checkpoint = Checkpoint(toys.model(config, 7), config, toys.tokenizer())
    return checkpoint, toys.cut(toys.document(3, WORDS), config.segments.max_pieces)


def plain(results: list[SegmentResult]) -> Any:
    """As JSON gives it back; floats survive unchanged."""
    return [
        {
            "links": [[list(x.span), x.entity, x.is_new, x.score, x.probability] for x in r.links],
            "evicted": [[e.id, e.notes] for e in r.evicted],
        }
        for r in results
    ]


@pytest.fixture
def one_thread() -> Iterator[None]:
    """As many threads here as in the other process, so that sums are made in the same order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.slow
def test_reading_on_in_another_process(tmp_path: Path) -> None:
    expected = {}
    for case in ("paper", "light"):
        checkpoint, segments = make(case)
        model = checkpoint.model
        assert isinstance(model, IncrementalModel)
        folder = tmp_path / case
        (folder / "states").mkdir(parents=True)
        save_checkpoint(folder / "model", checkpoint, "A card.\n")
        (folder / "sentences.json").write_text(json.dumps(toys.document(3, WORDS).sentences))
        whole = toys.read(model, checkpoint.config, segments)
        assert len(whole) >= 4
        assert any(not link.is_new for link in whole[-1].links)
        assert any(result.evicted for result in whole[1:])
        for cut in range(len(segments) + 1):
            state = model.new_state()
            toys.read(model, checkpoint.config, segments[:cut], state)
            (folder / "states" / str(cut)).write_bytes(state.to_bytes())
            expected[f"{case} {cut}"] = plain(whole[cut:])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        cwd=ROOT,  # for the tests' own modules
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected


@pytest.fixture(scope="module")
def read() -> tuple[IncrementalModel, State, bytes]:
    """A model, a state in the midst of a text, and its bytes."""
    checkpoint, segments = make("light")
    assert isinstance(checkpoint.model, IncrementalModel)
    state = checkpoint.model.new_state()
    toys.read(checkpoint.model, checkpoint.config, segments[:3], state)
    return checkpoint.model, state, state.to_bytes()


Read = tuple[IncrementalModel, State, bytes]


def test_everything_is_kept(read: Read) -> None:
    model, state, data = read
    loaded = model.load_state(data)
    count = len(state.memory)
    assert count > 3
    assert len(loaded.memory) == count
    assert loaded.memory.next_id == state.memory.next_id
    assert loaded.memory.notes.columns.keys() >= {"id", "size", "start", "place", "score", "forms", "last_words"}
    for name, column in state.memory.notes.columns.items():
        np.testing.assert_array_equal(loaded.memory.notes[name][:count], column[:count])
    torch.testing.assert_close(loaded.memory.rows[:count], state.memory.rows[:count], atol=0, rtol=0)
    assert (loaded.pieces, loaded.words) == (state.pieces, state.words)
    assert loaded.to_bytes() == data


def test_it_counts_what_was_read() -> None:
    checkpoint, segments = make("paper")
    document = toys.document(3, WORDS)
    state = checkpoint.model.new_state()
    for segment in segments:
        state.advance(segment)
        assert state.pieces == segment.end
        assert state.words == segment.first_word + len(segment.words)
    assert state.words == len(document.words)


def test_a_loaded_state_is_a_copy(read: Read) -> None:
    model, _, data = read
    one, two = model.load_state(data), model.load_state(data)
    one.memory.rows[0] += 1
    one.memory.sizes[0] += 1
    assert two.to_bytes() == data


def test_an_empty_state(read: Read) -> None:
    model, _, _ = read
    loaded = model.load_state(model.new_state().to_bytes())
    assert len(loaded.memory) == 0
    assert loaded.pieces == 0


def test_other_bytes_are_refused(read: Read) -> None:
    model, _, data = read
    others = [b"", b"hello", data[:100], data[:-1], data[len(data) // 2 :], data + b"x", bytes(len(data))]
    for other in [*others, save({"rows": torch.zeros(2, model.layout.size)}), save({"header": torch.zeros(3)})]:
        with pytest.raises(StreamcorefError, match="not a saved streamcoref state, or it is damaged"):
            model.load_state(other)


def changed(data: bytes, **values: Any) -> bytes:
    """The state with some values of its header set, or taken out (...)."""
    tensors = load(data)
    header = json.loads(tensors["header"].numpy().tobytes())
    for key, value in values.items():
        header.pop(key)
        if value is not ...:
            header[key] = value
    tensors["header"] = torch.frombuffer(bytearray(json.dumps(header).encode()), dtype=torch.uint8)
    return save(tensors)


def test_another_version_is_refused(read: Read) -> None:
    model, _, data = read
    assert model.load_state(changed(data, version=VERSION)).to_bytes() == data
    with pytest.raises(StreamcorefError, match=rf"has version 99, this release reads version {VERSION}"):
        model.load_state(changed(data, version=99))


def test_the_state_of_another_model_is_refused(read: Read) -> None:
    model, _, data = read
    other = make("paper")[0].model
    assert isinstance(other, IncrementalModel)
    message = rf"saved by another model: its entities have {model.layout.size} numbers, not {other.layout.size}"
    with pytest.raises(StreamcorefError, match=message):
        other.load_state(data)


def test_the_state_of_a_model_with_other_features_is_refused(read: Read) -> None:
    """The same row, but more is noted of an entity, or longer columns."""
    _, _, data = read
    match = {"name": "exact_match", "forms": 5}
    for features in ([*ALL_FEATURES, "agreement"], [*(f for f in ALL_FEATURES if f != "exact_match"), match]):
        case = {**CASES["light"], "pair_score": {**COARSE_TO_FINE, "features": features}}
        other = toys.model(toys.config(**case), 7)
        assert isinstance(other, IncrementalModel)
        with pytest.raises(StreamcorefError, match="another model: other things are noted of its entities"):
            other.load_state(data)


@pytest.mark.parametrize("key", ["version", "next_id", "pieces", "words", "texts"])
def test_a_header_that_misses_a_value_is_refused(read: Read, key: str) -> None:
    model, _, data = read
    with pytest.raises(StreamcorefError):
        model.load_state(changed(data, **{key: ...}))


@pytest.mark.parametrize("name", ["id", "size", "score", "forms"])
def test_a_state_that_misses_an_array_is_refused(read: Read, name: str) -> None:
    model, _, data = read
    tensors = load(data)
    tensors.pop(name)
    with pytest.raises(StreamcorefError):
        model.load_state(save(tensors))


def test_a_state_with_an_array_of_another_length_is_refused(read: Read) -> None:
    model, _, data = read
    tensors = load(data)
    tensors["size"] = tensors["size"][:-1].contiguous()
    with pytest.raises(StreamcorefError):
        model.load_state(save(tensors))


def test_a_state_with_an_unknown_array_is_refused(read: Read) -> None:
    model, _, data = read
    tensors = load(data)
    tensors["colours"] = tensors["size"].clone()
    with pytest.raises(StreamcorefError):
        model.load_state(save(tensors))
