"""The map of the code: every file that it names is there, and every package is on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "streamcoref"
PAGES = ("docs/architecture.md", "CONTRIBUTING.md")
_PATH = re.compile(r"`([\w./*-]*(?:/|\.(?:py|md|toml|ipynb|yml|js|css|svg|txt)))`")
# Not files of ours: what a reader is to make, what a command makes, and pages of other folders as they are linked.
OTHERS = re.compile(r"NAME|^\.venv|^build/|^\.\./|^default$")


def named(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [path for path in _PATH.findall(text) if not OTHERS.search(path)]


def find(path: str) -> list[Path]:
    """Files of the repository; the docs leave out the beginning of those of the package, and name others beside it."""
    inside = [found for place in (PACKAGE, ROOT / "tests") for found in place.rglob(path.rstrip("/"))]
    return [*ROOT.glob(path), *inside]


@pytest.mark.parametrize("page", PAGES)
def test_what_is_named_is_there(page: str) -> None:
    assert len(named(page)) > 15
    assert [path for path in named(page) if not find(path)] == []


def test_every_public_module_is_on_the_map() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    modules = [path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("_")]
    assert len(modules) > 5
    assert [name for name in modules if not re.search(rf"[`/]{name}`", text)] == []


def test_every_package_is_on_the_map() -> None:
    packages = {path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE}
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    top = {path.relative_to(PACKAGE).parts[0] for path in packages}
    assert [name for name in sorted(top) if f"src/streamcoref/{name}/`" not in text and f"`{name}/`" not in text] == []
