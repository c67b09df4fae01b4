"""The examples of docs/extending.md run, in order, and do what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

import streamcoref
from streamcoref.errors import StreamcorefError
from streamcoref.model.base import CorefModel
from streamcoref.model.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from streamcoref.model.config import ModelConfig, parse_config, preset
from streamcoref.model.encoder import EncoderOptions
from streamcoref.model.features import FeatureOptions
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.parts import ENTRY_POINTS
from streamcoref.model.reading import SegmentResult
from streamcoref.model.segments import Segment, SegmentOptions
from streamcoref.model.state import State
from streamcoref.resolver import Resolver
from tests import toy_resolver
from tests.model import toys
from tests.model.toy_answers import decisions

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the page defines. A block that begins with the name of a file becomes that file."""
    names: dict[str, Any] = {"__name__": "the_page"}
    assert len(blocks("python")) == 10
    folder, before = tmp_path_factory.mktemp("page"), Path.cwd()
    os.chdir(folder)
    try:
        for block in blocks("python"):
            if file := re.match(r"# (\w+\.py)\n", block):
                Path(file[1]).write_text(block, encoding="utf-8")
            else:
                torch.manual_seed(1)  # a block's model does not depend on those before it
                exec(compile(block, "docs/extending.md", "exec", dont_inherit=True), names)
    finally:
        os.chdir(before)
    return names


def segments_of(model: CorefModel, seed: int = 0) -> list[Segment]:
    config = preset("tiny")
    return Checkpoint(model, config, toys.tokenizer()).segmenter.cut(toys.document(seed, 200))


@torch.inference_mode()
def run(model: IncrementalModel, config: ModelConfig | None = None) -> tuple[list[SegmentResult], State]:
    state = model.eval().new_state()
    return toys.read(model, config or preset("tiny"), segments_of(model), state), state


@pytest.mark.parametrize(
    "name", ["cosine_model", "text_model", "asking_model", "number_model", "steady_model", "window_model"]
)
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


def number_of(words: Sequence[str], nouns: bool) -> str | None:
    """What the feature of the page tells of a span, among the words of our texts."""
    last = words[-1].lower()
    if last in ("he", "she", "it", "him", "her", "his", "its"):
        return "one"
    return "many" if last == "they" or (nouns and last.endswith("s")) else None


def clashes(model: IncrementalModel, nouns: bool) -> int:
    """How often a span joins an entity whose latest number was another."""
    words = toys.document(0, 200).words
    latest: dict[int, str] = {}
    joined = found = 0
    for link in (link for result in run(model)[0] for link in result.links):
        joined += not link.is_new
        number = number_of(words[slice(*link.span)], nouns)
        if number is not None:
            found += latest.get(link.entity, number) != number
            latest[link.entity] = number
    assert joined > 10
    return found


def strict_model(page: dict[str, Any], **options: Any) -> IncrementalModel:
    """A model with the feature of the page, for which another number is out of the question."""
    torch.manual_seed(0)
    features = ["distance", {"name": "same_number", **options}]
    model: IncrementalModel = page["tiny_model_with"](
        pair_score={"name": "cosine", "threshold": 0.5, "features": features}
    )
    scorer: Any = model.pair_score
    with torch.no_grad():
        for table in scorer.features.tables.values():
            table.weight.zero_()
        scorer.features.tables["same_number"].weight[2] = -1
        scorer.bonus.weight.fill_(1000)
    return model.eval()


def test_the_feature_changes_answers(page: dict[str, Any]) -> None:
    model = strict_model(page, nouns=True)
    assert clashes(model, nouns=True) == 0
    scorer: Any = model.pair_score
    with torch.no_grad():
        scorer.features.tables["same_number"].weight.zero_()
    assert clashes(model, nouns=True) > 3
    # its option: without nouns only pronouns tell
    assert clashes(strict_model(page), nouns=False) == 0
    assert clashes(strict_model(page), nouns=True) > 0


@torch.inference_mode()
def test_the_feature_survives_a_saved_state(page: dict[str, Any]) -> None:
    model, config = strict_model(page, nouns=True), preset("tiny")
    segments = segments_of(model)
    whole, first = model.new_state(), model.new_state()
    expected = decisions(toys.read(model, config, segments, whole))
    found = decisions(toys.read(model, config, segments[:3], first))
    again = model.load_state(first.to_bytes())
    assert set(again.memory.notes["latest_number"][: len(again.memory)].tolist()) == {0, 1, 2}
    assert found + decisions(toys.read(model, config, segments[3:], again)) == expected
    assert again.to_bytes() == whole.to_bytes()


def test_a_state_without_the_feature_is_another_models(page: dict[str, Any]) -> None:
    without = page["tiny_model_with"](pair_score={"name": "cosine", "features": ["distance"]})
    with pytest.raises(StreamcorefError, match="saved by another model: other things are noted of its entities"):
        strict_model(page).load_state(run(without)[1].to_bytes())


