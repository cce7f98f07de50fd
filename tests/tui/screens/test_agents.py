"""Agents against a real server: made, edited, compared, tried, rolled back."""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from carrel.store.agents.drafts import Draft
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import Problem
from carrel.store.store import Store
from carrel.tui.dialogs.agent import AgentForm
from carrel.tui.dialogs.core.problem import ProblemPanel
from carrel.tui.screens.agents import AgentsScreen
from carrel.tui.widgets.details.diff import DiffView
from carrel.tui.widgets.inputs.fields import Field, MultilineField
from carrel.wire.generation.agents import Agent
from support.process import RunningServer
from support.workbench import Workbench, profile_of, workbench


@pytest.fixture
async def bench(server: RunningServer) -> AsyncIterator[Workbench]:
    """The Agents place, with no agent in the service."""
    async with workbench(profile_of(server)) as bench:
        await bench.until(lambda: bench.store.session.slice.value.connection == "ready")
        await bench.store.agents.load()
        for agent in bench.store.agents.slice.value.items:
            await bench.store.agents.delete(agent.id)
        await bench.press("4")
        await bench.shows("No agents yet.")
        yield bench


def state(bench: Workbench) -> Any:
    return bench.store.agents.slice.value


async def made(bench: Workbench, *instructions: str, **fields: Any) -> Agent:
    """An agent with a version for each instructions, shown."""
    draft = Draft.blank("smollm2").changed(name="clerk", **fields)
    agent = None
    for each in instructions:
        agent = await bench.store.agents.save(draft.changed(instructions=each))
        assert agent is not None
        draft = Draft.of(agent)
    assert agent is not None
    await bench.shows("clerk", f"v{agent.version}", "active")
    return agent


async def test_enter_in_the_empty_list_begins_an_agent(bench: Workbench) -> None:
    await bench.press("enter")
    await bench.shows("New agent from")


async def test_a_click_takes_a_way_out_of_the_empty_list_and_another_beside_a_menu_closes_it(
    bench: Workbench,
) -> None:
    lines = bench.text().splitlines()
    row = next(y for y, line in enumerate(lines) if "▸ New agent" in line)
    await bench.pilot.click(offset=(lines[row].index("New agent") + 2, row))
    await bench.shows("New agent from")
    await bench.pilot.click(offset=(2, 2))
    await bench.until(lambda: isinstance(bench.app.screen, AgentsScreen))
    # A form keeps what is typed.
    await bench.press("n", "n")
    await bench.until(lambda: isinstance(bench.app.screen, AgentForm))
    await bench.pilot.click(offset=(1, 1))
    assert isinstance(bench.app.screen, AgentForm)


async def test_a_chat_without_an_agent_leads_to_the_agents(bench: Workbench) -> None:
    await bench.press("5")
    await bench.shows("Create an agent")
    await bench.press("n")
    await bench.shows("No agents yet.", "New agent")


async def test_a_form_shows_long_instructions_from_their_first_line(bench: Workbench) -> None:
    lines = "\n".join(f"Rule {number}." for number in range(100))
    await made(bench, lines)
    await bench.press("e")
    await bench.shows("Rule 0.", "Version note")
    assert "Rule 99." not in bench.text()


