"""Every tensor of a source accounted for: taken, known and dropped, or an error that lists it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamcoref.convert.name_map import ImportKind, NameMap, Rule, Shape
from streamcoref.convert.sources import SourceTensor
from streamcoref.errors import InputError
from streamcoref.model.arrays import FloatArray

LISTED = 20  # names in a message, at most


@dataclass(frozen=True, slots=True)
class Taken:
    """A tensor of ours and where its values come from."""

    theirs: str
    tensor: SourceTensor
    rule: Rule
    shape: Shape  # ours

    def read(self) -> FloatArray:
        values = self.tensor.read()
        if self.rule.transposed:
            values = values.T
        if self.rule.more_rows:
            values = values[: self.shape[0]]
        return values.reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Account:
    taken: dict[str, Taken]  # by our names
    dropped: dict[str, list[Shape]]  # their shapes, by reason


def account(
    tensors: Mapping[str, SourceTensor], names: NameMap, wanted: Mapping[str, Shape], kind: ImportKind, path: Path
) -> Account:
    """`wanted` are our tensors and their shapes. What the source lacks of them is the caller's to judge."""
    taken: dict[str, Taken] = {}
    dropped: dict[str, list[Shape]] = {}
    unknown = []
    for theirs, tensor in tensors.items():
        why = names.why_dropped(theirs)
        known = names.to_ours(theirs)
        if why is None and known is not None:
            ours, rule = known
            if ours in wanted:
                taken[ours] = Taken(theirs, tensor, rule, wanted[ours])
                continue
            why = _why_not_wanted(ours, rule, kind)
        if why is None:
            unknown.append(theirs)
        else:
            dropped.setdefault(why, []).append(tensor.shape)
    if unknown:
        raise InputError(f"holds what no {kind} model has and nothing says to drop: {listed(unknown)}", path)
    for one in taken.values():
        _check_shape(one, kind, path)
    return Account(taken, dropped)


def check_complete(found: Account, names: NameMap, wanted: Mapping[str, Shape], path: Path) -> None:
    """An error if anything of ours is missing that may not be new."""
    missing = [ours for ours in wanted if ours not in found.taken and not names.may_be_new(ours)]
    if missing:
        theirs = [known[0] if (known := names.to_theirs(ours)) else ours for ours in missing]
        raise InputError(f"misses {listed(theirs)}", path)


def listed(names: list[str]) -> str:
    return ", ".join(sorted(names)[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")


def _why_not_wanted(ours: str, rule: Rule, kind: ImportKind) -> str | None:
    if kind == "encoder" and not ours.startswith("encoder."):
        return "not the encoder's"
    if rule.only is not None and rule.only != kind:
        return f"only a {rule.only} has it"
    return None


def _check_shape(one: Taken, kind: ImportKind, path: Path) -> None:
    if not one.rule.fits(one.tensor.shape, one.shape, kind):
        raise InputError(
            f"{one.theirs} has shape {list(one.tensor.shape)}, "
            f"but the {kind} model needs {list(one.rule.their_shape(one.shape))}",
            path,
        )
