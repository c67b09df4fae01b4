"""A model, an encoder, a tokenizer of a stranger: whatever lies beside it is never run, and nobody is asked whether."""

from __future__ import annotations

import ast
import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import streamcoref
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import load_checkpoint, load_tokenizer
from streamcoref.model.encoder import pretrained_encoder, random_encoder
from tests import toy_resolver
from tests.integrations import fake_hub
from tests.model import untrusted_folders
from tests.waiting import PATIENCE

# Of every kind of class that transformers would look for; running the module leaves a mark.
MODULE = """
from pathlib import Path
from transformers import BertConfig, BertModel, BertTokenizerFast

Path({mark!r}).write_text("ran")


class EvilConfig(BertConfig):
    model_type = "evil"


class EvilModel(BertModel):
    config_class = EvilConfig


class EvilTokenizer(BertTokenizerFast):
    pass
"""
TOKENIZER_MAP = {"auto_map": {"AutoTokenizer": [None, "evil.EvilTokenizer"]}, "tokenizer_class": "EvilTokenizer"}
MODEL_MAP = {"AutoConfig": "evil.EvilConfig", "AutoModel": "evil.EvilModel"}
MEGABYTES = 400  # that a load may cost: of a toy, with all that it imports
NEEDS_CODE = "it needs program code that comes with it"


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "mark"


@pytest.fixture
def folder(tmp_path: Path, mark: Path) -> Path:
    """A model of ours with a module beside it, not yet named by anything."""
    folder = toy_resolver.save_model(tmp_path / "model")
    (folder / "evil.py").write_text(MODULE.format(mark=str(mark)))
    return folder