async def test_an_agent_is_made_edited_compared_and_rolled_back(bench: Workbench) -> None:
    await bench.press("n", "enter")
    await bench.shows("New agent", "Instructions")
    await bench.type("clerk")
    await bench.press("tab", "tab")
    await bench.type("Answer politely.")
    await bench.press("f2")
    await bench.shows("clerk", "v0", "active", "Made clerk, v0.")
    await bench.press("e")
    await bench.shows("Edit clerk")
    await bench.press("tab", "tab")
    await bench.type(" Be brief.")
    bench.app.screen.query_one("#message", Field).value = "shorter"
    await bench.press("f2")
    await bench.shows("Save this as clerk v1?", "“shorter”", "− Answer politely.")
    await bench.press("enter")
    await bench.shows("● v1", "active  shorter", "v0")
    await bench.press("e", "f2")
    await bench.shows("Nothing changed. No version was made.")
    await bench.press("tab", "j", "enter")
    await bench.shows("v0 → v1 · 1 change", "− Answer politely.", "+ Answer politely. Be brief.")
    await bench.press("escape", "A")
    await bench.shows("Make v0 of clerk active?", "v1 is active now.", "+ Answer politely.")
    await bench.press("enter")
    await bench.shows("clerk v0 is active.")
    await bench.press("b")
    await bench.shows("Roll clerk back to v1?", "v0 is active now.", "+ Answer politely. Be brief.")
    await bench.press("enter")
    await bench.shows("clerk v1 is active.")
    await bench.press("b")
    await bench.shows("Roll clerk back to v0?")
    await bench.press("escape", "b", "enter")
    await bench.shows("clerk v0 is active.")
    await bench.press("b")
    await bench.shows("There is no version to roll back to", "clerk v0 is its first.")
    await bench.press("escape", "escape", "D")
    await bench.shows("Delete this agent?")
    await bench.press("enter")
    await bench.shows("No agents yet.")


async def test_a_model_is_chosen_from_a_list_and_an_unknown_one_is_a_warning(
    bench: Workbench,
) -> None:
    await bench.press("n", "enter")
    await bench.shows("New agent", "↓ lists 1")
    await bench.type("clerk")
    bench.app.screen.query_one("#model", Field).value = "gpt-9"
    await bench.press("f2")
    await bench.shows("This service lists no model “gpt-9”", "Available: smollm2")
    assert state(bench).items == ()
    await bench.leave("escape")
    await bench.shows("New agent", "gpt-9")
    await bench.press("tab", "down")
    await bench.shows("smollm2", "enter chooses")
    await bench.leave("enter")
    await bench.press("f2")
    await bench.shows("Made clerk, v0.")
    assert state(bench).items[0].model == "smollm2"
    # A draft that changes it shows the same warning above what changes.
    await bench.press("e")
    await bench.shows("Edit clerk")
    bench.app.screen.query_one("#model", Field).value = "gpt-9"
    await bench.press("f2")
    await bench.shows("Save this as clerk v1?", "This service lists no model “gpt-9”")


async def test_a_confirmation_that_is_left_changes_nothing(bench: Workbench) -> None:
    await made(bench, "a", "b")
    await bench.press("tab", "j", "A")
    await bench.shows("Make v0 of clerk active?")
    await bench.press("left", "enter")
    await bench.press("A", "escape")
    assert state(bench).agent.version == 1


async def test_what_is_typed_is_a_draft_without_being_saved(
    bench: Workbench, server: RunningServer
) -> None:
    await made(bench, "Be kind.")
    await bench.press("e", "tab", "tab")
    await bench.type(" Be brief.")
    # Nothing was closed or saved: this is what a crash leaves.
    await bench.until(lambda: state(bench).draft is not None)
    other = Store(profile_of(server), OwnerLoop.running())
    await other.start()
    await other.agents.load()
    (kept,) = other.agents.slice.value.drafts
    await other.close()
    assert kept.fields["instructions"] == "Be kind. Be brief."
    await bench.press("escape")
    await bench.shows("Kept as a draft.", "✎ draft", "unsaved, from v0")
    await bench.press("tab", "g")
    await bench.shows("v0 → draft · 1 change", "+ Be kind. Be brief.")
    await bench.press("e")
    assert bench.app.screen.query_one("#instructions", MultilineField).text == "Be kind. Be brief."
    await bench.press("escape", "D")
    await bench.shows("Discard this draft?")
    await bench.press("enter")
    await bench.until(lambda: state(bench).draft is None)
    assert "✎" not in bench.text()


