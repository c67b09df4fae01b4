"""The weights of a model folder: what their header says, compared with what a config needs, and then read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError, safe_open

from streamcoref.errors import StreamcorefError
from streamcoref.model.architecture import at_most
from streamcoref.model.base import CorefModel
from streamcoref.model.config import ModelConfig, build_model
from streamcoref.model.folder_files import check_file, why
from streamcoref.model.tokenizer import PieceTokenizer

WEIGHTS = "model.safetensors"
CONFIG = "config.json"
_FLOATS = frozenset(("F64", "F32", "F16", "BF16"))
_MORE = 64  # parameters that a model may have while it is built and not in the end, such as a pooler


class TensorHead(NamedTuple):
    """What the header of a file says of a tensor."""

    dtype: str
    shape: tuple[int, ...]


@contextmanager
def making(path: Path) -> Iterator[None]:
    """Whatever goes wrong while a model is made of a config, as a sentence."""
    try:
        yield
    except StreamcorefError as error:
        said = error.problem if str(path.parent) in error.problem else f"{path}: {error.problem}"
        raise StreamcorefError(said, error.remedy) from error
    except (Exception, MemoryError) as error:  # a stranger's values can make it fail in any way
        raise StreamcorefError(f"{path}: no model can be made of this: {why(error)}") from error


def check_weights(path: Path, config: ModelConfig, tokenizer: PieceTokenizer) -> None:
    """Raise unless a file has the very tensors that a config needs. No memory is spent on any of them."""
    found = weights_header(path)
    with (
        making(path.with_name(CONFIG)),
        torch.device("meta"),
        at_most(2 * len(found) + _MORE, f"{path} has {len(found)} tensors, but the model of {CONFIG}"),
    ):
        model = build_model(config, tokenizer=tokenizer)
    _compare(path, found, model)
    kept = set(model.state_dict())
    beside = sum(buffer.numel() for name, buffer in model.named_buffers() if name not in kept)
    if beside > max(1 << 24, path.stat().st_size):
        raise StreamcorefError(
            f"{path.with_name(CONFIG)}: its tables would have {beside} numbers, more than its weights"
        )


def weights_header(path: Path) -> dict[str, TensorHead]:
    """Names, types and shapes of all tensors. The library bounds the header's length and checks it against the file."""
    try:
        check_file(path)
        with safe_open(path, framework="pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - it is no dictionary
            return {name: TensorHead(part.get_dtype(), tuple(part.get_shape())) for name, part in slices.items()}
    except FileNotFoundError as error:
        raise StreamcorefError(f"{path.parent} is not a model folder: it has no {WEIGHTS}") from error
    except SafetensorError as error:
        raise StreamcorefError(f"{path} is damaged: {error}") from error


def load_weights(model: CorefModel, path: Path) -> None:
    """Every tensor of the model from the file, and every tensor of the file into the model, or an error naming them."""
    wanted = model.state_dict()
    _compare(path, weights_header(path), model)
    with safe_open(path, framework="pt") as file:
        for name, tensor in wanted.items():
            tensor.copy_(file.get_tensor(name))


def _compare(path: Path, found: Mapping[str, TensorHead], model: CorefModel) -> None:
    wanted = model.state_dict()
    _complain(path, "misses", wanted.keys() - found.keys())
    _complain(path, "has unknown", found.keys() - wanted.keys())
    for name, tensor in wanted.items():
        dtype, shape = found[name]
        if shape != tuple(tensor.shape):
            raise StreamcorefError(
                f"{path}: the tensor {name} has shape {list(shape)}, "
                f"but the model of {CONFIG} needs {list(tensor.shape)}"
            )
        if tensor.is_floating_point() and dtype not in _FLOATS:
            raise StreamcorefError(f"{path}: the tensor {name} holds {dtype}, but the model of {CONFIG} needs floats")


def _complain(path: Path, verb: str, names: set[str]) -> None:
    if names:
        shown = ", ".join(sorted(names)[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        raise StreamcorefError(f"{path} {verb} tensors: {shown}")
