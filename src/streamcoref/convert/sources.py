"""What a user hands over, recognised: which kind of checkpoint it is, and its tensors, none of them read yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open

from streamcoref.convert.inert_pickle import Inert
from streamcoref.convert.tensor_bundle import TensorBundle
from streamcoref.convert.torch_file import read_torch_file
from streamcoref.errors import InputError
from streamcoref.model.arrays import FloatArray
from streamcoref.model.folder_files import read_json

BEST_OF_BASELINE = "model.max.ckpt"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
OPTIMIZERS = {"optimizer", "encoder_optimizer"}
TRAINER_KEYS = {"top_span_ratio", "max_span_width"}  # in the settings that the authors' trainer leaves behind
ENCODER_CONFIGS = ("bert_config.json", "config.json")


@dataclass(frozen=True, slots=True)
class SourceTensor:
    """A tensor of a file: its shape, and its values as 32-bit floats when asked for."""

    shape: tuple[int, ...]
    read: Callable[[], FloatArray]


@dataclass(frozen=True)
class CheckpointSource:
    """`map` names the file in `maps/` that knows its names; `folder` is where its config and vocabulary may lie.

    `dropped` are the shapes of tensors that lie apart from the model, by what they are.
    """

    path: Path
    map: str
    tensors: Mapping[str, SourceTensor]
    folder: Path
    dropped: Mapping[str, list[tuple[int, ...]]] = field(default_factory=dict)


def recognise(path: Path) -> CheckpointSource:
    """One of: the baseline's TensorFlow checkpoint, the authors' two PyTorch files, the folder of an encoder."""
    prefix = _bundle_prefix(path)
    if prefix is not None:
        return CheckpointSource(prefix, "baseline_tf", _bundle(prefix), prefix.parent)
    if path.is_dir():
        is_encoder = encoder_config_of(path) is not None and has_encoder_weights(path)
        if (path / "checkpoint.bin").is_file() and not is_encoder:
            return recognise(path / "checkpoint.bin")
        return CheckpointSource(path, "encoder_folder", read_encoder_weights(path), path)
    if not path.exists():
        raise InputError("there is no such file or folder", path)
    return _torch_source(path)


def _bundle_prefix(path: Path) -> Path | None:
    """The common beginning of a TensorFlow checkpoint's files, given that, one of the files, or their folder."""
    if path.is_dir():
        found = sorted(path.glob("*.index"))
        if not found:
            return None
        best = path / f"{BEST_OF_BASELINE}.index"
        if best not in found and len(found) > 1:
            names = ", ".join(index.name.removesuffix(".index") for index in found)
            raise InputError(f"there are several checkpoints here; name one of {names}", path)
        return (best if best in found else found[0]).with_suffix("")
    if path.suffix == ".index":
        return path.with_suffix("")
    if path.suffix.startswith(".data-"):
        return path.with_suffix("")
    return path if Path(f"{path}.index").is_file() else None


def _bundle(prefix: Path) -> dict[str, SourceTensor]:
    bundle = TensorBundle(prefix)

    def reader(name: str) -> Callable[[], FloatArray]:
        return lambda: bundle.read(name).astype(np.float32, copy=False)

    return {name: SourceTensor(entry.shape, reader(name)) for name, entry in bundle.entries.items()}


def _torch_source(path: Path) -> CheckpointSource:
    saved = read_torch_file(path)
    state, beside = _model_and_rest(saved)
    if any(name.startswith("span_scorer.") for name in state):
        return CheckpointSource(
            path, "incremental_torch", _torch_tensors(state, path), path.parent, _optimizers(beside, path)
        )
    if "mention_scores/hidden_weights_0" in state:
        return CheckpointSource(path, "scorer_vars", _torch_tensors(state, path), path.parent)
    if any("embeddings.word_embeddings" in name for name in state):
        raise InputError(f"this is an encoder; give its folder, {path.parent}, with its config.json", path)
    raise InputError(
        "a PyTorch file, but neither the authors' checkpoint.bin nor their torch_scorer_vars.bin: "
        "it has no span_scorer.* and no mention_scores/*",
        path,
    )


