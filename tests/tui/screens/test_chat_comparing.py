from collections.abc import AsyncIterator

import pytest

from carrel.config.profiles import Profile
from carrel.store.agents.drafts import Draft
from carrel.store.comparison.state import Side
from carrel.wire.generation.agents import Agent
from support.scripted import ScriptedService, scripted_service
from support.workbench import Workbench, workbench


@pytest.fixture
async def service() -> AsyncIterator[ScriptedService]:
    async with scripted_service() as service:
        yield service


@pytest.fixture
async def bench(service: ScriptedService) -> AsyncIterator[Workbench]:
    async with workbench(Profile("test", service.url, "key")) as bench:
        await bench.store.chat.new("agent")
        await bench.press("5")
        await bench.shows("support v4", "Ask something.")
        yield bench


async def begin(bench: Workbench, service: ScriptedService, *names: str) -> None:
    for name in names:
        service.voice(name)
    await bench.store.comparison.begin([Side("agent"), *map(Side, names)])
    await bench.shows("v Vote")


async def ask(bench: Workbench, service: ScriptedService, text: str, **answers: str) -> None:
    await bench.type(text)
    await bench.press("enter")
    for name, words in {"agent": "Three months.", **answers}.items():
        voice = service if name == "agent" else service.voice(name)
        voice.say(words)
        voice.finish()
    chats = bench.store.comparison.chats
    await bench.until(lambda: all(chat.slice.value.turns for chat in chats))
    await bench.until(lambda: not any(chat.answering for chat in chats))


async def test_the_keys_of_a_comparison_are_shown_with_the_way_out_of_the_field(
    bench: Workbench, service: ScriptedService
) -> None:
    await begin(bench, service, "short")
    await bench.shows("esc, then v Vote", "b Blind")
    await bench.press("escape")
    await bench.until(lambda: "esc, then v" not in bench.text() and "v Vote" in bench.text())


async def test_a_version_is_put_beside_and_both_answer(
    bench: Workbench, service: ScriptedService
) -> None:
    service.agent["versions"] = [4, 3]
    both = Agent.model_validate(service.agent)
    bench.store.agents.slice.set(items=(both,), loaded=True)
    await bench.press("alt+c")
    await bench.shows("Compare with")
    await bench.press("down", "down", "enter")
    await bench.shows("support v3", "v Vote")
    await bench.type("How long?")
    await bench.press("enter")
    await bench.until(lambda: len(service.requests) == 2)
    assert {request["agent_id"] for request in service.requests} == {"agent", "trial"}
    for _ in range(2):
        service.finish()
    await bench.until(lambda: not bench.app.place or not bench.app.place.can_stop())
    await bench.press("escape", "o")
    await bench.shows("Go on with")
    await bench.press("down", "enter")
    await bench.until(lambda: "v Vote" not in bench.text())
    assert bench.store.chat.slice.value.pinned == 3


async def test_a_version_beside_itself_has_a_letter_on_each_pane(bench: Workbench) -> None:
    await bench.shows("support v4")
    await bench.store.comparison.begin([Side("agent"), Side("agent")])
    await bench.shows("─ support v4 A", "─ support v4 B")
    # No side has answered: there is nothing to vote on.
    await bench.press("escape", "v")
    await bench.shows("Votes of all comparisons")


async def test_a_side_that_still_writes_holds_up_none(
    bench: Workbench, service: ScriptedService
) -> None:
    await begin(bench, service, "slow")
    await bench.type("How long?")
    await bench.press("enter")
    service.say("Three months.")
    service.finish()
    await bench.shows("Three months.", "◐ slow v4")
    service.voice("slow").say("Six weeks.")
    await bench.shows("Three months.", "Six weeks.")
    service.voice("slow").break_off()
    await bench.shows("Cut off: the connection was lost.")


