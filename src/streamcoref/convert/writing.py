"""The folder of an imported model: weights, config, tokenizer, card."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from streamcoref.convert.account import Account
from streamcoref.convert.name_map import ImportKind, Shape
from streamcoref.convert.sources import CheckpointSource
from streamcoref.convert.weights_file import write_weights
from streamcoref.model.arrays import FloatArray
from streamcoref.model.checkpoint import CARD
from streamcoref.model.config import ModelConfig, build_model
from streamcoref.model.encoder import Encoder, architecture_of
from streamcoref.model.tokenizer import PieceTokenizer
from streamcoref.model.weight_files import WEIGHTS
from streamcoref.model.weights import CONFIG

ENCODER = "encoder.model."  # before the names of an encoder's tensors in a model of ours
_PARTS = {"encoder": "encoder", "spans": "Spans", "pair_score": "PairScore", "update": "Update", "gate": "higher order"}


@dataclass(frozen=True)
class Conversion:
    """All that was decided: what goes into each tensor of ours (`wanted`); those not in `done.taken` are new."""

    source: CheckpointSource
    title: str
    kind: ImportKind
    preset: str | None
    config: ModelConfig | None  # None for a plain encoder
    encoder: Encoder  # without numbers
    tokenizer: PieceTokenizer
    wanted: dict[str, Shape]
    done: Account


@dataclass(frozen=True, slots=True)
class Count:
    tensors: int
    parameters: int


@dataclass(frozen=True)
class Imported:
    """What an import did: tensors counted by part of the model, or by the reason why they were dropped."""

    title: str
    kind: ImportKind
    preset: str | None  # that the settings were taken from
    max_pieces: int | None  # a segment
    taken: dict[str, Count]
    new: dict[str, Count]
    dropped: dict[str, Count]


def write_model(out: Path, conversion: Conversion) -> Imported:
    """Write the folder. It is made beside and moved into place: an error half-way leaves nothing behind."""
    imported = _describe(conversion)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as name:
        folder = Path(name)
        _write_weights(folder / WEIGHTS, conversion)
        (folder / CONFIG).write_text(json.dumps(_config(conversion), indent=2) + "\n", encoding="utf-8")
        (folder / CARD).write_text(_card(imported, conversion.source.path.name), encoding="utf-8")
        conversion.tokenizer.tokenizer.save_pretrained(folder)
        out.mkdir(exist_ok=True)
        for file in sorted(folder.iterdir()):
            shutil.move(file, out / file.name)
    return imported


def _write_weights(path: Path, conversion: Conversion) -> None:
    taken, config = conversion.done.taken, conversion.config
    # The names in a plain encoder's file are its own, without the beginning they have in a model.
    prefix = ENCODER if config is None else ""
    fresh: dict[str, Tensor] = {}
    if config is not None and len(taken) < len(conversion.wanted):
        fresh = _fresh_heads(config, conversion.encoder.hidden_size)

    def read(name: str) -> FloatArray:
        values: FloatArray = taken[prefix + name].read() if prefix + name in taken else fresh[name].numpy()
        return values

    write_weights(path, {name.removeprefix(prefix): shape for name, shape in conversion.wanted.items()}, read)


def _fresh_heads(config: ModelConfig, hidden: int) -> dict[str, Tensor]:
    """New weights for everything but the encoder, the same each time.

    They depend on the encoder only by its width, so the smallest one of that width stands in for it.
    """
    stand_in = {
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "intermediate_size": 8,
        "vocab_size": 8,
        "max_position_embeddings": config.segments.max_pieces,
    }
    encoder = config.encoder.model_copy(update={"architecture": stand_in, "layers": 1})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build_model(config.model_copy(update={"encoder": encoder})).state_dict()


def _config(conversion: Conversion) -> dict[str, Any]:
    architecture = architecture_of(conversion.encoder.model)
    if conversion.config is None:
        return architecture
    encoder = conversion.config.encoder.model_copy(update={"architecture": architecture})
    return conversion.config.model_copy(update={"encoder": encoder}).model_dump(mode="json")


def _describe(conversion: Conversion) -> Imported:
    taken, wanted, config = conversion.done.taken, conversion.wanted, conversion.config
    return Imported(
        title=conversion.title,
        kind=conversion.kind,
        preset=None if config is None else conversion.preset,
        max_pieces=None if config is None else config.segments.max_pieces,
        taken=_by_part({name: shape for name, shape in wanted.items() if name in taken}),
        new=_by_part({name: shape for name, shape in wanted.items() if name not in taken}),
        dropped={why: _count(shapes) for why, shapes in conversion.done.dropped.items()},
    )


def _by_part(shapes: Mapping[str, Shape]) -> dict[str, Count]:
    parts: dict[str, list[Shape]] = {}
    for name, shape in shapes.items():
        parts.setdefault(_PARTS.get(name.split(".")[0], "score of a new entity"), []).append(shape)
    return {part: _count(group) for part, group in parts.items()}


def _count(shapes: Sequence[Shape]) -> Count:
    return Count(len(shapes), sum(math.prod(shape) for shape in shapes))


def _card(imported: Imported, source: str) -> str:
    title = "Encoder" if imported.kind == "encoder" else f"Coreference model ({imported.kind})"
    taken = sum(count.parameters for count in imported.taken.values())
    untrained = [part for part in imported.new if part in _PARTS.values()]
    lines = [
        f"# {title}",
        "",
        f"Imported by streamcoref from `{source}`: {imported.title}.",
        "",
        f"- {taken:,} parameters are those of the source, value for value.",
        f"- Untrained: {', '.join(untrained)}. Train it before use." if untrained else "- Nothing in it is untrained.",
        "- The licence is that of the source: see where it was published.",
    ]
    return "\n".join(lines) + "\n"
