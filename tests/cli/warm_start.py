"""Imported by a server of processes: what loading a model imports is loaded before the server forks."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from streamcoref.resolver import load
from tests.cli.toy_resolving import save_model

with TemporaryDirectory() as folder:
    load(save_model(Path(folder))).resolve("Anna ran.")