async def test_a_draft_is_tried_beside_the_active_version_and_saved(bench: Workbench) -> None:
    agent = await made(bench, "Be kind.")
    await bench.press("t")
    await bench.shows("There is no draft to try")
    await bench.store.agents.keep(Draft.of(agent).changed(instructions="Be brief."))
    await bench.press("t")
    await bench.shows("[5 Chat]")
    chat, beside = (each.slice for each in bench.store.comparison.every[:2])
    await bench.until(lambda: chat.value.version == 0)
    assert (chat.value.agent_id, chat.value.draft) == (agent.id, False)
    await bench.shows("clerk draft")
    assert (beside.value.agent_id, beside.value.draft) == (agent.id, True)
    await bench.press("alt+4", "tab", "g", "enter")
    await bench.shows("Save this as clerk v1?")
    await bench.press("enter")
    await bench.shows("● v1")
    assert state(bench).drafts == ()


async def test_a_version_is_chatted_with(bench: Workbench) -> None:
    agent = await made(bench, "a", "b")
    await bench.press("tab", "j", "c")
    await bench.shows("[5 Chat]")
    chat = bench.store.chat.slice
    await bench.until(lambda: chat.value.version == 0)
    assert (chat.value.agent_id, chat.value.pinned) == (agent.id, 0)


async def test_two_marked_versions_are_compared_in_the_chat(bench: Workbench) -> None:
    await made(bench, "a", "b")
    await bench.press("tab", "space", "j", "space", "c")
    await bench.shows("[5 Chat]", "clerk v0", "clerk v1", "v Vote")


async def test_a_copy_is_made_of_a_version(bench: Workbench) -> None:
    await made(bench, "old", "new", description="Helps.")
    await bench.press("tab", "j", "n")
    await bench.shows("New agent from", "A copy of clerk v0")
    await bench.press("down", "enter")
    await bench.shows("clerk copy")
    await bench.press("f2")
    await bench.shows("Made clerk copy, v0.")
    assert {agent.name: agent.instructions for agent in state(bench).items} == {
        "clerk": "new",
        "clerk copy": "old",
    }


async def test_a_new_agent_begins_like_a_starting_point(bench: Workbench) -> None:
    await bench.press("n")
    await bench.shows("New agent from", "minutes", "Turns notes of a meeting into minutes")
    await bench.press("m")
    await bench.shows(
        "New agent", "Turns notes of a meeting into minutes", "Connectors, separated by commas"
    )
    bench.app.screen.query_one("#connectors", Field).value = "tickets, web_search"
    await bench.press("f2")
    await bench.shows("Made minutes, v0.")
    (agent,) = state(bench).items
    assert [tool["type"] for tool in agent.tools] == ["connector", "web_search"]
    assert agent.completion_args["temperature"] == 0.2


async def test_a_new_agent_that_was_left_is_gone_on_with(bench: Workbench) -> None:
    await bench.press("n", "enter")
    await bench.type("minutes")
    await bench.press("escape")
    await bench.shows("Kept as a draft.", "✎ 1 unsaved")
    await bench.press("n")
    await bench.shows("✎ minutes")
    await bench.press("end", "enter")
    assert bench.app.screen.query_one("#name", Field).value == "minutes"
    await bench.press("f2")
    await bench.shows("Made minutes, v0.")
    assert "unsaved" not in bench.text()


async def test_versions_that_are_on_their_way_are_said_to_load(bench: Workbench) -> None:
    await made(bench, "a")
    slice = bench.store.agents.slice
    slice.set(versions=())
    await bench.shows("Loading …")
    slice.set(error=Problem("No answer", "It is gone."))
    await bench.until(lambda: "Loading …" not in bench.text())


async def test_only_a_draft_is_kept_by_esc(bench: Workbench) -> None:
    await made(bench, "a", "b")
    await bench.press("b")
    await bench.shows("Roll clerk back to v0?", "esc closes")
    await bench.leave("escape")
    await bench.press("e")
    await bench.shows("Edit clerk")
    await bench.press("tab", "tab", "x", "f2")
    await bench.shows("Save this as clerk v2?", "esc keeps the draft")


