"""Numbers as headings write them."""

from __future__ import annotations

import re

import pytest

from streamcoref.text.numbers import NUMBER, number_of

ROMAN = "I II III IV V VI VII VIII IX X XI XII XIII XIV XIX XX XXI XL XLIX L LIX XC XCIX C CXXXV"
AS_NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 19, 20, 21, 40, 49, 50, 59, 90, 99, 100, 135]


@pytest.mark.parametrize(("text", "number"), list(zip(ROMAN.split(), AS_NUMBERS, strict=True)))
def test_roman_numerals(text: str, number: int) -> None:
    assert number_of(text) == number
    assert number_of(text.lower()) == number
    assert re.fullmatch(NUMBER, text, re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("One", 1),
        ("ELEVENTH", 11),
        ("Twenty-One", 21),
        ("FORTY SECOND", 42),
        ("ninetieth", 90),
        ("nineteen", 19),
        ("VIIII", 9),
        ("last", None),
        ("mix", None),
        ("IVI", None),
        ("CIVIL", None),
    ],
)
def test_other_numbers(text: str, number: int | None) -> None:
    assert number_of(text) == number