def test_the_update_rule(page: dict[str, Any]) -> None:
    rule = page["steady_model"].update
    assert rule.weight(torch.zeros(3, 0), torch.zeros(3, 0), torch.ones(3)).tolist() == pytest.approx([0.7] * 3)
    assert rule.weight(torch.zeros(0), torch.zeros(0), 4.0) == 0.7


def test_the_policy(page: dict[str, Any]) -> None:
    _, state = run(page["steady_model"], page["evicting_config"])
    assert 0 < len(state.memory) <= 5


def test_the_policy_as_an_option(page: dict[str, Any]) -> None:
    example = re.search(r'`evict="(mentioned_last:.*)"`', PAGE)
    assert example is not None
    checkpoint = Checkpoint(page["steady_model"].eval(), preset("tiny"), toys.tokenizer())
    alive = []
    for evict in (None, example[1].replace("50", "3")):
        stream = Resolver(checkpoint, Path()).stream(evict=evict)
        stream.feed_words(toys.document(0, 200).sentences)
        stream.flush()
        alive.append(stream.alive)
    assert alive[0] > alive[1] == 3


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
        "pair_score": {"name": "cosine", "features": ["size", {"name": "same_number", "nouns": True}]},
        "update": {"name": "steady"},
        "evict": {"name": "mentioned_last", "budget": 4},
    }
    config = parse_config(values, "x")
    checkpoint = Checkpoint(toys.model(config, 0), config, toys.tokenizer())
    save_checkpoint(tmp_path, checkpoint, "A card.\n")
    loaded = load_checkpoint(tmp_path)
    assert isinstance(checkpoint.model, IncrementalModel)
    assert isinstance(loaded.model, IncrementalModel)
    mine, theirs = run(checkpoint.model, checkpoint.config), run(loaded.model, loaded.config)
    assert decisions(theirs[0]) == decisions(mine[0])
    assert theirs[1].to_bytes() == mine[1].to_bytes()
    assert len(theirs[1].memory) <= 4


def test_mistakes_are_reported_like_those_of_the_package(page: dict[str, Any]) -> None:
    with pytest.raises(StreamcorefError, match=r"^my config: pair_score\.colour: unknown key"):
        page["tiny_model_with"](pair_score={"name": "cosine", "colour": 1})
    with pytest.raises(StreamcorefError, match=r"^my config: evict\.places: .*integer"):
        page["tiny_model_with"](evict={"name": "mentioned_last", "places": "many"})
    with pytest.raises(StreamcorefError, match=r"^my config: pair_score\.features\.1\.nouns: .*boolean"):
        page["tiny_model_with"](
            pair_score={"name": "cosine", "features": ["size", {"name": "same_number", "nouns": "some"}]}
        )


def test_the_config_examples_parse() -> None:
    encoder, entry_points, _ = (tomllib.loads(example) for example in blocks("toml"))
    assert EncoderOptions.model_validate(encoder["encoder"]).trainable_from == 6
    assert SegmentOptions.model_validate(encoder["segments"]).max_pieces == 512
    assert list(entry_points["project"]["entry-points"]) == [ENTRY_POINTS]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling is not installed")
def test_the_package_of_the_page_brings_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built as pip would build it, and unpacked where Python looks."""
    package = tmp_path / "project/src/streamcoref_letters"
    package.mkdir(parents=True)
    (tmp_path / "project/pyproject.toml").write_text(blocks("toml")[-1], encoding="utf-8")
    (package / "__init__.py").write_text(blocks("python")[-1], encoding="utf-8")
    toy_resolver.save_model(package / "model")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=tmp_path / "project", check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(tmp_path / "site-packages")
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    resolver = streamcoref.load("letters")
    assert resolver.folder == tmp_path / "site-packages/streamcoref_letters/model"
    assert resolver.resolve("Anna saw the captain. He left her.").words


def test_the_names_of_features_are_those_there_are(page: dict[str, Any]) -> None:
    paragraph = PAGE[PAGE.index("- **Features.**") : PAGE.index("- **Shortlist.**")]
    names = re.findall(r"`(\w+)`", paragraph[paragraph.index("any of") : paragraph.index("`fold`")])
    own = {name for name, kind in FeatureOptions.kinds.items() if kind.__module__.startswith("streamcoref.")}
    assert set(names) == own
    for other in ("agreement", "identity"):  # one of the two
        features = [name for name in names if name != other]
        page["tiny_model_with"](pair_score={"name": "feed_forward", "features": features})


def test_the_files_that_the_page_names_are_there() -> None:
    root = Path(streamcoref.__file__).parent
    named = re.findall(r"`(model/[\w/.]+)`", PAGE)
    assert len(set(named)) > 5
    assert [name for name in named if not (root / name).exists()] == []
