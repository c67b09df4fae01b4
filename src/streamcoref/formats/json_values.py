"""Reading JSON lines whose every value is checked, so that a mistake is named with its file, line and key."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from streamcoref.document import Span
from streamcoref.errors import InputError

_SHOWN = 60  # characters of a value in a message


class JsonObject:
    """One line's object. Each method returns the value of a key as the type it names, or raises InputError.

    `path` is None where the values came from no file.
    """

    def __init__(self, values: Mapping[str, Any], path: Path | None, line: int) -> None:
        self.values, self.path, self.line = values, path, line

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def error(self, message: str) -> InputError:
        return InputError(message, self.path, self.line)

    def string(self, key: str) -> str:
        value = self._required(key)
        if not isinstance(value, str):
            raise self.error(f"{key!r} must be a string")
        return value

    def optional_string(self, key: str) -> str | None:
        return None if self.get(key) is None else self.string(key)

    def strings(self, key: str) -> list[str]:
        value = self._required(key)
        if not _is_strings(value):
            raise self.error(f"{key!r} must be a list of strings")
        return list(value)

    def string_lists(self, key: str) -> list[list[str]]:
        value = self._required(key)
        if not isinstance(value, list):
            raise self.error(f"{key!r} must be a list of lists of strings")
        for number, item in enumerate(value):
            if not _is_strings(item):
                raise self.error(f"{key!r} must be a list of lists of strings, but item {number} is not such a list")
        return value

    def integers(self, key: str, length: int) -> list[int]:
        value = self._required(key)
        if not isinstance(value, list) or any(type(item) is not int for item in value):
            raise self.error(f"{key!r} must be a list of integers")
        if len(value) != length:
            raise self.error(f"{key!r} has {len(value)} numbers; it must have {length}")
        return value

    def number_lists(self, key: str, length: int) -> list[list[Any]]:
        """Lists of `length` numbers, all integers but perhaps a third one."""
        value = self._required(key)
        if not isinstance(value, list):
            raise self.error(f"{key!r} must be a list of lists of {length} numbers")
        for item in value:
            if (
                not isinstance(item, list)
                or len(item) != length
                or any(type(number) is not int for number in item[:2])
                or any(type(number) not in (int, float) for number in item[2:])
            ):
                raise self.error(f"{key!r} must be a list of lists of {length} numbers, but has {_short(item)}")
        return value

    def objects(self, key: str, kinds: Mapping[str, type]) -> list[Mapping[str, Any]]:
        """A list of objects that have a value of its kind for each name."""
        value = self._required(key)
        if not isinstance(value, list):
            raise self.error(f"{key!r} must be a list of objects")
        for item in value:
            if not isinstance(item, dict) or any(type(item.get(name)) is not kind for name, kind in kinds.items()):
                raise self.error(f"{key!r} must have objects with {', '.join(kinds)}, but has {_short(item)}")
        return value

    def clusters(self, key: str, length: int) -> list[list[Span]] | None:
        """Clusters of end-exclusive spans from inclusive ones; None where the key is missing."""
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(cluster, list) for cluster in value):
            raise self.error(f"{key!r} must be a list of clusters, each a list of mentions [first, last]")
        for cluster in value:
            for mention in cluster:
                if not isinstance(mention, list) or len(mention) != 2 or any(type(n) is not int for n in mention):
                    raise self.error(
                        f"{key!r} has the mention {_short(mention)}; it must be two integers [first, last]"
                    )
                if not 0 <= mention[0] <= mention[1] < length:
                    raise self.error(
                        f"{key!r} has the mention {mention}, outside the document's offsets 0 to {length - 1}"
                        if mention[0] <= mention[1]
                        else f"{key!r} has the mention {mention}, whose end comes before its start"
                    )
        return [[(first, last + 1) for first, last in cluster] for cluster in value]

    def _required(self, key: str) -> Any:
        if key not in self.values:
            raise self.error(f"the document has no {key!r}")
        return self.values[key]


def read_objects(lines: Iterable[str], path: Path) -> Iterator[JsonObject]:
    """Yield the object of each line; blank lines are skipped."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"broken JSON at column {error.colno}: {error.msg}", path, number) from None
        except (RecursionError, ValueError) as error:  # nested too deep, or a number of thousands of digits
            raise InputError(f"JSON that cannot be read: {error}", path, number) from None
        if not isinstance(values, dict):
            raise InputError("a line must be one JSON object { ... }, a document", path, number)
        yield JsonObject(values, path, number)


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _short(value: object) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
