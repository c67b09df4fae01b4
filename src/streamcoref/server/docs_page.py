"""`/docs`: the description of the server as a page. It is made here, so that it needs no script and nothing outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

Operation = tuple[str, str, dict[str, Any]]  # path, method, and what is said of it


def docs_page(description: dict[str, Any]) -> str:
    """A page of an OpenAPI document."""
    title, about = escape(description["info"]["title"]), escape(description["info"]["description"])
    groups = _groups(description)
    contents = "".join(
        f'<p class="tag">{escape(tag)}</p><ul>{"".join(map(_line, group))}</ul>' for tag, group in groups.items()
    )
    body = "".join(
        f"<h2>{escape(tag)}</h2>{''.join(part for one in group for part in _operation(one, description))}"
        for tag, group in groups.items()
    )
    schemas = "".join(
        f'<section id="{escape(name)}"><h3>{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p>'
        f"<details><summary>Fields</summary>{_json(schema.get('properties', {}))}</details></section>"
        for name, schema in description["components"]["schemas"].items()
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}: the API</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="page/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="page/docs.css"></head>'
        f"<body><main><h1>{title}: the API</h1><p>{about}</p>"
        '<p>For programs: <a href="openapi.json">openapi.json</a>. To read on: <a href="./">the page</a>.</p>'
        f"<nav>{contents}</nav>{body}<h2>Values</h2>{schemas}</main></body></html>"
    )


def _groups(description: dict[str, Any]) -> dict[str, list[Operation]]:
    """Operations by their tags, in the order of the document."""
    groups: dict[str, list[Operation]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            groups.setdefault(operation.get("tags", ["others"])[0], []).append((path, method, operation))
    return groups


def _line(one: Operation) -> str:
    path, method, operation = one
    link = f'<a href="#{_anchor(one)}">{escape(path)}</a>'
    return f"<li>{_called(link, method)} {escape(operation.get('summary', ''))}</li>"


def _called(path: str, method: str) -> str:
    """`path` is markup."""
    return f'<code><span class="method">{method.upper()}</span>{path}</code>'


def _operation(one: Operation, description: dict[str, Any]) -> Iterator[str]:
    path, method, operation = one
    yield f'<section id="{_anchor(one)}"><h3>{escape(operation.get("summary", path))}</h3>'
    yield f"<p>{_called(escape(path), method)}</p><p>{escape(operation.get('description', ''))}</p>"
    parameters = [given for given in operation.get("parameters", []) if given["in"] != "path"]
    if parameters:
        yield '<h4>Parameters</h4><div class="wide"><table>'
        for given in parameters:
            default = given.get("schema", {}).get("default")
            said = "" if default in (None, "") else f' <span class="quiet">{escape(json.dumps(default))}</span>'
            name = escape(given["name"])
            yield f"<tr><td><code>{name}</code>{said}</td><td>{escape(given.get('description', ''))}</td></tr>"
        yield "</table></div>"
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<h4>Body: {escape(kind)} {_link(content.get('schema', {}))}</h4>{_examples(content, description)}"
    yield from _answers(operation.get("responses", {}), description)
    yield "</section>"


def _answers(responses: dict[str, Any], description: dict[str, Any]) -> Iterator[str]:
    refused = []
    for status, answer in responses.items():
        contents = answer.get("content", {})
        if not status.startswith("2"):
            refused.append(f"<tr><td>{status}</td><td>{escape(answer.get('description', ''))}</td></tr>")
            continue
        for kind, content in contents.items():
            yield f"<h4>Answer {status}: {escape(kind)} {_link(content.get('schema', {}))}</h4>"
            yield _examples(content, description)
    yield f"<details><summary>When it is refused</summary><table>{''.join(refused)}</table></details>"


def _examples(content: dict[str, Any], description: dict[str, Any]) -> str:
    """Those of a content itself, or else of its schema."""
    if "example" in content:
        return f"<pre>{escape(content['example'])}</pre>"
    schema = content.get("schema", {})
    listed = schema.get("type") == "array"
    found = description["components"]["schemas"].get(_name(schema.get("items", {}) if listed else schema), {})
    return "".join(_json([one] if listed else one) for one in found.get("examples", ()))


def _json(value: Any) -> str:
    return f'<pre tabindex="0">{escape(json.dumps(value, indent=1, ensure_ascii=False))}</pre>'


def _link(schema: dict[str, Any]) -> str:
    if schema.get("type") == "array":
        return f"list of {_link(schema.get('items', {}))}"
    name = _name(schema)
    return f'<a href="#{escape(name)}">{escape(name)}</a>' if name else ""


def _name(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _anchor(one: Operation) -> str:
    path, method, _ = one
    return escape(method + path.replace("/", "-").replace("{", "").replace("}", ""))
