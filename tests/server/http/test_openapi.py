"""The server against its own description: what it allows, what it does not, one after another."""

import re
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from support.process import RunningServer
from support.rounds import rounds

# One test tries every operation.
pytestmark = [pytest.mark.xdist_group("openapi"), pytest.mark.timeout(600)]

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SHORT = settings(
    max_examples=rounds(15, 100),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def test_the_description_and_its_page_need_no_key_and_nothing_from_elsewhere(
    server: RunningServer,
) -> None:
    described = httpx.get(f"{server.url}/openapi.json", timeout=60).json()
    page = httpx.get(f"{server.url}/docs", timeout=60)
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert not re.search(r"<script|<link|(src|href)=['\"]?(https?:)?//", page.text)
    for path, operations in described["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}<" in page.text
    for name in described["components"]["schemas"]:
        assert f"id='{name}'" in page.text


def test_extensions_are_named_as_such(server: RunningServer) -> None:
    described = httpx.get(f"{server.url}/openapi.json", timeout=60).json()
    extensions = {
        path
        for path, operations in described["paths"].items()
        for operation in operations.values()
        if operation.get("x-carrel-extension")
    }
    assert extensions == {
        "/v1/libraries/{library_id}/search",
        "/v1/libraries/{library_id}/embeddings",
        "/v1/conversations/{conversation_id}",
        "/v1/trash",
        "/v1/trash/{item_id}",
        "/v1/trash/{item_id}/restore",
        "/leases/{lease_id}",
        "/healthz",
        "/readyz",
    }
    upload = described["paths"]["/v1/libraries/{library_id}/documents"]["post"]
    header = upload["responses"]["200"]["headers"]["Carrel-Document"]
    assert "extension" in header["description"]
    document = described["components"]["schemas"]["Document"]
    assert "extension" in document["properties"]["queue_position"]["description"]


def test_a_completion_is_described_whole_and_as_a_stream(server: RunningServer) -> None:
    described = httpx.get(f"{server.url}/openapi.json", timeout=60).json()
    schemas = described["components"]["schemas"]
    for path in ("/v1/agents/completions", "/v1/chat/completions"):
        content = described["paths"][path]["post"]["responses"]["200"]["content"]
        assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/Completion"}
        event = content["text/event-stream"]["schema"]["contentSchema"]
        assert event == {"$ref": "#/components/schemas/CompletionChunk"}
    choice = schemas["CompletionChunk"]["properties"]["choices"]["items"]["$ref"]
    assert "finish_reason" in schemas[choice.rpartition("/")[2]]["properties"]
    for name, field in {
        "Completion": "agent_version",
        "CompletionChunk": "agent_version",
        "CompletionMessage": "sources",
        "Delta": "sources",
    }.items():
        assert "extension" in schemas[name]["properties"][field]["description"]


def test_what_is_always_answered_is_required(server: RunningServer) -> None:
    schemas = httpx.get(f"{server.url}/openapi.json", timeout=60).json()["components"]["schemas"]
    required = {name: set(schema.get("required", ())) for name, schema in schemas.items()}
    assert {"id", "object", "created", "usage", "choices"} <= required["Completion"]
    assert {"tools", "handoffs", "deployment_chat", "versions"} <= required["Agent"]
    assert {"images", "dimensions", "tables", "header"} <= required["Page"]
    assert {"pagination", "data"} <= required["DocumentList"]
    # What is left out while it is empty is not.
    assert "agent_version" not in required["Completion"]
    assert "blocks" not in required["Page"]


@pytest.fixture(scope="module")
def described(server: RunningServer) -> Any:
    """The description as the server gives it, without a key.

    The limits of every field are tried one by one in the soak only: they take minutes.
    """
    config = SchemathesisConfig.from_dict({"phases": {"coverage": {"enabled": bool(rounds(0, 1))}}})
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json", config=config)


api = schemathesis.pytest.from_fixture("described")


@pytest.mark.soak
@api.parametrize()
@SHORT
def test_no_request_makes_the_server_fail_or_answer_in_another_shape(
    case: Case[Any], server: RunningServer
) -> None:
    headers = {"authorization": f"Bearer {server.api_key}"}
    case.call_and_validate(headers=headers, checks=CHECKS)


def test_no_sequence_of_requests_makes_the_server_fail(server: RunningServer) -> None:
    described = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    headers = {"authorization": f"Bearer {server.api_key}"}

    class Sequences(described.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Case[Any]) -> dict[str, Any]:
            return {"headers": headers}

        def validate_response(self, response: Any, case: Case[Any], **kwargs: Any) -> None:
            case.validate_response(response, checks=CHECKS, **kwargs)

    run_state_machine_as_test(Sequences, settings=settings(SHORT, max_examples=12))
