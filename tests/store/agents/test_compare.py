"""What differs between two versions of an agent."""

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from carrel.store.agents.compare import FieldChange, compare_agents
from carrel.wire.generation.agents import Agent


def agent(**fields: Any) -> Agent:
    known = {
        "id": "a", "name": "support", "model": "large", "version": 0, "versions": [0],
        "created_at": datetime.now(UTC), "updated_at": datetime.now(UTC),
    }  # fmt: skip
    return Agent.model_validate({**known, **fields})


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[FieldChange]:
    return [each for each in compare_agents(agent(**old), agent(**new)) if each.change != "same"]


def test_nothing_changed() -> None:
    assert changes({}, {}) == []


def test_a_model_and_an_argument_change_from_one_value_to_another() -> None:
    assert changes(
        {"model": "large", "completion_args": {"temperature": 0.7, "stop": "x"}},
        {"model": "small", "completion_args": {"temperature": 0.3, "max_tokens": 5}},
    ) == [
        FieldChange("model", "changed", "large", "small"),
        FieldChange("max_tokens", "added", None, "5"),
        FieldChange("stop", "removed", "x", None),
        FieldChange("temperature", "changed", "0.7", "0.3"),
    ]


JSON = st.recursive(
    st.text("ab", max_size=2) | st.integers(0, 2),
    lambda child: st.lists(child, max_size=3) | st.dictionaries(st.sampled_from("ab"), child),
    max_leaves=8,
)
tools = st.lists(
    st.builds(
        lambda name, rest: {"type": "function", "function": {**rest, "name": name}},
        st.sampled_from("fg"),
        st.dictionaries(st.sampled_from("ab"), JSON),
    ),
    max_size=3,
)
versions = st.fixed_dictionaries(
    {"tools": tools, "completion_args": st.dictionaries(st.sampled_from("ab"), JSON)}
)


@given(versions, versions)
def test_structure_is_the_same_or_what_differs_is_said(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    def told(version: dict[str, Any]) -> tuple[str, list[str]]:
        # The order of tools means nothing.
        tools = sorted(json.dumps(tool, sort_keys=True) for tool in version["tools"])
        return json.dumps(version["completion_args"], sort_keys=True), tools

    found = changes(old, new)
    assert (found == []) == (told(old) == told(new))
    # What was added one way was removed the other way.
    back = changes(new, old)
    assert len(found) == len(back)
    for change in found:
        assert change.parts or change.old != change.new
        assert all(part.change != "same" for part in change.parts)


def test_every_tool_counts_by_itself() -> None:
    library = {"type": "document_library", "library_ids": ["one"]}
    function = {"type": "function", "function": {"name": "f", "parameters": {}}}
    assert changes({"tools": [function]}, {"tools": [library, function]}) == [
        FieldChange("tools", "added", None, "document_library: one")
    ]
    (removed,) = changes({"tools": [function, library]}, {"tools": [library]})
    assert (removed.field, removed.change) == ("tools", "removed")
    assert removed.old == 'function f: {"parameters": {}}'


def test_a_changed_tool_says_what_differs_inside() -> None:
    def lookup(description: str, *names: str) -> dict[str, Any]:
        parameters = {"type": "object", "required": [*names]}
        function = {"name": "lookup", "description": description, "parameters": parameters}
        return {"type": "function", "function": function}

    library = {"type": "document_library", "library_ids": ["one", "two"]}
    (library_change, function_change) = changes(
        {"tools": [library, lookup("Finds.", "city")]},
        {"tools": [{**library, "library_ids": ["two", "three"]}, lookup("Finds it.", "city", "x")]},
    )
    assert library_change.new == "document_library"
    assert library_change.parts == (
        FieldChange("library_ids", "removed", "one", None),
        FieldChange("library_ids", "added", None, "three"),
    )
    assert function_change.new == "function lookup"
    assert function_change.parts == (
        FieldChange("function.description", "changed", "Finds.", "Finds it."),
        FieldChange("function.parameters.required", "added", None, "x"),
    )


def test_a_changed_structure_of_an_argument_says_its_path() -> None:
    def form(kind: str) -> dict[str, Any]:
        return {"completion_args": {"response_format": {"type": kind}}}

    (change,) = changes(form("text"), form("json_object"))
    assert (change.field, change.change) == ("response_format", "changed")
    assert change.parts == (FieldChange("type", "changed", "text", "json_object"),)


def test_one_tool_of_two_alike_that_is_gone_counts() -> None:
    search = {"type": "web_search"}
    assert changes({"tools": [search, search]}, {"tools": [search]}) == [
        FieldChange("tools", "removed", "web_search", None)
    ]


def test_instructions_that_are_new_are_added() -> None:
    (change,) = changes({}, {"instructions": "Be kind."})
    assert (change.field, change.change) == ("instructions", "added")
    assert [line.text for line in change.lines if line.change == "added"] == ["Be kind."]


def test_cleared_fields_are_removed() -> None:
    old = {"description": "Helps.", "handoffs": ["b"], "metadata": {"k": 1}}
    assert {each.field: each.change for each in changes(old, {})} == dict.fromkeys(old, "removed")


def test_an_argument_at_its_default_says_nothing() -> None:
    assert compare_agents(agent(), agent(completion_args={"tool_choice": "auto"})) == (
        compare_agents(agent(), agent())
    )
