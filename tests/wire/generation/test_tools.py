"""Tools and tool calls."""

from typing import Any

import pytest
from pydantic import ValidationError

from carrel.wire.generation.agents import Agent, AgentCreate
from carrel.wire.generation.tools import LibraryTool, ToolCall

AGENT: dict[str, Any] = {
    "id": "ag_1",
    "name": "support",
    "model": "m",
    "version": 0,
    "versions": [0],
    "created_at": "2026-01-02T03:04:05Z",
    "updated_at": "2026-01-02T03:04:05Z",
}


def test_a_library_tool_needs_a_library() -> None:
    tool = {"type": "document_library", "library_ids": ["l"]}
    agent = AgentCreate.model_validate({"model": "m", "name": "n", "tools": [tool]})
    assert agent.tools == [LibraryTool(type="document_library", library_ids=["l"])]
    with pytest.raises(ValidationError):
        AgentCreate.model_validate(
            {"model": "m", "name": "n", "tools": [{**tool, "library_ids": []}]}
        )


def test_a_tool_of_unknown_type_is_refused_when_sent_and_kept_when_answered() -> None:
    with pytest.raises(ValidationError):
        AgentCreate.model_validate({"model": "m", "name": "n", "tools": [{"type": "time_travel"}]})
    agent = Agent.model_validate({**AGENT, "tools": [{"type": "time_travel", "year": 1900}]})
    assert agent.tools == [{"type": "time_travel", "year": 1900}]


def test_an_agent_of_an_older_service_parses_with_nulls_and_gaps() -> None:
    agent = Agent.model_validate({**AGENT, "tools": None, "completion_args": None})
    assert (agent.tools, agent.completion_args, agent.source) == ([], {}, "api")


def test_arguments_given_as_an_object_become_json_text() -> None:
    call = ToolCall.model_validate({"id": "abc", "function": {"name": "f", "arguments": {"a": 1}}})
    assert call.function.arguments == '{"a": 1}'
