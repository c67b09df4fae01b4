"""`/docs`: the description of the server as a page. It is made here, so that it needs no script and nothing outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
.method { font-weight: bold; }
section { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
table { border-collapse: collapse; } td, th { text-align: left; padding: 0.15rem 1rem 0.15rem 0; vertical-align: top; }
:root { color-scheme: light dark; }
"""


def docs_page(description: dict[str, Any]) -> str:
    """A page of an OpenAPI document."""
    body = "".join(
        _operation(path, method, operation, description)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    )
    title, about = escape(description["info"]["title"]), escape(description["info"]["description"])
    contents = "".join(
        f'<li><a href="#{_anchor(path, method)}"><code>{method.upper()} {escape(path)}</code></a> '
        f"{escape(operation.get('summary', ''))}</li>"
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    )
    schemas = "".join(
        f'<section><h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p>'
        f"<pre>{escape(json.dumps(schema.get('properties', {}), indent=1))}</pre></section>"
        for name, schema in description["components"]["schemas"].items()
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="docs.css"></head><body><h1>{title}</h1><p>{about}</p>'
        f'<p>For programs: <a href="openapi.json">openapi.json</a></p><ul>{contents}</ul>{body}'
        f"<h2>Values</h2>{schemas}</body></html>"
    )


def style() -> str:
    return _STYLE


def _operation(path: str, method: str, operation: dict[str, Any], description: dict[str, Any]) -> str:
    return "".join(_parts(path, method, operation, description))


def _parts(path: str, method: str, operation: dict[str, Any], description: dict[str, Any]) -> Iterator[str]:
    yield f'<section id="{_anchor(path, method)}"><h2>{escape(operation.get("summary", path))}</h2>'
    yield f'<p><code><span class="method">{method.upper()}</span> {escape(path)}</code></p>'
    yield f"<p>{escape(operation.get('description', ''))}</p>"
    parameters = operation.get("parameters", [])
    if parameters:
        yield "<table><tr><th>Parameter</th><th>In</th><th></th></tr>"
        for one in parameters:
            yield (
                f"<tr><td><code>{escape(one['name'])}</code></td><td>{one['in']}</td>"
                f"<td>{escape(one.get('description', ''))}</td></tr>"
            )
        yield "</table>"
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<h3>Body: {escape(kind)}</h3>{_schema(content.get('schema', {}), description)}"
    yield "<table><tr><th>Answer</th><th></th></tr>"
    for status, answer in operation.get("responses", {}).items():
        named = [_link(content.get("schema", {})) for content in answer.get("content", {}).values()]
        yield f"<tr><td>{status}</td><td>{escape(answer.get('description', ''))} {' '.join(named)}</td></tr>"
    yield "</table></section>"


def _schema(schema: dict[str, Any], description: dict[str, Any]) -> str:
    """Its name, and examples of it."""
    found = description["components"]["schemas"].get(_name(schema), {})
    examples = "".join(f"<pre>{escape(json.dumps(one, indent=1))}</pre>" for one in found.get("examples", ()))
    return f"<p>{_link(schema)}</p>{examples}"


def _link(schema: dict[str, Any]) -> str:
    if schema.get("type") == "array":
        return f"list of {_link(schema.get('items', {}))}"
    name = _name(schema)
    return f'<a href="#{escape(name)}">{escape(name)}</a>' if name else escape(schema.get("type", ""))


def _name(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _anchor(path: str, method: str) -> str:
    return escape(method + path.replace("/", "-").replace("{", "").replace("}", ""))
