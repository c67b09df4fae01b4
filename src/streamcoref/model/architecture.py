"""The Hugging Face configuration of an encoder, looked at before anything is made of it: it may be a stranger's."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from streamcoref.errors import StreamcorefError

# What names code to be fetched and run: classes of one's own, and kernels for attention and experts.
CODE = frozenset(
    "auto_map attn_implementation _attn_implementation experts_implementation _experts_implementation".split()
)
_SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "max_position_embeddings")
_LARGEST = (1 << 31) - 1  # of any number
_MANY = 1 << 16  # of a number of things: lists as long are made of some of them, before any tensor is
_DEEPEST = 16  # tables and lists inside each other; transformers copies them by recursion
MOST_PARAMETERS = 20_000  # tensors of an encoder; the largest that are known have some thousands


def check_architecture(values: Mapping[str, Any]) -> None:
    """Raise if a configuration names code, or has sizes that nothing can have."""
    for name in _SIZES:
        if name in values and (type(values[name]) is not int or values[name] < 1):
            raise StreamcorefError(f"the encoder's {name} is {shown(values[name])}, which is not a number from 1 on")
    _check_inside(values, "", 0)


def _check_inside(value: Any, name: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise StreamcorefError(f"the encoder's configuration is nested more than {_DEEPEST} deep")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in CODE:
                raise StreamcorefError(
                    f"the encoder's configuration names {key}: code that would have to be fetched, which is never run; "
                    "take it out, or use an encoder that transformers knows by itself"
                )
            _check_inside(item, str(key), depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_inside(item, name, depth + 1)
    elif isinstance(value, int):
        counts = name.startswith(("num_", "n_")) or "layers" in name
        if abs(value) > (_MANY if counts else _LARGEST):
            raise StreamcorefError(f"the encoder's {name} is {shown(value)}, which is more than any encoder has")


def shown(value: object) -> str:
    """A value of a stranger's, short enough for a sentence."""
    if isinstance(value, int) and abs(value) > 1 << 64:
        return "a number of hundreds of digits" if abs(value) > 10**100 else "a number beyond 64 bits"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


@contextmanager
def at_most(parameters: int, what: str) -> Iterator[None]:
    """Whatever is built inside, by this thread, may have no more parameters than these.

    On torch's meta device a model costs no memory for its numbers, but a million layers cost time and objects still.
    """
    left, builder = parameters, threading.get_ident()

    def count(_module: nn.Module, _name: str, _parameter: object) -> None:
        nonlocal left
        if threading.get_ident() == builder:
            left -= 1
            if left < 0:
                raise StreamcorefError(f"{what} needs more than {parameters} tensors")

    hook = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        hook.remove()
