"""The page to read on, as files: what the server shows, and what the format `html` puts into one file.

`index.html` begins with `main.js`, which needs a server; a written page with `documents.js`, which needs nothing. All
else is shared. There is no build: a browser loads these files as they are.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

# One statement a line is how these files write them.
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([a-z_]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:class|const|function\*?) (\w+))", re.MULTILINE)


def page_file(name: str) -> str:
    """The text of one of the files."""
    return files("streamcoref.page").joinpath(name).read_text(encoding="utf-8")


@cache
def one_script(first: str) -> str:
    """A module and all that it imports as one script: each in braces of its own, in the order of their need."""
    scripts: dict[str, str] = {}

    def add(name: str) -> None:
        text = page_file(name)
        for _, imported in _IMPORT.findall(text):
            if imported not in scripts:
                add(imported)
        exported = ", ".join(match[1] for match in _EXPORT.findall(text))
        body = _EXPORT.sub(r"\1", _IMPORT.sub(r'const \1 = modules["\2"];', text))
        scripts[name] = f'{{\n{body}modules["{name}"] = {{{exported}}};\n}}\n'

    add(first)
    return "const modules = {};\n" + "".join(scripts.values())