def _model_and_rest(saved: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors of a model by name, which may lie under "model", and what lies beside that."""
    values = {str(name): value for name, value in saved.items()} if isinstance(saved, dict) else {}
    inner = values.get("model")
    if isinstance(inner, dict):
        return {str(name): value for name, value in inner.items()}, {k: v for k, v in values.items() if k != "model"}
    return values, {}


def _optimizers(beside: dict[str, Any], path: Path) -> dict[str, list[tuple[int, ...]]]:
    unknown = sorted(beside.keys() - OPTIMIZERS)
    if unknown:
        raise InputError(f"holds, beside the model and its optimizers, what is not known: {', '.join(unknown)}", path)
    shapes = [tuple(tensor.shape) for name in sorted(beside) for tensor in _tensors_in(beside[name])]
    dropped = {"optimizer state": shapes} if shapes else {}
    if any(isinstance(value, Inert) for value in beside.values()):
        dropped["optimizer as an object, not read"] = []
    return dropped


def _tensors_in(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [tensor for item in inner for tensor in _tensors_in(item)]


def _torch_tensors(state: dict[str, Any], path: Path) -> dict[str, SourceTensor]:
    def reader(tensor: torch.Tensor) -> Callable[[], FloatArray]:
        return lambda: tensor.detach().to(torch.float32).numpy()

    tensors = {}
    for name, value in state.items():
        if not isinstance(value, torch.Tensor):
            what = "an object that is not read" if isinstance(value, Inert) else f"a {type(value).__name__}"
            raise InputError(f"{name} is no tensor but {what}", path)
        tensors[name] = SourceTensor(tuple(value.shape), reader(value))
    return tensors


def encoder_config_of(folder: Path) -> dict[str, Any] | None:
    """The configuration of an encoder in a folder; None if there is none.

    A config.json may be anything's: the authors' trainer writes its own beside the checkpoint, with a `model_type` of
    its own.
    """
    for name in ENCODER_CONFIGS:
        path = folder / name
        if path.is_file():
            values = read_json(path)
            if not isinstance(values, dict) or values.keys() >= TRAINER_KEYS:
                continue
            if "hidden_size" in values or "model_type" in values:
                return values
    return None


def has_encoder_weights(folder: Path) -> bool:
    return any((folder / name).is_file() for name in WEIGHTS)


def read_encoder_weights(folder: Path) -> dict[str, SourceTensor]:
    """The tensors of an encoder's folder, from model.safetensors or pytorch_model.bin."""
    if (folder / WEIGHTS[0]).is_file():
        return _safetensors(folder / WEIGHTS[0])
    if (folder / WEIGHTS[1]).is_file():
        # SpanBERT's own code expects weights by name, or under "model" as they were pretrained.
        return _torch_tensors(_model_and_rest(read_torch_file(folder / WEIGHTS[1]))[0], folder / WEIGHTS[1])
    raise InputError(
        f"no checkpoint is recognised here: there is no {BEST_OF_BASELINE}.index (TensorFlow), no checkpoint.bin "
        f"and no {' or '.join(WEIGHTS)} (an encoder)",
        folder,
    )


def _safetensors(path: Path) -> dict[str, SourceTensor]:
    def reader(name: str) -> Callable[[], FloatArray]:
        def read() -> FloatArray:
            with safe_open(path, framework="pt") as file:
                values: FloatArray = file.get_tensor(name).to(torch.float32).numpy()
            return values

        return read

    try:
        with safe_open(path, framework="pt") as file:
            return {
                name: SourceTensor(tuple(file.get_slice(name).get_shape()), reader(name))
                for name in file.keys()  # noqa: SIM118 - it is no dictionary
            }
    except SafetensorError as error:
        raise InputError(f"damaged: {error}; fetch it again", path) from error
