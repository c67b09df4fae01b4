"""The option `--set` of commands that read a TOML file."""

from __future__ import annotations

from collections.abc import Sequence

from streamcoref.errors import StreamcorefError


def check_settings(settings: Sequence[str] | None) -> Sequence[str]:
    """The values of `--set`, each of which must be `key=value`."""
    from streamcoref.training.recipe import parse_setting

    for setting in settings or ():
        try:
            parse_setting(setting)
        except StreamcorefError as error:
            raise StreamcorefError(f"--set {error}") from error
    return settings or ()