def change(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def evil_tokenizer(folder: Path) -> None:
    change(folder / "tokenizer_config.json", TOKENIZER_MAP)


def evil_encoder(folder: Path, **values: Any) -> None:
    """Makes the folder one of an encoder."""
    architecture = json.loads((folder / "config.json").read_text())["encoder"]["architecture"]
    (folder / "config.json").write_text(
        json.dumps({**architecture, "model_type": "evil", "auto_map": MODEL_MAP, **values})
    )


def encoder_with_known_type(folder: Path) -> None:
    """transformers has a class of its own for this: it is used, and the module is not."""
    evil_encoder(folder, model_type="bert")


LOADING: dict[str, tuple[Callable[[Path], None], Callable[[Path], object]]] = {
    "the tokenizer of a model": (evil_tokenizer, load_checkpoint),
    "a tokenizer": (evil_tokenizer, load_tokenizer),
    "a tokenizer by its encoder's config": (evil_encoder, load_tokenizer),
    "an encoder": (evil_encoder, lambda folder: pretrained_encoder(str(folder))),
    "an encoder of a known type": (encoder_with_known_type, lambda folder: pretrained_encoder(str(folder))),
}
# transformers has classes of its own that do.
HARMLESS = ("a tokenizer by its encoder's config", "an encoder of a known type")


@pytest.mark.parametrize("case", LOADING)
def test_nothing_is_run_and_nobody_asked(case: str, folder: Path, mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(_: str = "") -> str:
        mark.write_text("asked")
        return "y"

    monkeypatch.setattr("builtins.input", asked)
    damage, load = LOADING[case]
    damage(folder)
    if case in HARMLESS:
        load(folder)
    else:
        with pytest.raises(StreamcorefError, match=NEEDS_CODE) as caught:
            load(folder)
        assert "\n" not in str(caught.value)
        assert str(folder) in str(caught.value)
    assert not mark.exists()


@pytest.mark.parametrize("inside", [(), ("text_config",), ("a", "b", "c")])
@pytest.mark.parametrize("key", ["auto_map", "attn_implementation", "_attn_implementation"])
def test_an_architecture_names_no_code(key: str, inside: tuple[str, ...], folder: Path, mark: Path) -> None:
    """Not even deep inside, where transformers builds parts of models without asking us."""
    values: dict[str, Any] = {key: {"AutoModel": f"{folder}--evil.EvilModel"} if key == "auto_map" else "owner/kernel"}
    for name in reversed(inside):
        values = {name: values}
    architecture = json.loads((folder / "config.json").read_text())["encoder"]["architecture"]
    with pytest.raises(StreamcorefError, match=f"names {key}.* is never run"):
        random_encoder({**architecture, **values})
    assert not mark.exists()


def test_every_call_says_so() -> None:
    """transformers asks on a terminal where it is not told: no call may leave it out."""
    calls = 0
    for path in Path(streamcoref.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value
                if isinstance(owner, ast.Name) and owner.id.startswith("Auto") and node.func.attr.startswith("from_"):
                    said = {word.arg: ast.unparse(word.value) for word in node.keywords}
                    assert said.get("trust_remote_code") == "False", f"{path}:{node.lineno}"
                    calls += 1
    assert calls >= 4


BY_NAME = """
import builtins, json, resource, sys
from pathlib import Path

import streamcoref
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import load_checkpoint, load_tokenizer
from streamcoref.model.encoder import pretrained_encoder
from streamcoref.model.tokenizer_files import load_auto_tokenizer

builtins.input = lambda _="": Path(sys.argv[1]).write_text("asked") and "y"
ways = {"model": streamcoref.load, "tokenizer": load_tokenizer, "convert": load_auto_tokenizer}
for way, load in {**ways, "encoder": pretrained_encoder}.items():
    for name in ("tester/good", "tester/evil", "tester/numbered", "tester/large"):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            load(f"{name}-encoder" if way == "encoder" else name)
            said = ""
        except StreamcorefError as error:
            said = str(error)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(json.dumps([way, name.removeprefix("tester/"), said, grown]))
"""


@pytest.mark.slow
def test_a_name_on_the_hub_is_a_strangers_folder_too(folder: Path, mark: Path, tmp_path: Path) -> None:
    """By every way that takes a name: no code is fetched, none is run, and no memory is spent on what a file says."""
    folders = {name: shutil.copytree(folder, tmp_path / name) for name in ("good", "evil", "numbered", "large")}
    evil_tokenizer(folders["evil"])
    untrusted_folders.piece(1 << 31)(folders["numbered"])
    for name, source in list(folders.items()):
        folders[f"{name}-encoder"] = encoder = shutil.copytree(source, tmp_path / f"{name}-encoder")
        evil_encoder(encoder, **({} if name == "evil" else {"model_type": "bert"}))
    change(folders["large-encoder"] / "config.json", {"vocab_size": 5_000_000})
    untrusted_folders.size("vocab_size", 5_000_000)(folders["large"])
    with fake_hub.running() as hub:
        for name, source in folders.items():
            repository = hub.repositories[f"tester/{name}"] = fake_hub.Repository(private=False)
            repository.commit("main", "all", {path.name: path.read_bytes() for path in source.iterdir()})
        environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "0"}
        done = subprocess.run(
            [sys.executable, "-c", BY_NAME, str(mark)], env=environment, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    found = {(way, name): (said, grown) for way, name, said, grown in map(json.loads, done.stdout.splitlines())}
    needs_code = {(way, "evil") for way in ("model", "tokenizer", "convert", "encoder")}
    refused = {(way, "numbered"): "2147483648" for way in ("model", "tokenizer", "convert")} | {
        ("model", "large"): "needs [5000000, 32]",
        ("encoder", "large"): "numbers, but its weights have",
        **dict.fromkeys(needs_code, NEEDS_CODE),
    }
    for case, (said, grown) in found.items():
        assert (refused[case] in said) if case in refused else not said, (case, said)
        assert grown < MEGABYTES, (case, grown)
    assert found.keys() >= refused.keys()
    assert not mark.exists()
    assert not any(request.endswith(".py") for request in hub.requests)


COMMANDS: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "resolve": (evil_tokenizer, ["resolve", "text.txt", "--model", "model"]),
    "corpus convert": (
        evil_tokenizer,
        ["corpus", "convert", "corpus.conll", "out.jsonl", "--to", "pieces", "--tokenizer", "model"],
    ),
    "import": (evil_encoder, ["import", "model", "out", "--kind", "incremental"]),
    "import with a tokenizer": (evil_tokenizer, ["import", "encoder", "out", "--tokenizer", "model"]),
}
CORPUS = "#begin document (a); part 000\na 0 0 Anna NN * - - - - * (0)\n\n#end document\n"


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_question_on_a_terminal(command: str, folder: Path, mark: Path, tmp_path: Path) -> None:
    """With a terminal that says yes to everything."""
    shutil.copytree(folder, tmp_path / "encoder")
    evil_encoder(tmp_path / "encoder", model_type="bert", auto_map={})
    damage, arguments = COMMANDS[command]
    damage(folder)
    (tmp_path / "text.txt").write_text("Anna met her.\n")
    (tmp_path / "corpus.conll").write_text(CORPUS)
    ours, theirs = pty.openpty()
    os.write(ours, b"y\ny\ny\n")
    try:
        done = subprocess.run(
            [sys.executable, "-c", "from streamcoref.cli import main; main()", *arguments],
            cwd=tmp_path,
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert not mark.exists()
    assert done.returncode == 2, done.stderr
    assert "[y/N]" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("streamcoref: ")
    assert "code" in done.stderr
