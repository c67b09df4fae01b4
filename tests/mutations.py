"""What somebody may have done to values that were saved: one of them replaced, dropped, doubled, moved."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

DEEP = 3000


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


STRANGE: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 7, 1 << 20, 1 << 31, 1 << 48, 1 << 63, 10**30, -(1 << 63)),
    *(0.5, -1.5, 1e300, float("nan"), float("inf"), "", "x", "0", "-1", "\ud800", "\0", "x" * 5000),
    *([], {}, [1], ["x"], {"x": 1}, [[]], [None, None], nested(40)),
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a JSON value with every key, or number, in it."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from places(value[key])


def mutated(choose: random.Random, value: Any) -> Any:
    """The value, changed in one or a few places."""
    value = copy.deepcopy(value)
    for _ in range(choose.choice((1, 1, 1, 2, 4))):
        found = list(places(value))
        if not found:
            break
        # A kind of place first, or most would be in the longest list.
        key = choose.choice(sorted({str(key) for _, key in found}))
        inside, key = choose.choice([place for place in found if str(place[1]) == key])
        _change(choose, inside, key, found)
    return value


def _change(choose: random.Random, inside: Any, key: Any, found: list[tuple[Any, Any]]) -> None:
    what = choose.randrange(6)
    old = inside[key]
    if what == 0:
        del inside[key]
    elif what == 1:
        other, place = choose.choice(found)
        try:
            inside[key] = copy.deepcopy(other[place])
        except (LookupError, TypeError):  # it was changed itself meanwhile
            inside[key] = None
    elif what == 2 and isinstance(old, int | float) and not isinstance(old, bool):
        inside[key] = old + choose.choice((-1, 1, -100, 100, 1 << 32))
    elif what == 3 and isinstance(inside, list):
        inside.insert(choose.randrange(len(inside) + 1), copy.deepcopy(old))
    elif what == 4 and isinstance(inside, dict):
        inside[choose.choice(("x", "", "0", "99", "-3", "1e3", "٣"))] = copy.deepcopy(old)
    else:
        inside[key] = copy.deepcopy(choose.choice(STRANGE))
