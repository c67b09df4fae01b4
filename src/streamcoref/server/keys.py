"""Keys: who may call, and whose a stream or a job is. A key itself is never kept, only its hash."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from pathlib import Path

from streamcoref.errors import InputError

SHORTEST = 16  # characters: shorter ones can be guessed
EVERYBODY = ""  # the owner of everything where there are no keys


class Keys:
    """The keys that are known; false if there are none, and then everybody is one and the same owner."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._hashes = [_hash(key) for key in keys]

    def __bool__(self) -> bool:
        return bool(self._hashes)

    def owner(self, key: str | None) -> str | None:
        """The owner with this key; None if there is no such key. It takes as long for one as for another."""
        if not self._hashes:
            return EVERYBODY
        given = _hash(key or "")
        known = False
        for one in self._hashes:
            known |= hmac.compare_digest(one, given)
        return given if known else None


def read_keys(path: Path) -> Keys:
    """A key a line; blank lines and those that begin with # are left out."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None
    except UnicodeDecodeError:
        raise InputError("not valid UTF-8", path) from None
    keys = []
    for number, line in enumerate(lines, start=1):
        key = line.strip()
        if not key or key.startswith("#"):
            continue
        if len(key) < SHORTEST or not key.isascii() or " " in key:
            raise InputError(f"a key is at least {SHORTEST} ASCII characters without blanks", path, number)
        keys.append(key)
    if not keys:
        raise InputError("there is no key in this file; write one a line", path)
    return Keys(keys)


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
