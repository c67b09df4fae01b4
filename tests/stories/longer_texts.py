"""Ten longer everyday texts, a file each in `longer/`, whose README says what is marked and how."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "longer"
LONGER_TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))}
