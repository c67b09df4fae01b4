"""The weights of a model folder: what their headers say, compared with what a config needs, and then read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from streamcoref.errors import StreamcorefError
from streamcoref.model.architecture import at_most
from streamcoref.model.base import CorefModel
from streamcoref.model.config import ModelConfig, build_model
from streamcoref.model.folder_files import why
from streamcoref.model.int8_rows import restore
from streamcoref.model.storage import INT8_ROWS, SCALE
from streamcoref.model.tokenizer import PieceTokenizer
from streamcoref.model.weight_files import listing, parts

CONFIG = "config.json"
_FLOATS = frozenset(("F64", "F32", "F16", "BF16"))
_MORE = 64  # parameters that a model may have while it is built and not in the end, such as a pooler
_TABLES = 1 << 24  # numbers that a model may have besides its weights, however few these are: positions and the like


@dataclass(frozen=True, slots=True)
class TensorHead:
    """What the header of a file says of a tensor."""

    file: Path
    dtype: str
    shape: tuple[int, ...]
    in_rows: bool  # whether its file says that matrices may be int8 with scales


@dataclass(frozen=True, slots=True)
class Header:
    """What all files of a model's weights say together."""

    listing: Path  # that should name every tensor
    files: tuple[Path, ...]
    tensors: dict[str, TensorHead]


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


def check_weights(folder: Path, config: ModelConfig, tokenizer: PieceTokenizer) -> None:
    """Raise unless a folder has the very tensors that a config needs. No memory is spent on any of them."""
    found = weights_header(folder)
    count = len(found.tensors)
    with (
        making(folder / CONFIG),
        torch.device("meta"),
        at_most(2 * count + _MORE, f"{found.listing} has {count} tensors, but the model of {CONFIG}"),
    ):
        model = build_model(config, tokenizer=tokenizer)
    _compare(found, model)
    kept = set(model.state_dict())
    beside = sum(buffer.numel() for name, buffer in model.named_buffers() if name not in kept)
    if beside > max(_TABLES, sum(file.stat().st_size for file in found.files)):
        raise StreamcorefError(f"{folder / CONFIG}: its tables would have {beside} numbers, more than its weights")


def weights_header(folder: Path) -> Header:
    """Names, types and shapes of all tensors. The library bounds a header's length and checks it against the file."""
    tensors: dict[str, TensorHead] = {}
    found = parts(folder)
    for file, names in found.items():
        heads = _heads(file)
        if names is not None and names != heads.keys():
            name = min(names ^ heads.keys())
            verb = "says that" if name in names else "does not say that"
            raise StreamcorefError(f"{listing(folder)} {verb} {file.name} has the tensor {name}; it is another model's")
        tensors |= heads
    return Header(listing(folder), tuple(found), tensors)


def _heads(file: Path) -> dict[str, TensorHead]:
    try:
        with safe_open(file, framework="pt") as opened:
            storage = (opened.metadata() or {}).get("storage")
            if storage not in (None, INT8_ROWS):
                raise StreamcorefError(
                    f"{file} is stored as {storage[:40]!r}, which this version of streamcoref cannot read; "
                    "install a newer one"
                )
            slices = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118 - it is no dictionary
            return {
                name: TensorHead(file, part.get_dtype(), tuple(part.get_shape()), storage == INT8_ROWS)
                for name, part in slices.items()
            }
    except SafetensorError as error:
        raise StreamcorefError(f"{file} is damaged: {error}") from error


def load_weights(model: CorefModel, folder: Path) -> None:
    """Every tensor of the model from the files, and every tensor there into the model, or an error naming them."""
    found = weights_header(folder)
    _compare(found, model)
    with ExitStack() as closing:
        files = {file: closing.enter_context(safe_open(file, framework="pt")) for file in found.files}

        def read(name: str) -> Tensor:
            tensor: Tensor = files[found.tensors[name].file].get_tensor(name)
            return tensor

        wanted = model.state_dict()
        in_rows = _in_rows(found, wanted)
        for name, tensor in wanted.items():
            if name not in in_rows:
                tensor.copy_(read(name))
                continue
            scale = read(name + SCALE)
            if not (scale.isfinite() & (scale >= 0)).all():
                raise StreamcorefError(
                    f"{found.tensors[name + SCALE].file}: {name + SCALE} has numbers that are no scales: below zero, "
                    "or not finite"
                )
            restore(tensor, read(name), scale)


def _in_rows(found: Header, wanted: Mapping[str, Tensor]) -> set[str]:
    """The matrices that are stored as int8 with scales."""
    heads = {name: found.tensors[name] for name, tensor in wanted.items() if tensor.is_floating_point()}
    return {name for name, head in heads.items() if head.dtype == "I8" and head.in_rows}


def _compare(found: Header, model: CorefModel) -> None:
    wanted = model.state_dict()
    _complain(found.listing, "misses", wanted.keys() - found.tensors.keys())
    in_rows = _in_rows(found, wanted)
    scales = {name + SCALE: name for name in wanted if name in in_rows}
    _complain(found.listing, "misses", scales.keys() - found.tensors.keys())
    _complain(found.listing, "has unknown", found.tensors.keys() - wanted.keys() - scales.keys())
    for name, tensor in wanted.items():
        head = found.tensors[name]
        _check_shape(name, head, tuple(tensor.shape))
        if tensor.is_floating_point() and head.dtype not in _FLOATS and name not in in_rows:
            raise StreamcorefError(
                f"{head.file}: the tensor {name} holds {head.dtype}, but the model of {CONFIG} needs floats"
            )
    for scale, name in scales.items():
        shape, head = found.tensors[name].shape, found.tensors[scale]
        if len(shape) != 2:
            raise StreamcorefError(f"{head.file}: the tensor {name} is no matrix, and only matrices have scales")
        _check_shape(scale, head, shape[:1])
        if head.dtype != "F16":
            raise StreamcorefError(f"{head.file}: the tensor {scale} holds {head.dtype}; scales are F16")


def _check_shape(name: str, head: TensorHead, needed: tuple[int, ...]) -> None:
    if head.shape != needed:
        raise StreamcorefError(
            f"{head.file}: the tensor {name} has shape {list(head.shape)}, "
            f"but the model of {CONFIG} needs {list(needed)}"
        )


def _complain(path: Path, verb: str, names: set[str]) -> None:
    if names:
        shown = ", ".join(sorted(names)[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        raise StreamcorefError(f"{path} {verb} tensors: {shown}")
