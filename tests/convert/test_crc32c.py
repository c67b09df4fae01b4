"""Checksums against published values and against the definition, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.convert.crc32c import LANES, crc32c, unmask


def eight_bits(register: int) -> int:
    for _ in range(8):
        register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register


BYTES = [eight_bits(byte) for byte in range(256)]


def by_definition(data: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in data:
        register = register >> 8 ^ BYTES[(register ^ byte) & 255]
    return register ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    ("data", "checksum"),  # RFC 3720, appendix B.4, and the check value of the CRC catalogue
    [
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (b"123456789", 0xE3069283),
        (b"", 0),
    ],
)
def test_published_values(data: bytes, checksum: int) -> None:
    assert crc32c(data) == checksum


@given(st.binary(max_size=300))
def test_short_buffers(data: bytes) -> None:
    assert crc32c(data) == by_definition(data)


@pytest.mark.parametrize("extra", [-1, 0, 1, 3])
def test_lengths_around_a_step(extra: int) -> None:
    data = np.random.default_rng(extra + 1).bytes(4 * LANES + extra)
    assert crc32c(data) == by_definition(data)


def test_many_steps_are_one_after_the_other() -> None:
    """Checksums of parts join to that of the whole: adding zeros to the front of a register of zero does nothing."""
    data = np.random.default_rng(0).bytes(3 * 4 * LANES + 17)
    register = 0xFFFFFFFF ^ crc32c(data[: 4 * LANES])
    tail = data[4 * LANES :]
    # The register so far, added to the first four bytes, has the same effect as having read the first part.
    start = (int.from_bytes(tail[:4], "little") ^ register ^ 0xFFFFFFFF).to_bytes(4, "little")
    assert crc32c(data) == crc32c(start + tail[4:])


def test_one_wrong_bit_shows() -> None:
    data = bytearray(np.random.default_rng(0).bytes(5 * 4 * LANES))
    right = crc32c(bytes(data))
    data[4 * LANES + 3] ^= 1
    assert crc32c(bytes(data)) != right


@given(st.integers(0, 0xFFFFFFFF))
def test_masking(checksum: int) -> None:
    masked = ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert unmask(masked) == checksum
