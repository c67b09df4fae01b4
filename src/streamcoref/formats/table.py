"""The one table of formats: those of this package, and those that other packages add by an entry point."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from streamcoref import formats
from streamcoref.errors import StreamcorefError
from streamcoref.formats.base import Format

ENTRY_POINTS = "streamcoref.formats"  # the group in which another package names a `Format` value
# Names that once meant something, and what they are called now.
_HINTS = {"jsonl": "event lines are called events, documents jsonlines"}


class FormatTable(Mapping[str, Format]):
    """Formats by name, in the order in which they are asked whether a file is theirs.

    Ours are the modules of this package that have a `FORMAT`; of two of one name, ours is meant. One of another
    package is loaded when somebody wants it, and an error names it if that fails; `working` leaves it out instead,
    so that a broken one stands in nobody's way who has no use for it.
    """

    def __getitem__(self, name: str) -> Format:
        if name in self._own:
            return self._own[name]
        if name not in self._added:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = _load(self._added[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        working = [known.name for known in self.working()]
        yield from working
        yield from (name for name in sorted(self._added) if name not in working)

    def __len__(self) -> int:
        return len({*self._own, *self._added})

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._added

    def working(self) -> list[Format]:
        """All formats but those of other packages that cannot be loaded."""
        found = list(self._own.values())
        for name in self._added.keys() - self._own.keys():
            try:
                found.append(self[name])
            except StreamcorefError:
                continue
        return sorted(found, key=lambda known: (known.precedence, known.name))

    # Not at import: whoever wants no format, but one of the package's other modules, does not wait for all of them.
    @cached_property
    def _own(self) -> dict[str, Format]:
        found = pkgutil.iter_modules(formats.__path__)
        modules = (import_module(f"{formats.__name__}.{module.name}") for module in found)
        own = [cast(Format, module.FORMAT) for module in modules if hasattr(module, "FORMAT")]
        return {known.name: known for known in own}

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=ENTRY_POINTS)}

    @cached_property
    def _loaded(self) -> dict[str, Format]:
        return {}


FORMATS = FormatTable()


def format_named(name: str) -> Format:
    """The format of that name; an error names the known ones."""
    if name in FORMATS:
        return FORMATS[name]
    hint = f" ({_HINTS[name]})" if name in _HINTS else ""
    raise StreamcorefError(f"there is no format {name!r}{hint}; known formats: {names(FORMATS.working())}")


def readable() -> list[Format]:
    """The formats whose files can be read."""
    return [known for known in FORMATS.values() if known.read]


def writable() -> list[Format]:
    """The formats in which documents can be written. (Pieces can, too, once there is a tokenizer: `piece_writer`.)"""
    return [known for known in FORMATS.values() if known.write]


def names(of: list[Format]) -> str:
    return ", ".join(known.name for known in of)


def _load(point: EntryPoint) -> Format:
    whose = f"the format {point.name!r}, which {point.dist.name if point.dist else 'another package'} adds"
    try:
        found = point.load()
    except Exception as error:  # whatever another package does when it is imported
        raise StreamcorefError(
            f"{whose}, cannot be loaded: {type(error).__name__}: {error}; mend or remove that package"
        ) from error
    if not isinstance(found, Format):
        raise StreamcorefError(f"{whose}, is not a Format but a {type(found).__name__}; mend or remove that package")
    if found.name != point.name:
        raise StreamcorefError(f"{whose}, calls itself {found.name!r}; its entry point must have the same name")
    return found
