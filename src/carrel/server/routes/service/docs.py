"""The documentation of the interface on one self-contained page."""

from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

router = APIRouter()

_HEADERS = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
code { font-family: ui-monospace, monospace }
summary { cursor: pointer; padding: .2rem 0 }
table { border-collapse: collapse; margin: .3rem 0 1rem 1.5rem }
td { padding: .1rem 1rem .1rem 0; vertical-align: top }
p { margin: .3rem 0 .3rem 1.5rem }
"""


@router.get("/docs", include_in_schema=False)
async def show_docs(request: Request) -> HTMLResponse:
    """Return the operations with their requests and responses."""
    return HTMLResponse("".join(_page(request.app.openapi())), headers=_HEADERS)


def _page(schema: dict[str, Any]) -> Iterator[str]:
    title = escape(f"{schema['info']['title']} {schema['info']['version']}")
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
    yield f"<style>{_STYLE}</style><h1>{title}</h1>"
    yield f"<p>{escape(schema['info']['description'])}</p>"
    yield "<p>The same for programs: <a href=/openapi.json>openapi.json</a></p><h2>Operations</h2>"
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            yield from _operation(method, path, operation)
    yield "<h2>Objects</h2>"
    for name, component in schema["components"]["schemas"].items():
        yield f"<details id='{escape(name)}'><summary><code>{escape(name)}</code></summary>"
        yield f"<p>{escape(component.get('description', ''))}</p>"
        required = component.get("required", ())
        yield from _table(
            (name, _type(field), name in required, field)
            for name, field in component.get("properties", {}).items()
        )
        yield "</details>"


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    extension = " · an extension" if operation.get("x-carrel-extension") else ""
    yield f"<details><summary><code>{method.upper()} {escape(path)}</code> "
    yield f"{escape(operation['summary'])}{extension}</summary>"
    yield f"<p>{escape(operation.get('description', ''))}</p>"
    yield from _table(
        (it["name"], _type(it.get("schema", {"type": "object"})), it.get("required", False), it)
        for it in operation.get("parameters", ())
    )
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<p>Body: {escape(kind)} {_type(content['schema'])}</p>"
    for status, answer in operation["responses"].items():
        kinds = ", ".join(
            f"{escape(kind)} {_type(content.get('schema', {}))}"
            for kind, content in answer.get("content", {}).items()
        )
        yield f"<p>{status}: {escape(answer['description'])} {kinds}</p>"
    yield "</details>"


def _table(rows: Iterator[tuple[str, str, bool, dict[str, Any]]]) -> Iterator[str]:
    yield "<table>"
    for name, type, required, described in rows:
        text = escape(described.get("description", ""))
        need = "required" if required else ""
        yield f"<tr><td><code>{escape(name)}</code><td>{type}<td>{need}<td>{text}"
    yield "</table>"


def _type(schema: dict[str, Any]) -> str:
    """Return a schema in a few words, with links to the objects it names."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f"<a href='#{name}'>{name}</a>"
    for choices in ("anyOf", "oneOf"):
        if choices in schema:
            return " or ".join(_type(choice) for choice in schema[choices])
    if "enum" in schema or "const" in schema:
        return escape(" | ".join(map(str, schema.get("enum", [schema.get("const")]))))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(str(schema.get("type", "anything")))
