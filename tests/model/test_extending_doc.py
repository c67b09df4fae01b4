"""The examples of docs/extending.md run, in order, and do what the page says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import torch

from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from streamcoref.model.config import parse_config, preset
from streamcoref.model.incremental import IncrementalModel, SegmentResult
from streamcoref.model.parts import EncoderOptions, SegmentOptions
from streamcoref.model.segments import segment_document
from streamcoref.model.state import State
from tests.model import toys

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "the_page"}
    torch.manual_seed(0)
    assert len(blocks("python")) == 6
    for block in blocks("python"):
        exec(compile(block, "docs/extending.md", "exec", dont_inherit=True), names)
    return names


def run(model: IncrementalModel) -> tuple[list[SegmentResult], State]:
    segments = segment_document(toys.document(0, 200), toys.tokenizer(), 64)
    state = model.new_state()
    with torch.inference_mode():
        return list(model.eval().find_clusters(segments, state)), state


@pytest.mark.parametrize("name", ["cosine_model", "text_model", "steady_model", "evicting_model", "window_model"])
def test_every_model_of_the_page_reads_a_text(page: dict[str, Any], name: str) -> None:
    results, _ = run(page[name])
    assert sum(len(result.links) for result in results) > 50


def test_the_scorer(page: dict[str, Any]) -> None:
    model = page["cosine_model"]
    assert isinstance(model.pair_score, page["CosineScorer"])
    assert model.pair_score.threshold == 0.8
    assert model.pair_score.features.names == ("distance", "size")
    results, _ = run(model)
    joined = [link.is_new for result in results for link in result.links]
    assert True in joined
    assert False in joined


def test_the_scorer_that_reads_text(page: dict[str, Any]) -> None:
    results, state = run(page["text_model"])
    assert len(state.memory.texts) == len(state.memory) > 0
    words = toys.document(0, 200).words
    seen: dict[int, set[str]] = {}
    joined = 0
    for link in (link for result in results for link in result.links):
        mine = {word.lower() for word in words[slice(*link.span)]}
        joined += not link.is_new
        assert link.is_new or mine & seen[link.entity]  # what joins shares a word with what was there
        seen.setdefault(link.entity, set()).update(mine)
    assert joined > 10


def test_the_update_rule(page: dict[str, Any]) -> None:
    rule = page["steady_model"].update
    assert rule.weight(torch.zeros(3, 0), torch.zeros(3, 0), torch.ones(3)).tolist() == pytest.approx([0.7] * 3)
    assert rule.weight(torch.zeros(0), torch.zeros(0), 4.0) == 0.7


def test_the_policy(page: dict[str, Any]) -> None:
    _, state = run(page["evicting_model"])
    assert 0 < len(state.memory) <= 5


def test_the_encoder(page: dict[str, Any]) -> None:
    encoder = page["window_model"].encoder.eval()
    segments = toys.segments([12, 30, 5])
    with torch.inference_mode():
        for together, segment in zip(encoder(segments), segments, strict=True):
            torch.testing.assert_close(together, encoder([segment])[0], atol=1e-5, rtol=0)
    assert encoder.model.layers[0].kernel_size == (3,)


@pytest.mark.usefixtures("page")
def test_a_model_of_ones_own_parts_is_saved_and_loaded(tmp_path: Path) -> None:
    values = preset("tiny").model_dump()
    values |= {
        "encoder": {"architecture": {"model_type": "window", "width": 3}},
        "pair_score": {"name": "cosine"},
        "update": {"name": "steady"},
        "evict": {"name": "mentioned_last", "budget": 4},
    }
    config = parse_config(values, "x")
    checkpoint = Checkpoint(toys.model(config, 0), config, toys.tokenizer())
    save_checkpoint(tmp_path, checkpoint, "A card.\n")
    loaded = load_checkpoint(tmp_path).model
    assert isinstance(checkpoint.model, IncrementalModel)
    assert isinstance(loaded, IncrementalModel)
    assert run(loaded)[0] == run(checkpoint.model)[0]
    assert len(run(loaded)[1].memory) <= 4


def test_mistakes_are_reported_like_those_of_the_package(page: dict[str, Any]) -> None:
    with pytest.raises(StreamcorefError, match=r"^my config: pair_score\.colour: unknown key"):
        page["tiny_model_with"](pair_score={"name": "cosine", "colour": 1})
    with pytest.raises(StreamcorefError, match=r"^my config: evict\.places: .*integer"):
        page["tiny_model_with"](evict={"name": "mentioned_last", "places": "many"})


def test_the_config_example_parses() -> None:
    (example,) = blocks("toml")
    values = tomllib.loads(example)
    assert EncoderOptions.model_validate(values["encoder"]).trainable_from == 6
    assert SegmentOptions.model_validate(values["segments"]).max_pieces == 512


def test_the_names_of_features_are_those_there_are(page: dict[str, Any]) -> None:
    paragraph = PAGE[PAGE.index("- **Features.**") : PAGE.index("- **Shortlist.**")]
    names = re.findall(r"`(\w+)`", paragraph[paragraph.index("any of") : paragraph.index("`fold`")])
    assert len(names) == 9
    page["tiny_model_with"](pair_score={"name": "feed_forward", "features": names})