async def test_an_alias_is_set_moved_and_removed(bench: Workbench) -> None:
    await made(bench, "a", "b")
    await bench.press("tab", "number_sign")
    await bench.shows("An alias of v1")
    await bench.type("prod")
    await bench.press("enter")
    await bench.shows("prod is now v1.")
    await bench.press("j", "number_sign")
    await bench.shows("Move prod here", "it is v1")
    await bench.press("end", "enter")
    await bench.shows("Move prod to v0?", "prod means v1 now, for everybody who asks clerk.")
    await bench.leave("escape")
    await bench.until(lambda: "Move prod to v0?" not in bench.text())
    assert [(one.alias, one.version) for one in state(bench).aliases] == [("prod", 1)]
    await bench.press("number_sign", "end", "enter")
    await bench.shows("Move prod to v0?")
    await bench.leave("enter")
    await bench.shows("prod is now v0.")
    await bench.press("number_sign")
    await bench.shows("Remove prod")
    await bench.press("end", "enter")
    await bench.shows("Remove prod?")
    await bench.leave("enter")
    await bench.shows("Removed the alias prod.")
    assert state(bench).aliases == ()
    await bench.press("number_sign")
    await bench.type("Not so")
    await bench.press("enter")
    await bench.shows("“Not so” cannot be an alias", "lower-case letters")


async def test_numbers_that_are_none_are_refused_where_they_stand(bench: Workbench) -> None:
    await made(bench, "a")
    await bench.press("e")
    bench.app.screen.query_one("#temperature", Field).value = "warm"
    await bench.press("f2")
    await bench.shows("This is not a number: warm")
    bench.app.screen.query_one("#temperature", Field).value = "7"
    await bench.press("f2")
    await bench.until(lambda: isinstance(bench.app.screen, ProblemPanel))
    await bench.shows("completion_args.temperature")
    await bench.press("escape", "e")
    assert bench.app.screen.query_one("#temperature", Field).value == "7"
    bench.app.screen.query_one("#temperature", Field).value = ".5"
    await bench.press("f2", "enter")
    await bench.until(lambda: state(bench).agent.completion_args["temperature"] == 0.5)


async def test_a_read_only_profile_keeps_the_draft_and_sends_nothing(
    server: RunningServer, bench: Workbench
) -> None:
    agent = await made(bench, "a")
    bench.store.session.slice.set(read_only=True)
    await bench.press("e", "tab", "tab")
    await bench.type("b")
    await bench.press("f2")
    await bench.shows("Save this as clerk v1?")
    await bench.press("enter")
    await bench.shows("Changes are off.")
    assert (state(bench).agent.version, state(bench).draft.fields["instructions"]) == (0, "ab")
    bench.store.session.slice.set(read_only=False)
    assert agent.version == 0


async def test_sides_of_a_difference(bench: Workbench) -> None:
    await made(
        bench, "\n".join("abcdefghijklmnopqrstuvwxyz"), "\n".join("aBcdefghijklmnopqrstuvwxYz")
    )
    await bench.press("tab", "space", "space")
    await bench.shows("v0 → v1 · 1 change", "− b", "+ B", "⋯ 16 lines the same")
    await bench.press("v")
    await bench.shows("− b", "│ + B")
    assert "Agents ─" not in bench.text()
    view = bench.app.screen.query_one(DiffView)
    await bench.press("tab", "right_square_bracket")
    assert view.has_focus
    await bench.press("v", "escape")
    await bench.shows("Agents ─")


def editor(tmp_path: Path, script: str) -> str:
    """The command of an editor that does what `script` says with `path`."""
    program = tmp_path / "editor.py"
    program.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\n{script}\n")
    return f"{sys.executable} {program}"


