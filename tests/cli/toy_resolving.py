"""A small random model in a folder, texts it finds entities in, and ways to run the command."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from streamcoref.cli import app
from streamcoref.cli.remedies import sentence
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import save_checkpoint
from tests.evaluation import toy_evaluation
from tests.model import toys

COMMAND = Path(sys.executable).with_name("streamcoref")
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
Rows = dict[str, list[tuple[Any, ...]]]


def save_model(folder: Path, **changes: Any) -> Path:
    save_checkpoint(folder, toy_evaluation.checkpoint(**changes), "# A model of a test\n")
    return folder


def text(words: int, seed: int = 3) -> str:
    """Sentences, some of them ended by CRLF, with a character of two bytes in each."""
    document = toys.document(seed, words)
    return "".join(" ".join(sentence) + " é.\r\n" for sentence in document.sentences)


def invoke(*arguments: object, **changes: Any) -> Result:
    """Run the command in this process, the end of `main` included."""
    result = CliRunner().invoke(app, [*map(str, arguments)], **changes)
    if isinstance(result.exception, StreamcorefError):
        result.stderr_bytes = (result.stderr_bytes or b"") + f"streamcoref: {sentence(result.exception)}\n".encode()
        result.exit_code = 2
    elif result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def run(model: Path, *arguments: object, status: int = 0, given: str | bytes | None = None) -> str:
    """What the command prints; with another status than 0, its complaint, which is one line."""
    result = invoke("resolve", "--model", model, *arguments, input=given)
    assert result.exit_code == status, result.output
    if status == 2:
        assert result.stderr.count("\n") == 1
        assert result.stdout == ""
    return result.stderr if status else result.stdout_bytes.decode()


def start(*arguments: object, **changes: Any) -> subprocess.Popen[str]:
    """Start the command as a process of its own."""
    return subprocess.Popen(
        [str(COMMAND), *map(str, arguments)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **changes,
    )


def rows(path: Path) -> Rows:
    """Everything in a store."""
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: connection.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid").fetchall()
            for table in ("input", "entities", "mentions", "sections", "quotations", "merges")
        }
