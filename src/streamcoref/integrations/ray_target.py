"""What stands in the folder that a cluster resolves texts into: which parts count, and what is left to do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

from streamcoref.errors import InputError, Remedy, StreamcorefError
from streamcoref.integrations.ray_parts import PartDone, PartPlan
from streamcoref.integrations.ray_storage import SharedFolder, StoredFile

ORIGIN = "_streamcoref.json"  # what the parts were made with
DONE = "_done"  # a file for each part that counts
ERRORS = "_errors.jsonl"  # files that could not be resolved by the last run
PART_FILES, PART_BYTES = 256, 4 << 20  # of a part, at most: what is lost when everything is killed
_READERS = 16  # threads that read what counts: other storage takes its time for each file
_PART = re.compile(r"part-(\d{6})-[0-9a-f]{12}\.(jsonl|parquet)")


class TargetState:
    """What stands in the target. A part counts when the file of its name in `_done` says what is in it.

    This process alone writes these, one after the other, so that a part counts once however often it was made.
    """

    def __init__(self, target: SharedFolder, origin: Mapping[str, Any], ending: str, *, force: bool) -> None:
        self._target, self._ending = target, ending
        if target.is_file():
            raise StreamcorefError(f"{target.address}: this is a file; name a folder")
        target.sweep()
        there = [file.name for file in target.listed()]
        if ORIGIN in there and not force:
            self._refuse_changes(json.loads(target.read(ORIGIN)), origin)
        elif there and not force:
            raise StreamcorefError(f"{target.address}: there are other files in this folder", Remedy.WRITE_INTO)
        markers = [name for name in there if name.startswith(f"{DONE}/")]
        if force:
            for name in markers:
                target.remove(name)
            markers = []
        with ThreadPoolExecutor(_READERS) as pool:
            done = [PartDone.from_json(content) for content in pool.map(target.read, markers)]
        self._done = {name: size for part in done for name, size in part.files}
        self._numbers = count(max((_number(part.name) + 1 for part in done), default=0))
        counted = {part.name for part in done}
        for name in there:  # what nobody lived to count is made again
            if _PART.fullmatch(name) and name not in counted:
                target.remove(name)
        if ORIGIN not in there or force:
            target.write(ORIGIN, json.dumps(origin, indent=2).encode() + b"\n")

    def _refuse_changes(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        changed = [name for name in now if before.get(name) != now[name]]
        if changed:
            raise StreamcorefError(
                f"{self._target.address}: this folder was begun with another {' and another '.join(changed)}",
                Remedy.AS_BEFORE,
            )

    def left(self, files: Iterable[StoredFile]) -> list[StoredFile]:
        """The files that are in no part yet."""
        left = []
        for file in files:
            if file.name not in self._done:
                left.append(file)
            elif self._done[file.name] != file.size:
                raise InputError(
                    f"this file is not what it was when {self._target.address} was made",
                    file.name,
                    None,
                    Remedy.AS_BEFORE,
                )
        return left

    def plans(self, files: Sequence[StoredFile]) -> list[PartPlan]:
        """Files in their order, so many together that a part is not long, and parts are not many."""
        groups: list[list[StoredFile]] = []
        size = 0
        for file in files:
            if not groups or len(groups[-1]) == PART_FILES or size + file.size > PART_BYTES:
                groups.append([])
                size = 0
            groups[-1].append(file)
            size += file.size
        return [PartPlan(self._name(group), tuple((file.name, file.size) for file in group)) for group in groups]

    def _name(self, files: Sequence[StoredFile]) -> str:
        digest = hashlib.blake2b(json.dumps(files).encode(), digest_size=6).hexdigest()
        return f"part-{next(self._numbers):06}-{digest}{self._ending}"

    def commit(self, part: PartDone) -> None:
        if part.files:
            self._target.write(f"{DONE}/{part.name}.json", part.to_json().encode() + b"\n")

    def note_errors(self, errors: Mapping[str, StreamcorefError]) -> None:
        lines = [json.dumps({"file": file, "error": str(error)}, ensure_ascii=False) for file, error in errors.items()]
        if lines:
            self._target.write(ERRORS, "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
        else:
            self._target.remove(ERRORS)


def _number(part: str) -> int:
    found = _PART.fullmatch(part)
    return int(found[1]) if found else -1