async def test_an_agent_is_edited_as_yaml(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await made(bench, "Be kind.")
    change = "path.write_text(path.read_text().replace('kind', 'brief'))"
    monkeypatch.setenv("VISUAL", editor(tmp_path, change))
    monkeypatch.setattr("textual.app.App.suspend", no_terminal)
    await bench.press("f4")
    await bench.shows("Save this as clerk v1?", "− Be kind.", "+ Be brief.")
    await bench.press("enter")
    await bench.shows("● v1")
    assert state(bench).agent.instructions == "Be brief."


async def test_a_new_agent_from_yaml_is_shown_before_it_is_made(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody has looked at Libraries yet: the editor names them all the same.
    library = await bench.store.libraries.create("contracts")
    assert library is not None
    bench.store.libraries.slice.set(items=(), loaded=False)
    monkeypatch.setattr("textual.app.App.suspend", no_terminal)
    copied = tmp_path / "seen.yaml"
    monkeypatch.setenv(
        "VISUAL", editor(tmp_path, f"pathlib.Path({str(copied)!r}).write_text(path.read_text())")
    )
    await bench.press("n", "enter")
    await bench.type("minutes")
    await bench.press("f4")
    await bench.shows("Create minutes?", "Nothing was sent yet.", "smollm2")
    assert f"{library.id}  contracts" in copied.read_text()
    assert state(bench).items == ()
    await bench.press("enter")
    await bench.shows("Made minutes, v0.")


async def test_yaml_that_is_wrong_is_kept_and_said_with_its_line(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await made(bench, "Be kind.")
    monkeypatch.setattr("textual.app.App.suspend", no_terminal)
    wrong = "path.write_text('name: clerk\\nmodle: smollm2\\n')"
    monkeypatch.setenv("VISUAL", editor(tmp_path, wrong))
    await bench.press("f4")
    await bench.shows("This cannot be saved yet", "Line 2: modle: did you mean model?")
    mended = "path.write_text(path.read_text().replace('modle', 'model'))"
    monkeypatch.setenv("VISUAL", editor(tmp_path, mended))
    await bench.press("enter")
    await bench.shows("Save this as clerk v1?", "− Be kind.")
    await bench.press("escape")
    await bench.shows("Kept as a draft.")
    monkeypatch.setenv("VISUAL", editor(tmp_path, "sys.exit(3)"))
    await bench.press("f4")
    await bench.shows("The editor did not work", "ended with the code 3")
    assert state(bench).agent.version == 0


@contextmanager
def no_terminal(app: object) -> Iterator[None]:
    """Stands for giving away a terminal, which a headless app does not have."""
    yield


async def test_the_form_opens_the_editor_with_what_is_typed(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await made(bench, "Be kind.")
    monkeypatch.setattr("textual.app.App.suspend", no_terminal)
    monkeypatch.setenv("VISUAL", editor(tmp_path, "pass"))
    await bench.press("e", "tab", "tab")
    await bench.type(" Always.")
    assert isinstance(bench.app.screen, AgentForm)
    await bench.press("f4")
    await bench.shows("Save this as clerk v1?", "+ Be kind. Always.")


async def test_words_are_found_in_the_instructions(bench: Workbench) -> None:
    lines = "\n\n".join(f"Rule {number} is to be kind." for number in range(60))
    await made(bench, lines)
    assert "Rule 58" not in bench.text()
    await bench.press("tab", "tab", "slash")
    await bench.type("rule 58")
    await bench.shows("1 line ·", "Rule 58 is to be kind.")


async def test_files_are_planned_and_applied(bench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "clerk.yaml"
    path.write_text("name: clerk\nmodel: smollm2\ninstructions: Be kind.\n")

    (tmp_path / "notes.txt").touch()

    async def plan() -> None:
        await bench.press("P")
        await bench.shows("Agents in files", "Path of a folder of agents")
        await bench.fill(f"{tmp_path}/")
        await bench.shows("clerk.yaml")
        assert "notes.txt" not in bench.text()
        await bench.leave("enter")

    await plan()
    await bench.shows("clerk", "new agent", "Be kind.", "Apply to 1 agent")
    await bench.leave("enter")
    await bench.shows("Applied: clerk made, v0.")
    await plan()
    await bench.shows("Nothing differs. clerk: in step with v0")
    agent = state(bench).agent or state(bench).items[0]
    await bench.store.agents.save(Draft.of(agent).changed(instructions="By hand."))
    path.write_text("name: clerk\nmodel: smollm2\ninstructions: Be fair.\n")
    await plan()
    await bench.shows("was changed at the service: apply replaces what is there", "By hand.")
    await bench.leave("enter")  # what overwrites is not the answer that is meant at first
    assert state(bench).items[0].version == 1
    path.write_text("name: clerk\ninstuctions: Be fair.\n")
    await plan()
    await bench.shows("line 2: instuctions: did you mean")
