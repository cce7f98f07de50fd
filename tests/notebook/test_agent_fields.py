from datetime import UTC, datetime
from typing import Any

import pytest

from carrel.notebook.agent_fields import AgentFields
from carrel.store.problem import ProblemError
from carrel.wire.agents import Agent

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def agent(**fields: Any) -> Agent:
    values: dict[str, Any] = {"id": "a1", "name": "support", "model": "m", "version": 0}
    return Agent(**{**values, "versions": [0], "created_at": NOW, "updated_at": NOW, **fields})


def test_only_what_differs_is_sent() -> None:
    old = agent(instructions="Be kind.", description="d")
    fields = AgentFields.of(old).model_copy(update={"instructions": "Be brief."})
    assert fields.update(old).body() == {"instructions": "Be brief."}


def test_an_emptied_field_is_cleared() -> None:
    old = agent(description="d")
    fields = AgentFields.of(old).model_copy(update={"description": ""})
    assert fields.update(old).body() == {"description": None}


def test_another_temperature_keeps_the_other_arguments() -> None:
    old = agent(completion_args={"temperature": 0.7, "max_tokens": 100})
    fields = AgentFields.of(old).model_copy(update={"temperature": 0.3})
    sent = fields.update(old).body()["completion_args"]
    assert (sent["temperature"], sent["max_tokens"]) == (0.3, 100)


def test_another_library_keeps_the_other_tools() -> None:
    tools = [{"type": "web_search"}, {"type": "document_library", "library_ids": ["l1"]}]
    old = agent(tools=tools)
    fields = AgentFields.of(old).model_copy(update={"libraries": ["l2"]})
    sent = fields.update(old).body()["tools"]
    assert [tool["type"] for tool in sent] == ["web_search", "document_library"]
    assert sent[1]["library_ids"] == ["l2"]


def test_without_libraries_there_is_no_library_tool() -> None:
    old = agent(tools=[{"type": "document_library", "library_ids": ["l1"]}])
    fields = AgentFields.of(old).model_copy(update={"libraries": []})
    assert fields.update(old).body() == {"tools": []}


def test_nothing_changed_is_said() -> None:
    old = agent(instructions="Be kind.", completion_args={"temperature": 0.2})
    with pytest.raises(ProblemError, match="Nothing changed"):
        AgentFields.of(old).update(old)


@pytest.mark.parametrize("missing", ["name", "model"])
def test_what_an_agent_needs_is_said(missing: str) -> None:
    fields = AgentFields(name="support", model="m").model_copy(update={missing: " "})
    with pytest.raises(ProblemError, match=f"needs a {missing}"):
        fields.create()


def test_a_new_agent_leaves_out_what_is_empty() -> None:
    assert AgentFields(name="support", model="m").create().body() == {
        "name": "support",
        "model": "m",
        "completion_args": {},
    }
