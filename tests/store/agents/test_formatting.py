"""What Agents shows."""

from datetime import UTC, datetime
from typing import Any

from carrel.store.agents import formatting as agents
from carrel.store.agents.compare import compare_agents
from carrel.store.agents.state import AgentsState
from carrel.store.core.lists import Sort
from carrel.wire.generation.agents import Agent, AgentAlias

NOW = 1_800_000_000.0

THEN = datetime.fromtimestamp(NOW - 130, UTC)


def agent(**fields: Any) -> Agent:
    known = {
        "id": "a", "name": "support", "model": "large", "version": 0, "versions": [0],
        "created_at": THEN, "updated_at": THEN,
    }  # fmt: skip
    return Agent.model_validate({**known, **fields})


def test_agents_versions_and_changes() -> None:
    old = agent(version=3, model="large", tools=[{"type": "web_search"}])
    new = agent(
        version=4,
        version_message="shorter,\ncites pages",
        tools=[
            {"type": "web_search"},
            {"type": "document_library", "library_ids": ["0b1c"]},
        ],
        completion_args={"temperature": 0.3},
    )
    alias = AgentAlias(alias="prod", version=4, created_at=THEN, updated_at=THEN)
    state = AgentsState(
        items=(new,), selected="a", versions=(new, old), aliases=(alias,), marked=(4, 3),
        diff=compare_agents(old, new),
    )  # fmt: skip
    (row,) = agents.agent_rows(state)
    assert (row.name, row.version, row.selected) == ("support", "v4", True)
    newest, older = agents.version_rows(state, NOW)
    assert (newest.active, newest.aliases, newest.note) == (True, "prod", "shorter, cites pages")
    assert (older.active, older.marked, older.age) == (False, True, "2 min ago")
    assert agents.diff_title(state) == "v3 → v4 · 2 changes"
    words = [(row.field, row.words) for row in agents.field_rows(state.diff, {"0b1c": "contracts"})]
    assert words == [
        ("model", "large (same)"),
        ("instructions", "(same)"),
        ("tools", "web_search (same)"),
        ("tools", "+ document_library: contracts"),
        ("temperature", "+ 0.3"),
    ]


def test_a_version_without_a_note_names_its_changed_fields() -> None:
    versions = (
        agent(version=4, instructions="Be brief.", completion_args={"temperature": 0.3}),
        agent(version=3, instructions="Be brief.", completion_args={"temperature": 0.3}),
        agent(version=2, version_message="calmer", completion_args={"temperature": 0.3}),
        agent(version=1, model="small", tools=[{"type": "web_search"}], handoffs=["b"]),
        agent(version=0, instructions=""),
    )
    state = AgentsState(items=(versions[0],), selected="a", versions=versions)
    assert {row.number: row.note for row in agents.version_rows(state, NOW)} == {
        4: "",
        3: "instructions changed",
        2: "calmer",
        1: "model, tools, handoffs changed",
        0: "first version",
    }
    assert list(agents.version_notes(versions[1:2])) == [""], "the version before is unknown"


def test_versions_are_sorted_by_a_column() -> None:
    noted = {0: "zebra", 1: None, 2: "Ant"}
    versions = tuple(agent(version=n, version_message=noted[n]) for n in (2, 1, 0))
    state = AgentsState(items=(versions[0],), selected="a", versions=versions)

    def order(sort: Sort | None) -> list[int]:
        return [row.number for row in agents.version_rows(state, NOW, sort)]

    assert order(None) == order(Sort("version", descending=True)) == [2, 1, 0]
    assert order(Sort("version")) == [0, 1, 2]
    assert order(Sort("note")) == [2, 0, 1], "one without a note comes last"
    assert order(Sort("note", descending=True)) == [0, 2, 1]


def test_changed_instructions_count_lines() -> None:
    old, new = agent(instructions="a\nb\nc"), agent(instructions="a\nB\nc\nd")
    change = compare_agents(old, new)[1]
    assert agents.change_words(change) == "2 of 4 lines"
    first = compare_agents(agent(instructions=""), agent(instructions="a"))[1]
    assert agents.change_words(first) == "1 of 1 line"
