"""Pages of the site that are files of the repository, and links to files that the site does not have.

mkdocs runs this file (`hooks` in `mkdocs.yml`). On the repository's own pages links go from file to file; here those
that lead to a page of the site are turned to it, and what is left to other files becomes plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
# Files of the repository by the pages that they become.
PAGES = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "security.md": "SECURITY.md",
    "model-card.md": "src/streamcoref/models/default/README.md",
}
_SITE = {source: page for page, source in PAGES.items()}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    for page, source in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    source = PAGES.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def turned(link: re.Match[str]) -> str:
        image, text, target, anchor = link.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path in _SITE or path.startswith("docs/"):
            # What is not there either is left for mkdocs to complain of.
            return f"{image}[{text}]({_SITE.get(path, path.removeprefix('docs/'))}{anchor or ''})"
        return text if (ROOT / path).exists() else link[0]

    return _LINK.sub(turned, markdown)
