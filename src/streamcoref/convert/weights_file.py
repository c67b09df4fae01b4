"""A safetensors file written tensor by tensor, so that no more than one of them is ever in memory."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from streamcoref._replacing import replacing


def write_weights(
    path: Path, shapes: Mapping[str, tuple[int, ...]], read: Callable[[str], npt.NDArray[np.float32]]
) -> None:
    """Write `read(name)`, of the shape given, for every name, as 32-bit floats.

    The format: the length of a JSON header in 8 bytes, the header padded with blanks to a multiple of 8, the values.
    """
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    position = 0
    for name, shape in shapes.items():
        size = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [position, position + size]}
        position += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with replacing(path) as part, part.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes.items():
            values = read(name)
            assert values.shape == shape, name
            file.write(np.ascontiguousarray(values, dtype="<f4").data)
