"""The package as it is installed: its public names, its weight, its version."""

from __future__ import annotations

import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import streamcoref

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("torch", "transformers", "scipy", "numpy", "rich", "typer", "pydantic", "ray", "pyarrow")


def best_seconds(*command: str) -> float:
    """The processor's time, the best of five runs, so that a busy machine does not decide."""
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def imported(code: str) -> set[str]:
    """Which of the heavy packages are loaded after `code` ran in a fresh interpreter."""
    code = f"{code}\nimport sys; print(*[name for name in {HEAVY} if name in sys.modules])"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_public_names() -> None:
    assert sorted(streamcoref.__all__) == [
        "Document",
        "EntitiesMerged",
        "Entity",
        "EntityFinished",
        "EntityStarted",
        "Event",
        "InputError",
        "LanguageWarning",
        "Mention",
        "MentionLabels",
        "MentionLinked",
        "Quotation",
        "QuotationFound",
        "ReadingProgress",
        "ResolveOptions",
        "Resolver",
        "Section",
        "StoppedError",
        "Store",
        "Stream",
        "StreamcorefError",
        "__version__",
        "load",
        "progress_bar",
        "render",
        "resolve_file",
    ]
    assert all(hasattr(streamcoref, name) for name in streamcoref.__all__)


def test_nothing_else_is_shown() -> None:
    """Not the modules that happen to be imported, however many those are."""
    code = "import streamcoref; streamcoref.Resolver; print(*dir(streamcoref))"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert shown == sorted(streamcoref.__all__)


def test_import_is_light() -> None:
    assert imported("import streamcoref") == set()
    assert (
        imported("import streamcoref.formats, streamcoref.text, streamcoref.store, streamcoref.language.resolved")
        == set()
    )
    assert not imported("import streamcoref.cli") & {"torch", "transformers", "scipy", "numpy"}


def test_import_is_quick() -> None:
    assert best_seconds(sys.executable, "-c", "import streamcoref") < 0.3


def test_help_is_quick() -> None:
    command = Path(sys.executable).with_name("streamcoref")
    assert best_seconds(str(command), "--help") < 0.5


def test_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert streamcoref.__version__ == project["version"]


def test_types_and_page_are_installed() -> None:
    package = Path(streamcoref.__file__).parent
    for name in ("py.typed", "page/page.css", "page/documents.js", "page/index.html"):
        assert (package / name).is_file()
