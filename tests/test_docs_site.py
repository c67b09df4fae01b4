"""The site: it builds without a warning, every link within it leads somewhere, and the reference has every name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import streamcoref

ROOT = Path(__file__).resolve().parent.parent
NEEDS = [name for name in ("mkdocs", "material", "mkdocstrings") if find_spec(name) is None]
needs_mkdocs = pytest.mark.skipif(
    bool(NEEDS), reason=f"{', '.join(NEEDS)} not installed: pip install 'streamcoref[docs]'"
)
PUBLIC = [name for name in streamcoref.__all__ if name != "__version__"]


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        str(config),
        "--site-dir",
        str(site),
    ]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    result = build(ROOT / "mkdocs.yml", folder)
    assert result.returncode == 0, result.stderr
    return folder


@needs_mkdocs
@pytest.mark.slow
def test_every_page_is_there(site: Path) -> None:
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} | {
        "contributing",
        "changelog",
        "security",
        "model-card",
    }
    assert {path.parent.name for path in site.glob("*/index.html")} >= pages
    assert "docs/integrations.md" not in re.findall(
        r'href="([^"]*)"', (site / "index.html").read_text(encoding="utf-8")
    )
    assert not (site / "hooks").exists()


@needs_mkdocs
@pytest.mark.slow
def test_the_reference_has_every_public_name(site: Path) -> None:
    page = (site / "api" / "index.html").read_text(encoding="utf-8")
    shown = set(re.findall(r'<h2 id="streamcoref\.(\w+)"', page))
    assert shown == set(PUBLIC)
    for method in ("Resolver.resolve", "Resolver.push_to_hub", "Document.to_frame", "Stream.feed", "Store.entities"):
        assert re.search(rf'<h3 id="streamcoref\.{re.escape(method)}"', page), method
    assert "A stream keeps to them from its beginning to its end" in page


@needs_mkdocs
@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"', page.read_text(encoding="utf-8"))
        assert not loaded, f"{page}: {loaded}"


@needs_mkdocs
@pytest.mark.slow
@pytest.mark.parametrize("link", ["[gone](gone.md)", "[gone](resolving.md#gone)", "[gone](../gone.py)"])
def test_a_broken_link_is_an_error(tmp_path: Path, link: str) -> None:
    """With the site's own settings, on a site of two pages."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "resolving.md").write_text("# Resolving\n", encoding="utf-8")
    (docs / "extra.md").write_text(f"# Extra\n\n{link}\n", encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[0]
    settings = settings.replace("docs_dir: docs", f"docs_dir: {docs}")
    settings = settings.replace("hooks: [docs/hooks/pages.py]", "")
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    result = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert result.returncode != 0
    assert "gone" in result.stderr
    (docs / "extra.md").write_text("# Extra\n\n[there](resolving.md#resolving)\n", encoding="utf-8")
    assert build(tmp_path / "mkdocs.yml", tmp_path / "site").returncode == 0
