"""The files that hold a model's weights: `model.safetensors`, or parts of it and an index that says what is in which.

Parts and index are called as Hugging Face's libraries do: `model-00001-of-00002.safetensors` and so on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor

from streamcoref._replacing import replacing
from streamcoref.errors import StreamcorefError
from streamcoref.model.folder_files import check_file, read_table

WEIGHTS = "model.safetensors"
INDEX = f"{WEIGHTS}.index.json"
_PART = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_MAP = "weight_map"  # in the index: the part that each tensor is in
_HEADER = 4096  # bytes of a file's header beside its tensors'
_HEAD = 128  # bytes that a header has for a tensor, beside its name


def has_weights(folder: Path) -> bool:
    return (folder / WEIGHTS).is_file() or (folder / INDEX).is_file()


def listing(folder: Path) -> Path:
    """The file that names all tensors: the one with the weights, or the index of its parts.

    Where both are there, parts were being written, or replaced, when somebody stopped that: the one file is whole.
    """
    for name in (WEIGHTS, INDEX):
        if (folder / name).exists():
            return folder / name
    raise StreamcorefError(f"{folder} is not a model folder: it has no {WEIGHTS}")


def parts(folder: Path) -> dict[Path, set[str] | None]:
    """The files with tensors, in order, each with the names that the index says it has; of one file nothing is said.

    They are all there. Whoever made the index: it names no files but parts in this folder.
    """
    found = listing(folder)
    if found.name == WEIGHTS:
        check_file(found)
        return {found: None}
    said = read_table(found).get(_MAP)
    if not isinstance(said, dict) or not said:
        raise StreamcorefError(f"{found} has no table {_MAP}, which says where each tensor is")
    names: dict[str, set[str]] = {}
    for tensor, name in said.items():
        if not isinstance(name, str) or not _PART.fullmatch(name):
            raise StreamcorefError(
                f"{found} names {str(name)[:80]!r} for a tensor; parts of weights are called {part_name(1, 2)}, and "
                "lie beside it"
            )
        names.setdefault(name, set()).add(tensor)
    for name in names:
        try:
            check_file(folder / name)
        except FileNotFoundError as error:
            raise StreamcorefError(f"{found} names {name}, which is not there; fetch or copy it again") from error
    return {folder / name: names[name] for name in sorted(names)}


def weight_files(folder: Path) -> list[Path]:
    """All that a model's weights depend on."""
    found = listing(folder)
    return [found] if found.name == WEIGHTS else [found, *parts(folder)]


def part_name(number: int, count: int) -> str:
    return f"model-{number:05}-of-{count:05}.safetensors"


def split(sizes: Mapping[str, int], max_mb: float | None) -> dict[str, list[str]]:
    """Which tensors go into which file, so that none has more megabytes (of 10^6 bytes); `sizes` are in bytes."""
    files: list[list[str]] = [[]]
    limit = float("inf") if max_mb is None else 1e6 * max_mb
    room = limit - _HEADER
    for name, size in sizes.items():
        needed = size + len(json.dumps(name)) + _HEAD
        if needed > limit - _HEADER:
            raise StreamcorefError(
                f"the tensor {name} alone has {size / 1e6:.1f} MB, which fits into no file of {max_mb:g} MB; "
                "allow larger files, or store the weights in fewer bits"
            )
        if needed > room:
            files.append([])
            room = limit - _HEADER
        files[-1].append(name)
        room -= needed
    if len(files) == 1:
        return {WEIGHTS: files[0]}
    return {part_name(number, len(files)): names for number, names in enumerate(files, 1)}


def write_weights(
    folder: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str], max_mb: float | None = None
) -> None:
    """Into one file, or into parts that are no larger. Whoever is killed leaves the old weights, the new, or none."""
    sizes = {name: tensor.nbytes for name, tensor in tensors.items()}
    files = split(sizes, max_mb)
    with ExitStack() as moving:  # each to its place, when all have been written
        for name, inside in files.items():
            part = moving.enter_context(replacing(folder / name))
            save_file({tensor: tensors[tensor] for tensor in inside}, part, metadata=metadata)
            part.chmod(0o644)  # safetensors leaves it readable for its owner alone
        if len(files) > 1:
            (folder / INDEX).unlink(missing_ok=True)  # it would speak of new parts and old ones
    if len(files) > 1:
        index = {
            "metadata": {"total_size": sum(sizes.values())},
            _MAP: {tensor: name for name, inside in files.items() for tensor in inside},
        }
        with replacing(folder / INDEX) as part:
            part.write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
    _remove_others(folder, files)


def _remove_others(folder: Path, files: Mapping[str, Any]) -> None:
    """What was there before, and what would be taken for these weights."""
    if WEIGHTS in files:
        (folder / INDEX).unlink(missing_ok=True)
    else:
        (folder / WEIGHTS).unlink(missing_ok=True)
    for file in folder.iterdir():
        if _PART.fullmatch(file.name) and file.name not in files:
            file.unlink()
