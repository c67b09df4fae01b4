"""Models to folders and to the hub and back: the same model, with a card that says what it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors import safe_open

import streamcoref
from streamcoref import StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.resolver import Resolver
from tests import toy_resolver
from tests.evaluation import toy_evaluation
from tests.integrations import fake_hub

TEXT = "Anna saw the captain. He left her. She lost his letter, and he found it."
FIGURES = {"LitBank dev": {"CoNLL F1": 64.69}, "OntoGUM dev": {"CoNLL F1": 54.541, "MUC F1": 60.0}}


def front_matter(card: str) -> dict[str, Any]:
    assert card.startswith("---\n")
    values: dict[str, Any] = yaml.safe_load(card.split("---\n")[1])
    return values


def card_of(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def test_a_saved_model_is_the_same_model(tmp_path: Path) -> None:
    resolver = toy_resolver.resolver()
    resolver.save(tmp_path / "new" / "model")
    loaded = streamcoref.load(tmp_path / "new" / "model")
    assert loaded.resolve(TEXT, singletons=True) == resolver.resolve(TEXT, singletons=True)
    loaded.save(tmp_path / "again")
    assert streamcoref.load(tmp_path / "again").fingerprint == loaded.fingerprint


def test_sixteen_bits_are_used_where_they_lose_nothing(tmp_path: Path) -> None:
    def types(folder: Path) -> set[str]:
        with safe_open(folder / "model.safetensors", framework="pt") as file:
            return {str(file.get_tensor(name).dtype) for name in file.keys()}  # noqa: SIM118

    whole = toy_resolver.make_resolver()
    whole.save(tmp_path / "whole")
    assert types(tmp_path / "whole") == {"torch.float32"}
    model = whole.checkpoint.model
    with torch.no_grad():
        for tensor in model.state_dict().values():
            tensor.copy_(tensor.half())
    rounded = Resolver(Checkpoint(model, *whole.checkpoint[1:]), Path("nowhere"))
    rounded.save(tmp_path / "half")
    assert types(tmp_path / "half") == {"torch.float16"}
    loaded = streamcoref.load(tmp_path / "half").checkpoint.model.state_dict()
    assert all(torch.equal(tensor, loaded[name]) for name, tensor in model.state_dict().items())


def test_the_card_is_made_from_config_and_figures(tmp_path: Path) -> None:
    toy_resolver.resolver().save(tmp_path / "toy", figures=FIGURES, licence="apache-2.0")
    card = card_of(tmp_path / "toy")
    values = front_matter(card)
    assert values["license"] == "apache-2.0"
    assert values["language"] == "en"
    assert values["library_name"] == "streamcoref"
    (index,) = values["model-index"]
    assert index["name"] == "toy"
    found = {(r["dataset"]["name"], m["name"]): m["value"] for r in index["results"] for m in r["metrics"]}
    assert found == {
        ("LitBank dev", "CoNLL F1"): 64.69,
        ("OntoGUM dev", "CoNLL F1"): 54.54,
        ("OntoGUM dev", "MUC F1"): 60.0,
    }
    assert "| LitBank dev | 64.69 |  |" in card
    assert "| OntoGUM dev | 54.54 | 60.00 |" in card
    parameters = sum(p.numel() for p in toy_resolver.resolver().checkpoint.model.parameters())
    assert f"| parameters | {parameters:,} |" in card
    assert "| annotation schemes | plain, litbank |" in card
    assert "two_distances, singleton=30, cluster=60" in card


def test_an_evaluation_gives_the_figures(tmp_path: Path) -> None:
    resolver = toy_resolver.resolver()
    documents = [toy_evaluation.document(seed, 60) for seed in (1, 2)]
    evaluation = evaluate(resolver.checkpoint, [EvaluationCorpus("toys", documents)])
    resolver.save(tmp_path, figures=evaluation)
    row = next(line for line in card_of(tmp_path).splitlines() if line.startswith("| toys |"))
    assert f"{100 * evaluation.scores.conll_f1:.2f}" in row


def test_the_card_of_a_baseline_says_so(tmp_path: Path) -> None:
    toy_resolver.make_baseline().save(tmp_path)
    assert "whole-document" in card_of(tmp_path)
    assert "constant memory" not in card_of(tmp_path)


def test_an_older_card_is_kept_once(tmp_path: Path) -> None:
    toy_resolver.save_model(tmp_path / "a")
    assert card_of(tmp_path / "a") == "# A model of a test\n"
    for source, target in (("a", "b"), ("b", "c"), ("c", "c")):
        streamcoref.load(tmp_path / source).save(tmp_path / target, figures=FIGURES)
        card = card_of(tmp_path / target)
        assert card.count("# A model of a test") == 1
        assert card.count("LitBank dev |") == 1
        assert front_matter(card)["library_name"] == "streamcoref"
    toy_resolver.resolver().save(tmp_path / "d")
    streamcoref.load(tmp_path / "d").save(tmp_path / "e")
    assert card_of(tmp_path / "e") == card_of(tmp_path / "d").replace('load("d")', 'load("e")').replace(
        "# d\n", "# e\n"
    ).replace("model_name: d\n", "model_name: e\n")


def test_a_file_in_the_way_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    with pytest.raises(StreamcorefError, match=r"cannot write the model to .*taken: File exists"):
        toy_resolver.resolver().save(tmp_path / "taken")
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"


JOURNEY = """
import json, sys
import streamcoref

