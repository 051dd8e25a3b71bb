"""The interface's contract as a page for people: made from the same document, readable without scripts."""

import json
from html import escape
from typing import Any, Final

from milepost.api.openapi import document

_STYLE: Final = "/assets/docs.css"


def page() -> str:
    """The whole page."""
    contract = document()
    paths: dict[str, dict[str, Any]] = contract["paths"]
    shapes: dict[str, Any] = contract["components"]["schemas"]
    operations = [_operation(how, path, said) for path, methods in paths.items() for how, said in methods.items()]
    schemas = [_schema(name, shape) for name, shape in sorted(shapes.items())]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Milepost: the interface</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="{_STYLE}"></head><body><main><h1>Milepost: the interface</h1>'
        '<p>The same as <a href="/openapi.json">openapi.json</a>, for reading.</p>'
        f"<h2>Routes</h2>{''.join(operations)}<h2>Shapes</h2>{''.join(schemas)}</main></body></html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    answers = "".join(
        f"<tr><td>{escape(status)}</td><td>{escape(answer['description'])}</td><td>{_kind(answer)}</td></tr>"
        for status, answer in operation["responses"].items()
    )
    takes = _kind(operation["requestBody"]) if "requestBody" in operation else ""
    asks = ", ".join(f"<code>{escape(item['name'])}</code>" for item in operation["parameters"])
    return (
        f"<section><h3><b>{escape(method.upper())}</b> <code>{escape(path)}</code></h3>"
        f"<p>{escape(operation['summary'])}</p>"
        + (f"<p>Parameters: {asks}</p>" if asks else "")
        + (f"<p>Body: {takes}</p>" if takes else "")
        + f"<table>{answers}</table></section>"
    )


def _kind(described: dict[str, Any]) -> str:
    content: dict[str, Any] = described.get("content") or {}
    schemas: list[dict[str, Any]] = [media["schema"] for media in content.values()]
    schema = schemas[0] if schemas else {}
    choices: list[dict[str, Any]] = schema.get("anyOf") or [schema]
    names = [str(choice["$ref"]).rpartition("/")[2] for choice in choices if "$ref" in choice]
    return " or ".join(f'<a href="#{escape(name)}"><code>{escape(name)}</code></a>' for name in names)


def _schema(name: str, schema: dict[str, Any]) -> str:
    says = escape(schema.get("description", ""))
    body = escape(json.dumps({key: value for key, value in schema.items() if key != "description"}, indent=2))
    title = f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
    return f"{title}<p>{says}</p><pre>{body}</pre></details>"
