"""Strings as numbers: fixed-size memories of words, the same on every machine."""

from __future__ import annotations

from hashlib import blake2b


def text_hash(text: str) -> int:
    """A positive number, never 0, which marks an empty place."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest, "little") + 1
