"""CRC-32C, the checksum of TensorFlow's files, in numpy.

A checksum is linear over GF(2): reading a zero byte multiplies the register by a fixed matrix, and reading data adds
it. So the words of a long buffer are read as many interleaved lanes side by side, all lanes advanced at once by two
table look-ups, and the lanes are folded into one register at the end.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

POLYNOMIAL = 0x82F63B78  # Castagnoli, bits reversed
LANES = 1 << 16  # 256 kB of data a step: data, register and tables together stay in the cache
_ONES = 0xFFFFFFFF
_MASK_DELTA = 0xA282EAD8  # of the LevelDB and TensorFlow formats, which never store a checksum as it is


def crc32c(data: bytes | npt.NDArray[np.uint8]) -> int:
    """The checksum of a buffer. A memory-mapped one is read once and never held."""
    given = np.frombuffer(data, dtype=np.uint8)
    lanes = LANES
    while lanes > 1 and 2 * lanes >= len(given):
        lanes //= 2
    step = 4 * lanes
    # Zeros before the data change nothing while the register is zero: they fill up the first step.
    rest = len(given) % step
    first = np.zeros(step, dtype=np.uint8)
    first[step - rest :] = given[:rest]
    register = first.view("<u4")
    advance = _tables(step)
    for start in range(rest, len(given), step):
        register = _apply(advance, register) ^ given[start : start + step].view("<u4")
    while len(register) > 1:
        half = len(register) // 2
        register = _apply(_tables(4 * half), register[:half]) ^ register[half:]
    # The register starts as all ones and is inverted at the end; by linearity, both can be added now.
    return int(_apply(_tables(4), register)[0]) ^ _advance(_ONES, len(given)) ^ _ONES


def unmask(stored: int) -> int:
    """The checksum behind a stored one."""
    rotated = (stored - _MASK_DELTA) & _ONES
    return (rotated >> 17 | rotated << 15) & _ONES


def _apply(tables: Words, registers: Words) -> Words:
    """A linear map of many registers, by its tables [2, 65536] for their low and high halves."""
    halves = registers.view("<u2").reshape(-1, 2)
    result: Words = tables[0].take(halves[:, 0])
    result ^= tables[1].take(halves[:, 1])
    return result


@lru_cache(maxsize=32)
def _tables(count: int) -> Words:
    """What `count` zero bytes make of every half of a register."""
    tables = np.zeros((2, 1 << 16), dtype="<u4")
    for bit in range(32):
        half, low = divmod(bit, 16)
        tables[half, 1 << low : 2 << low] = tables[half, : 1 << low] ^ _advance(1 << bit, count)
    return tables


def _advance(register: int, count: int) -> int:
    """A register after `count` zero bytes."""
    for power in range(count.bit_length()):
        if count >> power & 1:
            register = _multiply(_zero_bytes(power), register)
    return register


@lru_cache(maxsize=64)
def _zero_bytes(power: int) -> tuple[int, ...]:
    """What 2 to the `power` zero bytes make of each of the 32 bits."""
    if power == -3:  # an eighth of a byte: one zero bit
        return (POLYNOMIAL, *(1 << bit for bit in range(31)))
    half = _zero_bytes(power - 1)
    return tuple(_multiply(half, column) for column in half)


def _multiply(columns: tuple[int, ...], value: int) -> int:
    result = 0
    for bit, column in enumerate(columns):
        if value >> bit & 1:
            result ^= column
    return result