made = streamcoref.load(sys.argv[1])
said = {"first": made.push_to_hub("tester/toy", figures={"dev": {"F1": 64.5}}, private=True, message="The first")}
said["next"] = made.push_to_hub("tester/toy", revision="next", message="The next")
for name, revision in (("main", None), ("branch", "next"), ("commit", said["first"].rsplit("/", 1)[1])):
    said[name] = streamcoref.load("tester/toy", revision=revision).fingerprint
said["expected"] = made.fingerprint
for name, act in {
    "no model": lambda: streamcoref.load("tester/none"),
    "no branch": lambda: streamcoref.load("tester/toy", revision="none"),
    "bad token": lambda: made.push_to_hub("tester/toy", token="hf_wrong"),
    "bad name": lambda: made.push_to_hub("tester/to/y"),
}.items():
    try:
        act()
    except streamcoref.StreamcorefError as error:
        said[name] = str(error)
print(json.dumps(said))
"""


@pytest.mark.slow
def test_to_the_hub_and_back(tmp_path: Path) -> None:
    """In a process whose hub is ours: huggingface_hub reads its settings when it is imported."""
    folder = toy_resolver.save_model(tmp_path / "toy")
    with fake_hub.running() as hub:
        environment = os.environ | {
            "HF_ENDPOINT": hub.url,
            "HF_TOKEN": fake_hub.TOKEN,
            "HF_HOME": str(tmp_path / "home"),
            "HF_HUB_OFFLINE": "0",
        }
        command = [sys.executable, "-c", JOURNEY, str(folder)]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout.splitlines()[-1])
    assert said["main"] == said["branch"] == said["commit"] == said["expected"]
    assert said["first"].startswith(f"{hub.url}/tester/toy/commit/")
    assert "there is no model folder tester/none, and the hub did not give one" in said["no model"]
    assert "the hub did not give one" in said["no branch"]
    assert "the hub did not take the model tester/toy" in said["bad token"]
    assert "token=" in said["bad token"]
    assert "the hub did not take the model tester/to/y" in said["bad name"]
    repository = hub.repositories["tester/toy"]
    assert repository.private
    assert repository.messages == ["initial commit", "The first", "The next"]
    files = repository.commits[repository.branches["main"]]
    assert {"config.json", "model.safetensors", "tokenizer.json", "README.md"} <= set(files)
    card = files["README.md"].decode()
    assert 'streamcoref.load("tester/toy")' in card
    assert front_matter(card)["model-index"][0]["results"][0]["metrics"][0]["value"] == 64.5
