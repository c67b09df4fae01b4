"""Names of tensors elsewhere and here, and how the values differ: data in `maps/`, one file a source.

A rule is a pair of names and can be read in both directions. `{n}` stands for a number and `{rest}` for anything.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.resources import files
from typing import Any, Literal

ImportKind = Literal["baseline", "incremental", "encoder"]
Shape = tuple[int, ...]

_HOLES = {"n": r"\d+", "rest": ".+"}


@dataclass(frozen=True)
class Rule:
    """`theirs` is called `ours` here.

    `transposed`: a matrix is stored the other way round. `squeezed`: sides of length 1 may be left out there.
    `more_rows`: an incremental model needs only the first rows. `only`: a kind of model that alone has it.
    """

    theirs: str
    ours: str
    transposed: bool = False
    squeezed: bool = False
    more_rows: bool = False
    only: ImportKind | None = None

    def our_name(self, theirs: str) -> str | None:
        return _translate(self._theirs, self.ours, theirs)

    def their_name(self, ours: str) -> str | None:
        return _translate(self._ours, self.theirs, ours)

    @cached_property
    def _theirs(self) -> re.Pattern[str]:
        return _pattern(self.theirs)

    @cached_property
    def _ours(self) -> re.Pattern[str]:
        return _pattern(self.ours)

    def their_shape(self, ours: Shape) -> Shape:
        """The shape there of a tensor that has shape `ours` here; squeezed ones in full."""
        return ours[::-1] if self.transposed else ours

    def fits(self, theirs: Shape, ours: Shape, kind: ImportKind) -> bool:
        wanted = self.their_shape(ours)
        if self.squeezed and _long_sides(theirs) == _long_sides(wanted):
            return True
        if self.more_rows and kind == "incremental" and theirs[1:] == wanted[1:]:
            return theirs[0] >= wanted[0]
        return theirs == wanted


@dataclass(frozen=True)
class NameMap:
    """All that is known of one kind of source. `sizes` maps values of our config to (their tensor, side)."""

    name: str
    kinds: tuple[ImportKind, ...]
    rules: tuple[Rule, ...]
    dropped: tuple[tuple[str, str], ...]  # pattern of their names, reason
    untrained: tuple[str, ...]  # patterns of our names that the source does not have
    encoder_elsewhere: bool = False  # whether the encoder, or parts of it, may come from another folder
    layers: str | None = None  # a name of theirs that each layer of the encoder has once
    sizes: dict[str, tuple[str, int]] = field(default_factory=dict)
    baseline_sizes: dict[str, tuple[str, int]] = field(default_factory=dict)
    segments: dict[str, int] = field(default_factory=dict)  # folder name -> pieces a segment
    settings: dict[str, Any] = field(default_factory=dict)  # values of our config

    def to_ours(self, theirs: str) -> tuple[str, Rule] | None:
        return next(((ours, rule) for rule in self.rules if (ours := rule.our_name(theirs)) is not None), None)

    def to_theirs(self, ours: str) -> tuple[str, Rule] | None:
        return next(((theirs, rule) for rule in self.rules if (theirs := rule.their_name(ours)) is not None), None)

    def why_dropped(self, theirs: str) -> str | None:
        return next((why for pattern, why in self.dropped if fnmatchcase(theirs, pattern)), None)

    def may_be_new(self, ours: str) -> bool:
        return any(fnmatchcase(ours, pattern) for pattern in self.untrained)

    def count_layers(self, names: list[str]) -> int:
        assert self.layers is not None
        pattern = _pattern(self.layers)
        return sum(pattern.fullmatch(name) is not None for name in names)


def read_map(name: str) -> NameMap:
    """One of the files in `maps/`."""
    values = _read(name)
    return NameMap(
        name=name,
        kinds=tuple(values["kinds"]),
        rules=tuple(Rule(**rule) for rule in values["tensors"]),
        dropped=tuple((entry["theirs"], entry["why"]) for entry in values["dropped"]),
        untrained=tuple(values["untrained"]),
        encoder_elsewhere=values.get("encoder_elsewhere", False),
        layers=values.get("layers"),
        sizes={key: (tensor, side) for key, (tensor, side) in values["sizes"].items()},
        baseline_sizes={key: (tensor, side) for key, (tensor, side) in values.get("baseline_sizes", {}).items()},
        segments=values.get("segments", {}),
        settings=values.get("settings", {}),
    )


def encoder_map(theirs: set[str], ours: list[str]) -> NameMap:
    """The map of an encoder's file with the names `theirs` to the architecture with the names `ours`.

    The prefix is the one behind which most of ours are found.
    """
    values = _read("encoder_folder")
    spellings = values["spellings"]

    def spelled(name: str) -> list[str]:
        return [name, *(name.replace(mine, other) for other, mine in spellings if mine in name)]

    def found(prefix: str) -> list[Rule]:
        rules = []
        for name in ours:
            there = next((prefix + s for s in spelled(name) if prefix + s in theirs), prefix + name)
            rules.append(Rule(theirs=there, ours=f"encoder.model.{name}"))
        return rules

    prefix = max(values["prefixes"], key=lambda p: sum(rule.theirs in theirs for rule in found(p)))
    dropped = [(prefix + entry["theirs"], entry["why"]) for entry in values["dropped"]]
    return NameMap(
        name="encoder_folder",
        kinds=tuple(values["kinds"]),
        rules=tuple(found(prefix)),
        dropped=(*dropped, *((pattern, "pretraining heads") for pattern in values["heads"])),
        untrained=tuple(values["untrained"]),
    )


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files("streamcoref.convert.maps") / f"{name}.toml").read_text(encoding="utf-8"))


def _pattern(name: str) -> re.Pattern[str]:
    pattern = re.escape(name)
    for hole, inside in _HOLES.items():
        pattern = pattern.replace(re.escape("{" + hole + "}"), f"(?P<{hole}>{inside})")
    return re.compile(pattern)


def _translate(pattern: re.Pattern[str], target: str, name: str) -> str | None:
    match = pattern.fullmatch(name)
    return None if match is None else target.format(**match.groupdict())


def _long_sides(shape: Shape) -> Shape:
    return tuple(side for side in shape if side != 1)
