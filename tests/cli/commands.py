"""Ways to run any command in this process."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from streamcoref.cli import app
from streamcoref.cli.remedies import sentence
from streamcoref.errors import StreamcorefError


def run_command(*arguments: object) -> str:
    """What a command that succeeds prints."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def complaint_of(*arguments: object) -> str:
    """What the user of a command that fails is told: one sentence, on one line."""
    with pytest.raises(StreamcorefError) as caught:
        run_command(*arguments)
    message = sentence(caught.value)
    assert "\n" not in message
    return message