async def test_two_panes_from_100_columns_four_from_200_else_tabs(
    bench: Workbench, service: ScriptedService
) -> None:
    await begin(bench, service, "brief", "polite", "slow")
    await bench.shows("support v4 │ brief v4 │ polite v4 │ slow v4")
    await bench.type("How long?")
    await bench.press("enter")
    for name in ("brief", "polite"):
        service.voice(name).say(f"{name} says this.")
        service.voice(name).finish()
    service.say("Three months.")
    service.finish()
    # Of a side out of sight, its tab says that it writes.
    await bench.shows("support v4 │ brief v4 │ polite v4 │ ◐ slow v4", "brief says this.")
    assert "polite says" not in bench.text()
    await bench.press("alt+s", "alt+s")
    await bench.shows("polite says this.")
    await bench.pilot.resize_terminal(220, 40)
    await bench.shows("Three months.", "brief says", "polite says")
    assert "support v4 │ " not in bench.text()
    await bench.pilot.resize_terminal(80, 24)
    await bench.shows("polite says")
    assert "brief says" not in bench.text()
    service.voice("slow").finish()
    await bench.until(lambda: "◐" not in bench.text())


async def test_a_vote_shows_the_names_that_were_hidden(
    bench: Workbench, service: ScriptedService
) -> None:
    await begin(bench, service, "brief")
    await bench.press("escape", "b")
    await bench.shows("From the next question on, names are hidden")
    await bench.press("tab", "tab")
    await ask(bench, service, "How long?", brief="3")
    await bench.until(lambda: "support" not in bench.text() and "brief" not in bench.text())
    await bench.press("escape", "d")
    await bench.shows("The names are hidden: v votes, and shows them.")
    await bench.press("at")
    await bench.shows("hidden until the vote")
    assert "completions" not in bench.text()
    await bench.leave("escape")
    await bench.press("v")
    await bench.shows("Which answer is best?", "Tie")
    texts = [chat.slice.value.turns[-1].text for chat in bench.store.comparison.chats]
    await bench.press(*["down"] * texts.index("3"), "enter")
    await bench.shows("Voted for brief v4", "brief v4 1", "support v4")


async def test_what_differs_is_a_key_away(bench: Workbench, service: ScriptedService) -> None:
    await begin(bench, service, "brief")
    await ask(bench, service, "How long?", brief="Three weeks.")
    await bench.press("escape", "d")
    await bench.shows("support v4 → brief v4", "name", "support → brief")
    await bench.leave("escape")
    await bench.press("x")
    await bench.shows("support v4 → brief v4", "− Three months.", "+ Three weeks.")
    await bench.leave("escape")
    await bench.press("s")
    await bench.shows("All sides draw with the same seed.", "seed ")
    seeds = {chat.slice.value.parameters.seed for chat in bench.store.comparison.chats}
    assert len(seeds) == 1 and None not in seeds


async def test_keys_of_a_comparison_say_what_is_missing(bench: Workbench) -> None:
    await bench.press("escape", "v")
    await bench.shows("Nothing is compared: alt+c puts another")


async def test_a_draft_is_put_beside_and_all_votes_are_shown(
    bench: Workbench, service: ScriptedService
) -> None:
    agent = Agent.model_validate(service.agent)
    draft = Draft.of(agent).changed(instructions="Be brief.")
    bench.store.agents.slice.set(items=(agent,), drafts=(draft,), loaded=True)
    await bench.press("alt+c")
    await bench.shows("Compare with", "The draft", "not saved")
    await bench.press("enter")
    await bench.shows("support draft", "v Vote")
    await bench.type("How long?")
    await bench.press("enter")
    await bench.until(lambda: len(service.requests) == 2)
    for _ in range(2):
        service.say("Three months.")
        service.finish()
    await bench.until(lambda: not any(c.answering for c in bench.store.comparison.chats))
    await bench.press("escape", "v")
    await bench.shows("Which answer is best?", "All votes…")
    await bench.press("down")
    await bench.leave("enter")
    await bench.shows("Voted for support draft")
    await bench.press("v", "up")
    await bench.leave("enter")
    await bench.shows("Votes of all comparisons", "support draft", "100 %", "support v4", "0 %")
