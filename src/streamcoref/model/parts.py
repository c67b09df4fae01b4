"""The parts of a model as named options: how a config chooses one, and where parts of others come from.

A part is chosen by its `name`. To add one, subclass the options of its kind with a name of your own and a `build` that
turns them into plain arguments; from then on configs may name it. See `docs/extending.md`. Options live beside their
part: those of eviction policies in `evict.py`, those of a pair scorer in its own file.
"""

from __future__ import annotations

import hashlib
import sys
from abc import ABC
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from streamcoref.checked import Options
from streamcoref.errors import StreamcorefError
from streamcoref.language.lexicon import Lexicon

if TYPE_CHECKING:
    from streamcoref.model.encoder import Encoder
    from streamcoref.model.tokenizer import PieceTokenizer

ENTRY_POINTS = "streamcoref.parts"  # the group under which other packages name the modules of their parts


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a part needs to know of the model it is built into."""

    hidden_size: int  # of the encoder
    span_size: int  # of span and entity vectors
    max_width: int  # of spans
    genres: int
    schemes: int
    dropout: float
    lexicon: Lexicon
    embedding_dropout: float = 0.0  # of width and feature embeddings
    encoder: Encoder | None = None  # the model's own, for a part that reads text with it or with one like it
    tokenizer: PieceTokenizer | None = None  # where one was given to `build_model`


class PartOptions(Options, ABC):
    """Options of one kind of part. `kinds` maps the names of this kind to their classes."""

    kinds: ClassVar[dict[str, type[Any]]]
    name: str

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if PartOptions in cls.__bases__:
            cls.kinds = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        super().__pydantic_init_subclass__(**arguments)
        if PartOptions not in cls.__bases__:
            cls.kinds[cls.model_fields["name"].default] = cls

    @classmethod
    def choose(cls, value: Any) -> Self:
        """Options from a mapping (or themselves) by its `name`."""
        if isinstance(value, cls):
            return value
        name = value.get("name") if isinstance(value, dict) else None
        if isinstance(name, str) and name not in cls.kinds:
            load_installed_parts()
        if not isinstance(name, str) or name not in cls.kinds:
            raise ValueError(f"unknown name {name!r}; known: {', '.join(cls.kinds)}")
        chosen: Self = cls.kinds[name].model_validate(value)
        return chosen


@cache
def load_installed_parts() -> None:
    """Import the modules that installed packages name as `streamcoref.parts`; asked for when a name is not known."""
    for point in entry_points(group=ENTRY_POINTS):
        try:
            point.load()
        except Exception as error:
            raise StreamcorefError(
                f"the installed parts {point.name} ({point.value}) cannot be imported: {type(error).__name__}: {error}"
            ) from error


_loaded: dict[Path, None] = {}  # files whose parts are known, in order


def load_code(path: str | Path) -> None:
    """Run a Python file, so that configs may name the parts that it defines. A file that was run is not run again."""
    file = Path(path).resolve()
    if file in _loaded:
        return
    if not file.is_file():
        raise StreamcorefError(f"{path}: there is no such file with code")
    name = f"streamcoref_parts_{hashlib.blake2b(str(file).encode(), digest_size=6).hexdigest()}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise StreamcorefError(f"{path}: this is not a Python file; its name ends in .py")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise StreamcorefError(f"{path}: this code cannot be run: {type(error).__name__}: {error}") from error
    _loaded[file] = None


def loaded_code() -> list[Path]:
    """The files that `load_code` has run: what a worker process has to run as well."""
    return list(_loaded)
