"""What is said when the package of an extra is not installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from streamcoref.errors import StreamcorefError


def missing_extra(package: str, extra: str) -> StreamcorefError:
    return StreamcorefError(f"{package} is not installed; run: pip install 'streamcoref[{extra}]'")


def import_extra(package: str, extra: str) -> Any:
    """The module, or an error with the command that installs it."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        # A package that is there and lacks one of its own is a fault of another kind.
        name = package.partition(".")[0]
        if error.name not in (package, name):
            raise
        raise missing_extra(name, extra) from error
