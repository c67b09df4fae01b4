"""Values from outside, checked: what every table of options is, and how its mistakes are said."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

# Of values that were saved and may have been changed: nothing is taken for what it is not, and no number is so large
# that it, or twice it, is beyond 64 bits.
Count = Annotated[int, Field(strict=True, ge=0, le=1 << 48)]
Positive = Annotated[int, Field(strict=True, ge=1, le=1 << 48)]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[str, Field(strict=True)]


class Options(BaseModel):
    """Plain, checked values; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def describe_mistakes(error: ValidationError) -> str:
    """Every mistake with its place, in one sentence."""
    mistakes = []
    for mistake in error.errors():
        place = ".".join(str(step) for step in mistake["loc"])
        said = "unknown key" if mistake["type"] == "extra_forbidden" else mistake["msg"].removeprefix("Value error, ")
        mistakes.append(f"{place}: {said}" if place else said)
    return "; ".join(mistakes)
