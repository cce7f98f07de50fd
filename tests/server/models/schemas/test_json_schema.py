"""JSON schemas that callers send."""

import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from carrel.server.models.schemas.json_schema import BadSchema, check, fits


@pytest.mark.parametrize(
    ("value", "fitting"), [({"a": 1}, True), ({"a": "1"}, False), ({}, False), ([], False)]
)
def test_a_value_is_held_against_a_schema(value: object, fitting: bool) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/number"}},
        "required": ["a"],
        "$defs": {"number": {"type": "integer"}},
    }
    check(schema)
    assert fits(value, schema) is fitting


def test_what_is_no_schema_is_refused_with_a_reason() -> None:
    with pytest.raises(BadSchema, match="'circle' is not valid"):
        check({"type": "circle"})


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"a": {"type": "circle"}}},
        {"prefixItems": [{"type": "circle"}]},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "items": {"type": "circle"}},
    ],
)
def test_a_broken_part_of_a_schema_is_found(schema: dict[str, Any]) -> None:
    with pytest.raises(BadSchema, match="'circle' is not valid"):
        check(schema)


def test_an_answer_that_takes_long_to_check_does_not_fit() -> None:
    parts = [{"const": number} for number in range(9000)]
    schema = {"type": "array", "items": {"anyOf": [*parts, {"type": "boolean"}]}}
    began = time.perf_counter()
    assert not fits([True] * 1000, schema)
    assert time.perf_counter() - began < 10


def test_a_schema_nested_without_end_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"items": schema}
    with pytest.raises(BadSchema):
        check(schema)


def test_nothing_is_fetched_for_a_schema() -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with HTTPServer(("127.0.0.1", 0), Handler) as inside:
        threading.Thread(target=inside.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{inside.server_port}/secret"
        assert not fits({"a": 1}, {"properties": {"a": {"$ref": url}}})
        inside.shutdown()
    assert asked == []
