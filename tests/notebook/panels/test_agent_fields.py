from datetime import UTC, datetime
from typing import Any

from carrel.notebook.panels.agent_fields import AgentFields
from carrel.store.agents.drafts import Draft
from carrel.wire.generation.agents import Agent

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def draft(**fields: Any) -> Draft:
    values: dict[str, Any] = {"id": "a1", "name": "support", "model": "m", "version": 0}
    values |= {"versions": [0], "created_at": NOW, "updated_at": NOW}
    return Draft.of(Agent(**{**values, **fields}))


def edited(draft: Draft, **fields: Any) -> Draft:
    return AgentFields.of(draft).model_copy(update=fields).onto(draft)


def test_a_form_that_is_not_touched_changes_nothing() -> None:
    old = draft(
        instructions="Be kind.",
        completion_args={"temperature": 0.2, "top_p": 0.9},
        tools=[{"type": "web_search"}, {"type": "document_library", "library_ids": ["l1"]}],
        metadata={"k": 1},
    )
    assert AgentFields.of(old).onto(old) == old


def test_what_is_filled_in_is_taken_and_the_rest_stays() -> None:
    old = draft(description="d", completion_args={"temperature": 0.7, "top_p": 0.9})
    new = edited(old, description="", temperature=None, max_tokens=100, message="shorter")
    assert new.fields == {
        "name": "support",
        "model": "m",
        "completion_args": {"max_tokens": 100, "top_p": 0.9},
    }
    assert new.message == "shorter"


def test_connectors_are_added_and_removed_by_name() -> None:
    new = edited(draft(tools=[{"type": "web_search"}]), connectors="tickets")
    assert new.fields["tools"] == [{"type": "connector", "connector_id": "tickets"}]


def test_another_library_keeps_the_other_tools() -> None:
    tools = [{"type": "web_search"}, {"type": "document_library", "library_ids": ["l1"]}]
    new = edited(draft(tools=tools), libraries=["l2"])
    assert [tool["type"] for tool in new.fields["tools"]] == ["web_search", "document_library"]
    assert new.libraries == ("l2",)
