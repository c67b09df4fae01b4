"""Files of a model folder that may be a stranger's: looked at before they are read, and read with bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamcoref.errors import StreamcorefError

LARGEST = 128 << 20  # bytes of a JSON file; the largest tokenizers have some ten millions


def check_file(path: Path, largest: int | None = None) -> None:
    """Raise unless a path is a file; a FileNotFoundError if nothing is there."""
    if not path.exists():
        raise FileNotFoundError(path)
    if not path.is_file():  # a pipe would wait for ever
        raise StreamcorefError(f"{path} is not a file")
    if largest is not None and path.stat().st_size > largest:
        raise StreamcorefError(f"{path} has more than {largest >> 20} megabytes, which no such file needs")


def read_json(path: Path) -> Any:
    """The value in a JSON file; a FileNotFoundError if nothing is there, everything else is a sentence."""
    check_file(path, LARGEST)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StreamcorefError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise StreamcorefError(f"{path} is not valid JSON: {error}") from error
    except RecursionError:
        raise StreamcorefError(f"{path} is not a sensible JSON file: its values are nested without end") from None


def read_table(path: Path) -> dict[str, Any]:
    """As `read_json`, of a file that has to hold a table."""
    values = read_json(path)
    if not isinstance(values, dict):
        raise StreamcorefError(f"{path} holds a {type(values).__name__} where a table is expected")
    return values


def why(error: BaseException) -> str:
    """What another library complains of, as one sentence."""
    if needs_code(error):
        return "it needs program code that comes with it, and such code is never run; use one that transformers knows"
    if isinstance(error, FileNotFoundError) and error.strerror is None:  # of `check_file`
        return f"there is no {error}"
    lines = [line.strip() for line in str(error).strip().splitlines()] or [type(error).__name__]
    return " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]  # some say only where in their first line


def needs_code(error: BaseException) -> bool:
    """Whether transformers would have to run something that was fetched with a model."""
    return "trust_remote_code" in str(error)
