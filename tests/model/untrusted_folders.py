"""Folders of models as a stranger may have made them. Run as a script with a folder of such, it loads each of them,
and prints a line of JSON for each: what was raised, and by how much the most memory that the process ever had grew."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Damage = Callable[[Path], object]

DEEP = 100_000
LIMIT = 6 << 30  # bytes, for the machine's sake: reaching it is a failure


def changed(name: str, *place: str, value: Any) -> Damage:
    """One value of a JSON file replaced."""

    def apply(folder: Path) -> None:
        values = inner = json.loads((folder / name).read_text())
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        (folder / name).write_text(json.dumps(values))

    return apply


def size(key: str, value: Any) -> Damage:
    return changed("config.json", "encoder", "architecture", key, value=value)


def option(*place: str, value: Any) -> Damage:
    return changed("config.json", *place, value=value)


def text(name: str, content: str) -> Damage:
    return lambda folder: (folder / name).write_text(content)


def a_folder(name: str) -> Damage:
    def apply(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return apply


def a_pipe(name: str) -> Damage:
    def apply(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return apply


def piece(number: int, name: str = "strange") -> Damage:
    def apply(folder: Path) -> None:
        values = json.loads((folder / "tokenizer.json").read_text())
        values["model"]["vocab"][name] = number
        (folder / "tokenizer.json").write_text(json.dumps(values))

    return apply


def added_piece(number: int) -> Damage:
    def apply(folder: Path) -> None:
        values = json.loads((folder / "tokenizer.json").read_text())
        token = {"content": "[NEW]", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        values["added_tokens"].append({"id": number, "special": True, **token})
        (folder / "tokenizer.json").write_text(json.dumps(values))

    return apply


def header(**entries: Any) -> Damage:
    """Weights whose header says this, and that hold nothing."""

    def apply(folder: Path) -> None:
        said = json.dumps(entries).encode()
        (folder / "model.safetensors").write_bytes(len(said).to_bytes(8, "little") + said)

    return apply


def only_cut_off(folder: Path) -> None:
    """A header of ten gigabytes, it says."""
    (folder / "model.safetensors").write_bytes((10 << 30).to_bytes(8, "little") + b"{}")


def index(name: str, **entries: Any) -> Damage:
    """Weights in parts, of which only a first one is there, whose header says this."""

    def apply(folder: Path) -> None:
        header(**entries)(folder)
        (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
        values = {"weight_map": dict.fromkeys(entries.keys() - {"__metadata__"}, name)}
        (folder / "model.safetensors.index.json").write_text(json.dumps(values))

    return apply


NESTED = "[" * DEEP + "]" * DEEP
NESTED_TABLE = '{"a":' * DEEP + "1" + "}" * DEEP
LAYERS, WIDTH, HEADS = "num_hidden_layers", "hidden_size", "num_attention_heads"
VOCABULARY, POSITIONS = "vocab_size", "max_position_embeddings"
ARCHITECTURE = ("encoder", "architecture")

# What is done to a folder, and a part of what is said.
CASES: dict[str, tuple[Damage, str]] = {
    "2,000 layers": (size(LAYERS, 2000), "model.safetensors"),
    "a billion layers": (size(LAYERS, 10**9), LAYERS),
    "a vocabulary of 5,000,000": (size(VOCABULARY, 5_000_000), "needs [5000000, 32]"),
    "a vocabulary of 2^62": (size(VOCABULARY, 1 << 62), VOCABULARY),
    "a vocabulary beyond words": (size(VOCABULARY, 10**400), VOCABULARY),
    "many labels": (size("num_labels", 1 << 31), "num_labels"),
    "wide": (size(WIDTH, 1 << 20), "config.json"),
    "wide inside": (size("intermediate_size", 1 << 30), "needs [1073741824"),
    "many positions": (size(POSITIONS, 1 << 30), "needs [1073741824, 32]"),
    "many widths": (option("spans", "max_width", value=1 << 30), "config.json"),
    "negative layers": (size(LAYERS, -3), LAYERS),
    "negative width": (size(WIDTH, -32), WIDTH),
    "negative vocabulary": (size(VOCABULARY, -5), VOCABULARY),
    "negative positions": (size(POSITIONS, -1), POSITIONS),
    "no layers": (size(LAYERS, 0), LAYERS),
    "no width": (size(WIDTH, 0), WIDTH),
    "no heads": (size(HEADS, 0), HEADS),
    "no vocabulary": (size(VOCABULARY, 0), VOCABULARY),
    "no positions": (size(POSITIONS, 0), POSITIONS),
    "heads that do not divide": (size(HEADS, 7), "config.json"),
    "layers in words": (size(LAYERS, "two"), LAYERS),
    "width in words": (size(WIDTH, "32"), WIDTH),
    "width in a list": (size(WIDTH, [32]), WIDTH),
    "half a layer": (size(LAYERS, 1.5), LAYERS),
    "no number of layers": (size(LAYERS, None), LAYERS),
    "an unknown activation": (size("hidden_act", "colour"), "config.json"),
    "an activation that is a table": (size("hidden_act", {"a": 1}), "config.json"),
    "padding beyond the vocabulary": (size("pad_token_id", 10**6), "config.json"),
    "another model type": (size("model_type", "t5"), "config.json"),
    "no encoder at all": (size("model_type", "resnet"), "config.json"),
    "a model type that is a number": (size("model_type", 7), "config.json"),
    "an initial spread below zero": (size("initializer_range", -1.0), "config.json"),
    "a dropout of two": (size("hidden_dropout_prob", 2.0), "config.json"),
    "an architecture that is nested": (
        size("text_config", json.loads('{"a":' * 300 + "1" + "}" * 300)),
        "config.json",
    ),
    "deep networks": (option("pair_score", "depth", value=10**9), "config.json"),
    "wide networks": (option("pair_score", "hidden", value=1 << 40), "config.json"),
    "a config that is nested": (text("config.json", NESTED), "config.json"),
    "a config of nested tables": (text("config.json", NESTED_TABLE), "config.json"),
    "a config with a number of 5,000 digits": (text("config.json", "1" * 5000), "config.json"),
    "a config that is a folder": (a_folder("config.json"), "config.json"),
    "a config that is a pipe": (a_pipe("config.json"), "config.json"),
    "weights that are a folder": (a_folder("model.safetensors"), "model.safetensors"),
    "weights that are a pipe": (a_pipe("model.safetensors"), "model.safetensors"),
    "a header without tensors": (header(), "misses tensors"),
    "a header of other things": (header(a=1), "model.safetensors is damaged"),
    "a header longer than the file": (only_cut_off, "model.safetensors is damaged"),
    "a tensor without its numbers": (
        header(a={"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}),
        "model.safetensors is damaged",
    ),
    "int8 without its numbers": (
        header(
            __metadata__={"storage": "int8-rows"},
            a={"dtype": "I8", "shape": [1 << 40, 1], "data_offsets": [0, 1 << 40]},
        ),
        "model.safetensors is damaged",
    ),
    "int8 of no rows": (
        header(__metadata__={"storage": "int8-rows"}, a={"dtype": "I8", "shape": [0, 1 << 40], "data_offsets": [0, 0]}),
        "misses tensors",
    ),
    "a part that is not there": (index("model-00002-of-00002.safetensors", a={}), "which is not there"),
    "a part of the machine": (index("/dev/zero", a={}), "parts of weights are called"),
    "a part without its numbers": (
        index(
            "model-00001-of-00002.safetensors",
            a={"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]},
        ),
        "model-00001-of-00002.safetensors is damaged",
    ),
    "a part with other tensors": (
        index("model-00001-of-00002.safetensors", a={"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}),
        "misses tensors",
    ),
    "a tokenizer that is empty": (text("tokenizer.json", "{}"), "tokenizer.json"),
    "a tokenizer that is a list": (text("tokenizer.json", "[]"), "tokenizer.json"),
    "a tokenizer that is nested": (text("tokenizer.json", NESTED), "tokenizer.json"),
    "a tokenizer that is a folder": (a_folder("tokenizer.json"), "tokenizer.json"),
    "a tokenizer that is a pipe": (a_pipe("tokenizer.json"), "tokenizer.json"),
    "a tokenizer config that is a list": (text("tokenizer_config.json", "[]"), "tokenizer_config.json"),
    "a tokenizer config that is nested": (text("tokenizer_config.json", NESTED), "tokenizer_config.json"),
    "a tokenizer config of nested tables": (text("tokenizer_config.json", NESTED_TABLE), "tokenizer_config.json"),
    "a tokenizer config that is a folder": (a_folder("tokenizer_config.json"), "tokenizer_config.json"),
    "a tokenizer class that is a number": (
        changed("tokenizer_config.json", "tokenizer_class", value=7),
        "tokenizer",
    ),
    "a tokenizer whose longest text is a list": (
        changed("tokenizer_config.json", "model_max_length", value=[None, None]),
        "tokenizer",
    ),
    "a tokenizer without a name for the unknown": (
        changed("tokenizer_config.json", "unk_token", value=""),
        "tokenizer",
    ),
    "added tokens that are a list": (text("added_tokens.json", "[]"), "added_tokens.json"),
    "special tokens that are nested": (text("special_tokens_map.json", NESTED), "special_tokens_map.json"),
    "an id of 2^31": (piece(1 << 31), "2147483648"),
    "an id of 2^31 - 1": (piece((1 << 31) - 1), "2147483647"),
    "an id beyond the vocabulary": (piece(400), "its tokenizer has a piece 400, but its encoder knows 400"),
    "an added id beyond the vocabulary": (added_piece(1 << 30), "1073741824"),
    "a negative id": (piece(-1), "tokenizer.json"),
    "an id in words": (piece("seven"), "tokenizer.json"),  # type: ignore[arg-type]
    "a vocabulary that is a number": (changed("tokenizer.json", "model", "vocab", value=3), "tokenizer.json"),
}


def peak() -> float:
    """In megabytes, the most that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(saved: Path, work: Path, names: list[str]) -> None:
    from streamcoref.errors import StreamcorefError
    from streamcoref.model.checkpoint import load_checkpoint

    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    load_checkpoint(saved)  # whatever is imported and kept is counted before
    for number, name in enumerate(names):
        folder = work / str(number)
        shutil.copytree(saved, folder)
        CASES[name][0](folder)
        before, began, raised, said = peak(), time.process_time(), "", ""
        try:
            load_checkpoint(folder)
        except StreamcorefError as error:
            raised, said = "StreamcorefError", str(error)
        except BaseException as error:
            raised, said = type(error).__name__, str(error)[:300]
        spent = {"grown": peak() - before, "seconds": time.process_time() - began}
        sys.stdout.write(
            json.dumps({"case": name, "raised": raised, "said": said, "folder": str(folder), **spent}) + "\n"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or list(CASES))
