import asyncio
import gc
import json
import threading
import weakref
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from carrel.config.profiles import Profile
from carrel.store.chat.conversation import Attachment
from carrel.store.chat.formatting import (
    end_note,
    parameter_words,
    phase_words,
    sources_title,
    thought_words,
)
from carrel.store.chat.parameters import Parameters
from carrel.store.chat.sessions.entries import entries_of, turns_of
from carrel.store.chat.sessions.saved import ChatSession
from carrel.store.core.actions.action import Service
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from carrel.wire.generation.agents import AgentCreate
from support.scripted import ScriptedService, scripted_service
from support.slices import until

SOURCE = {
    "index": 1, "library_id": "l", "document_id": "d", "document_name": "lease.pdf",
    "page": 6, "snippet": "three months",
}  # fmt: skip


@pytest.fixture
async def service() -> AsyncIterator[ScriptedService]:
    async with scripted_service() as service:
        yield service


@pytest.fixture
async def store(service: ScriptedService) -> AsyncIterator[Store]:
    store = Store(Profile("test", service.url, "key"), OwnerLoop.running())
    await store.start()
    await store.chat.new("agent")
    yield store
    await store.close()


async def test_a_new_session_knows_its_agent(store: Store) -> None:
    state = store.chat.slice.value
    assert (state.agent_name, state.version, state.model) == ("support", 4, "large")
    assert (state.context_length, state.turns, state.phase) == (8192, (), "idle")
    handle = store.chat.retry()
    await handle.settled()
    assert handle.error is not None and handle.error.title == "Nothing was asked yet"


async def test_an_answer_grows_and_ends_with_its_figures(
    store: Store, service: ScriptedService
) -> None:
    phases: list[str] = []
    store.chat.slice.changed.connect(lambda new, old: phases.append(new.phase))
    handle = store.chat.send("How long?")
    service.say("Three ")
    state = await until(store.chat.slice, lambda state: state.phase == "writing")
    assert [(turn.role, turn.status) for turn in state.turns] == [
        ("user", "done"),
        ("assistant", "writing"),
    ]
    assert state.turns[1].text == "Three " and state.started is not None
    await asyncio.sleep(0.05)
    service.say("months [1].")
    service.finish(tokens=(2300, 11), sources=[SOURCE])
    await handle
    turn = store.chat.slice.value.turns[1]
    assert (turn.text, turn.status, turn.version) == ("Three months [1].", "done", 4)
    assert (turn.prompt_tokens, turn.completion_tokens) == (2300, 11)
    assert [source.document_name for source in turn.sources] == ["lease.pdf"]
    assert turn.first_token is not None and 0 < turn.first_token < 5
    assert turn.rate is not None and 1 < turn.rate <= 10 / 0.05
    # The question is there first; the answer begins after it.
    assert [*dict.fromkeys(phases[1:])] == ["connecting", "waiting", "writing", "idle"]


async def test_thinking_counts_and_citations_stand_in_their_sentence(
    store: Store, service: ScriptedService
) -> None:
    handle = store.chat.send("How long?")
    service.think("The lease ")
    state = await until(store.chat.slice, lambda state: state.phase == "thinking")
    assert (thought_words(state.turns[1]), state.turns[1].text) == ("thinking", "")
    await asyncio.sleep(0.05)
    service.think("says three.")
    service.say("Three months")
    service.cite(1)
    service.say(".")
    service.finish(sources=[SOURCE])
    await handle
    turn = store.chat.slice.value.turns[1]
    assert (turn.text, turn.thinking) == ("Three months [1].", "The lease says three.")
    assert turn.thought is not None and 0.05 <= turn.thought < 5
    assert turn.first_token is not None and turn.first_token < turn.thought + 5
    assert sources_title(turn) == "Sources"
    [saved] = turns_of(entries_of([turn]))
    assert (saved[0].thinking, saved[0].thought) == (turn.thinking, turn.thought)

    handle = store.chat.send("Sure?")
    service.say("Yes.")
    service.finish()
    await handle
    sent = service.requests[-1]["messages"][1]["content"]
    assert sent == "Three months.", "neither thinking nor numbers of other sources are sent on"


async def test_only_what_the_service_tells_is_said_of_the_time_before_the_first_word(
    store: Store, service: ScriptedService
) -> None:
    # An agent with libraries: that they are searched just now is known to the service alone.
    service.agent["tools"] = [{"type": "document_library", "library_ids": ["l"]}]
    await store.chat.new("agent")
    handle = store.chat.send("How long?")

    async def says(words: str) -> None:
        await until(store.chat.slice, lambda state: words in phase_words(state, 0))

    await says("support v4: waiting for the first word …")
    service.step(stage="loading")
    await says("support v4: loading the model …")
    service.step(stage="searching")
    await says("support v4: searching its libraries …")
    service.step(stage="queued", place=2)
    await says("support v4: in the queue at place 2 …")
    service.step(stage="reading", done=199, total=200)
    await says("support v4: reading the prompt, 99 % …")
    service.step(stage="a step of a later version")
    await says("support v4: waiting for the first word …")
    service.say("Three")
    await says("support v4: writing …")
    service.finish()
    await handle
    again = store.chat.send("And who pays?")
    await says("support v4: waiting for the first word …")
    service.finish()
    await again


async def test_many_fragments_make_few_changes_and_the_whole_text(
    store: Store, service: ScriptedService
) -> None:
    texts: list[str] = []
    handle = store.chat.send("Count.")
    await until(store.chat.slice, lambda state: state.phase == "waiting")
    store.chat.slice.changed.connect(lambda new, old: texts.append(new.turns[-1].text))
    for number in range(2000):
        service.say(f"{number} ")
    service.finish()
    await handle
    assert texts[-1] == "".join(f"{number} " for number in range(2000))
    assert len(texts) < 200
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))


async def test_a_pause_leaves_nothing_unshown(store: Store, service: ScriptedService) -> None:
    handle = store.chat.send("Count.")
    for word in ("one ", "two ", "three"):
        service.say(word)
    await until(
        store.chat.slice, lambda state: "one two three" in [turn.text for turn in state.turns]
    )
    service.finish()
    await handle


async def test_stopping_keeps_the_part_that_came_and_closes_the_connection(
    store: Store, service: ScriptedService
) -> None:
    handle = store.chat.send("Tell a story.")
    service.say("Once upon")
    await until(store.chat.slice, lambda state: state.phase == "writing")
    await store.chat.stop()
    await handle.settled()
    await asyncio.wait_for(service.closed.wait(), 5)
    state = store.chat.slice.value
    assert (state.turns[1].text, state.turns[1].status) == ("Once upon", "stopped")
    assert (state.phase, state.error) == ("idle", None)
    await store.chat.resume(state.session_id or "")
    assert store.chat.slice.value.turns == state.turns


async def test_the_next_question_carries_the_history(
    store: Store, service: ScriptedService
) -> None:
    for question, answer in (("One?", "1"), ("Two?", "2")):
        handle = store.chat.send(question)
        service.say(answer)
        service.finish()
        await handle
    assert [message["content"] for message in service.requests[-1]["messages"]] == [
        "One?",
        "1",
        "Two?",
    ]


async def test_a_question_waits_for_the_chat_that_is_being_opened(
    store: Store, service: ScriptedService
) -> None:
    opening = store.chat.new("agent")
    sending = store.chat.send("How long?")
    assert sending.error is None and store.chat.slice.value.history[-1] == "How long?"
    service.say("Three months.")
    service.finish()
    await sending
    assert opening.outcome == sending.outcome == "done"
    assert store.chat.slice.value.turns[0].text == "How long?"
    assert len(store.chat.slice.value.turns) == 2

    # It goes to no other chat.
    store.chat.new("agent")
    lost = store.chat.send("And then?")
    last = store.chat.new("agent")
    await last
    await lost.settled()
    assert lost.error is not None and lost.error.title == "Not sent"
    assert not store.chat.slice.value.turns
    assert store.chat.slice.value.history[-1] == "And then?"


async def test_two_questions_at_once_are_one_too_many(
    store: Store, service: ScriptedService
) -> None:
    first = store.chat.send("One?")
    await until(store.chat.slice, lambda state: state.phase == "waiting")
    second = store.chat.send("Two?")
    await second.settled()
    assert second.outcome == "failed"
    service.finish()
    await first
    assert len(store.chat.slice.value.turns) == 2


@pytest.mark.parametrize("how", ["fail", "break off"])
async def test_a_failure_keeps_the_part_that_came_and_can_be_tried_again(
    store: Store, service: ScriptedService, how: str
) -> None:
    handle = store.chat.send("How long?")
    service.say("Three")
    await until(store.chat.slice, lambda state: state.phase == "writing")
    if how == "fail":
        service.fail("The model ran out of memory.")
    else:
        service.break_off()
    await handle.settled()
    state = store.chat.slice.value
    ended = "failed" if how == "fail" else "lost"
    assert (state.turns[1].text, state.turns[1].status) == ("Three", ended)
    assert state.error is not None and handle.error == state.error
    if how == "fail":
        assert state.error.detail == "The model ran out of memory."
        assert state.turns[1].refusal == "The model ran out of memory."
    again = store.chat.retry()
    service.say("Three months.")
    service.finish()
    await again
    state = store.chat.slice.value
    assert [turn.text for turn in state.turns] == ["How long?", "Three months."]
    assert state.error is None


async def test_an_answer_that_a_kill_cut_off_says_so_and_keeps_what_was_written(
    store: Store, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.store.chat.answering.answers.SAVED", 0.0)
    store.chat.send("How long?")
    for words in ("Three ", "months ", "and "):
        service.say(words)
        await until(store.chat.slice, lambda state, words=words: words in state.turns[-1].text)  # type: ignore[misc]
    assert store.unfinished.running_words == ("1 answer: Retry in Chat asks again",)
    # What is on the disk now is what a kill leaves.
    (left,) = store.chats.all()
    question, answer = left.conversation.turns
    assert (question.text, answer.status) == ("How long?", "cut")
    assert answer.text.startswith("Three months")
    assert end_note(answer) == "Cut off: Carrel was closed. Retry asks again."
    store.unfinished.cancel()
    await store.unfinished.idle()
    assert not store.unfinished.running_words
    assert store.chat.slice.value.turns[-1].status == "stopped"


async def test_sessions_survive_the_end_of_the_program(
    store: Store, service: ScriptedService
) -> None:
    handle = store.chat.send("How long?")
    service.say("Three months.")
    service.finish(sources=[SOURCE])
    await handle
    before = store.chat.slice.value
    other = Store(Profile("test", service.url, "key"), OwnerLoop.running())
    await other.start()
    try:
        state = await until(other.chat.slice, lambda state: bool(state.sessions))
        assert [session.title for session in state.sessions] == ["How long?"]
        await other.chat.resume(state.sessions[0].id)
        state = other.chat.slice.value
        assert state.turns == before.turns
        assert state.agent_name == "support"
    finally:
        await other.close()


async def test_another_session_while_an_answer_comes_keeps_both_apart(
    store: Store, service: ScriptedService
) -> None:
    first = store.chat.slice.value.session_id
    handle = store.chat.send("How long?")
    service.say("Three")
    await until(store.chat.slice, lambda state: state.phase == "writing")
    await store.chat.new("agent")
    state = store.chat.slice.value
    assert handle.outcome == "cancelled"
    assert (state.turns, state.phase) == ((), "idle") and state.session_id != first
    await store.chat.resume(first or "")
    turn = store.chat.slice.value.turns[-1]
    assert (turn.text, turn.status) == ("Three", "stopped")


async def _asked_and_left(store: Store) -> str:
    """Send a question, begin another chat at once, and return the session of the question."""
    first = store.chat.slice.value.session_id
    sending = store.chat.send("How long?")
    await store.chat.new("agent")
    await sending.settled()
    return first or ""


async def test_a_question_that_was_just_sent_is_in_the_session_that_was_left(
    store: Store, service: ScriptedService
) -> None:
    await store.chat.resume(await _asked_and_left(store))
    assert [turn.text for turn in store.chat.slice.value.turns][:1] == ["How long?"]


async def test_a_chat_without_the_turn_that_was_found_opens_all_the_same(
    store: Store, service: ScriptedService
) -> None:
    first = await _asked_and_left(store)
    await store.chat.resume(first, 0)
    assert store.chat.slice.value.found is not None
    await store.chat.resume(first, 99)
    state = store.chat.slice.value
    assert state.found is None
    assert [turn.text for turn in state.turns][:1] == ["How long?"]


async def test_a_question_stopped_at_once_is_in_the_session_that_was_left(
    store: Store,
) -> None:
    first = store.chat.slice.value.session_id
    sending = store.chat.send("How long?")
    sending.cancel()
    await sending.settled()
    await store.chat.new("agent")
    await store.chat.resume(first or "")
    assert [turn.text for turn in store.chat.slice.value.turns] == ["How long?", ""]


async def test_a_list_that_was_read_before_a_save_does_not_take_it_back(
    store: Store, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, go_on = threading.Event(), threading.Event()
    every = store.chats.all

    def late() -> tuple[ChatSession, ...]:
        found = every()
        if not read.is_set():
            read.set()
            go_on.wait(60)
        return found

    monkeypatch.setattr(store.chats, "all", late)
    loading = store.chat.load_sessions()
    await asyncio.to_thread(read.wait)
    sending = store.chat.send("How long?")
    await until(store.chat.slice, lambda state: bool(state.sessions))
    go_on.set()
    await loading
    assert [one.title for one in store.chat.slice.value.sessions] == ["How long?"]
    store.chat.stop()
    await sending.settled()


async def test_a_service_of_a_call_is_gone_once_it_is_let_go(store: Store) -> None:
    services: list[Service[Any]] = [
        store.another_chat(), store.another_agents(), store.another_document(),
        store.another_libraries(),
    ]  # fmt: skip
    made = [weakref.ref(service) for service in services]
    while services:
        store.close_service(services.pop())
    async with asyncio.timeout(30):
        while any(reference() is not None for reference in made):
            await asyncio.sleep(0.01)
            gc.collect()
    assert [reference() for reference in made] == [None] * 4


async def test_deleting_the_open_session_leaves_none_open(
    store: Store, service: ScriptedService
) -> None:
    handle = store.chat.send("How long?")
    service.finish()
    await handle
    await store.chat.delete_session(store.chat.slice.value.session_id or "")
    state = store.chat.slice.value
    assert (state.session_id, state.sessions, state.turns) == (None, (), ())


async def test_a_session_whose_agent_is_gone_can_still_be_read(
    store: Store, service: ScriptedService
) -> None:
    handle = store.chat.send("How long?")
    service.say("Three months.")
    service.finish()
    await handle
    session_id = store.chat.slice.value.session_id or ""
    service.agent = {}
    await store.chat.resume(session_id).settled()
    state = store.chat.slice.value
    assert state.turns[-1].text == "Three months."
    assert state.error is not None


async def test_without_an_agent_nothing_is_sent(service: ScriptedService) -> None:
    store = Store(Profile("test", service.url, "key"), OwnerLoop.running())
    handle = store.chat.send("Hello?")
    await handle.settled()
    assert handle.error is not None and handle.error.title == "No agent chosen"
    assert store.chat.slice.value.turns == ()


async def ask(store: Store, service: ScriptedService, question: str, answer: str) -> None:
    handle = store.chat.send(question)
    service.say(answer)
    service.finish()
    await handle
    assert handle.outcome == "done", handle.error


def said(store: Store) -> list[str]:
    return [turn.text for turn in store.chat.slice.value.turns]


def sent(service: ScriptedService) -> list[str]:
    return [message["content"] for message in service.requests[-1]["messages"]]


async def test_a_retry_keeps_the_answer_before_and_only_the_chosen_one_is_sent_on(
    store: Store, service: ScriptedService
) -> None:
    await ask(store, service, "One?", "1")
    handle = store.chat.retry()
    service.say("one")
    service.finish()
    await handle
    conversation = store.chat.slice.value.conversation
    assert said(store) == ["One?", "one"] and conversation.variant(1) == (2, 2)
    await store.chat.choose_variant(1, 1)
    assert said(store) == ["One?", "1"]
    await ask(store, service, "Two?", "2")
    assert sent(service) == ["One?", "1", "Two?"]
    await store.chat.choose_variant(1, 2)
    await store.chat.resume(store.chat.slice.value.session_id or "")
    assert said(store) == ["One?", "one"]
    await store.chat.choose_variant(1, 1)
    assert said(store) == ["One?", "1", "Two?", "2"]


async def test_an_edited_question_keeps_what_was_answered_before(
    store: Store, service: ScriptedService
) -> None:
    await ask(store, service, "One?", "1")
    await ask(store, service, "Two?", "2")
    await store.chat.edit(0)
    assert store.chat.slice.value.editing == 0
    await ask(store, service, "Won?", "lost")
    assert said(store) == ["Won?", "lost"] and sent(service) == ["Won?"]
    assert store.chat.slice.value.editing is None
    await store.chat.choose_variant(0, 1)
    assert said(store) == ["One?", "1", "Two?", "2"]


async def test_another_version_answers_as_a_trial_that_leaves_nothing_behind(
    store: Store, service: ScriptedService
) -> None:
    library = {"type": "document_library", "library_ids": ["l"]}
    service.agent |= {"tools": [library], "completion_args": {"temperature": 0.7, "stop": None}}
    await store.chat.choose("agent", 3)
    assert (store.chat.slice.value.version, store.chat.slice.value.pinned) == (3, 3)
    await ask(store, service, "One?", "1")
    (made,) = service.made
    assert made["tools"] == [library] and made["completion_args"]["temperature"] == 0.7
    assert made["metadata"] == {"carrel": "trial"}
    assert service.requests[-1]["agent_id"] == "trial"
    assert service.removed == ["trial"]
    turn = store.chat.slice.value.turns[-1]
    assert (turn.version, turn.searches) == (3, True)
    await store.chat.choose("agent")
    await ask(store, service, "Two?", "2")
    assert (service.requests[-1]["agent_id"], len(service.made)) == ("agent", 1)
    assert store.chat.slice.value.turns[-1].version == 4


async def test_another_model_of_the_chat_answers_as_a_trial(
    store: Store, service: ScriptedService
) -> None:
    await store.chat.set_parameters(Parameters(model="small"))
    await ask(store, service, "One?", "1")
    assert [made["model"] for made in service.made] == ["small"]
    assert service.removed == ["trial"]


async def test_a_pinned_version_stays_itself_when_another_becomes_active(
    store: Store, service: ScriptedService
) -> None:
    await store.chat.choose("agent", 4)
    await ask(store, service, "One?", "1")
    assert service.made == []
    service.agent["version"] = 5
    await ask(store, service, "Two?", "2")
    assert len(service.made) == 1 and store.chat.slice.value.turns[-1].version == 4


async def test_a_stopped_trial_is_removed(store: Store, service: ScriptedService) -> None:
    await store.chat.choose("agent", 3)
    handle = store.chat.send("One?")
    service.say("1")
    await until(store.chat.slice, lambda state: state.phase == "writing")
    await store.chat.stop()
    await handle.settled()
    assert service.removed == ["trial"]
    assert store.chat.slice.value.turns[-1].status == "stopped"


async def test_a_draft_is_tried_without_being_saved(store: Store, service: ScriptedService) -> None:
    draft = AgentCreate(model="large", name="support", instructions="Be short.")
    await store.chat.try_draft(draft, "agent")
    state = store.chat.slice.value
    assert (state.draft, state.version, state.context_length) == (True, None, 8192)
    await ask(store, service, "One?", "1")
    assert service.made[0]["instructions"] == "Be short."
    assert service.removed == ["trial"]
    assert store.chat.slice.value.turns[-1].version is None


async def test_a_read_only_profile_makes_no_trial(service: ScriptedService) -> None:
    store = Store(Profile("test", service.url, "key", read_only=True), OwnerLoop.running())
    await store.start()
    try:
        await store.chat.new("agent", 3)
        handle = store.chat.send("One?")
        await handle.settled()
        assert handle.error is not None and handle.error.title == "Read-only profile"
        assert service.made == []
    finally:
        await store.close()


async def test_parameters_go_with_the_request_or_with_a_trial(
    store: Store, service: ScriptedService
) -> None:
    await store.chat.set_parameters(Parameters(max_tokens=7, seed=1, stop=("END",)))
    await ask(store, service, "One?", "1")
    request = service.requests[-1]
    assert (request["max_tokens"], request["random_seed"], request["stop"]) == (7, 1, ["END"])
    assert service.made == []
    await store.chat.set_parameters(Parameters(temperature=0.2))
    await ask(store, service, "Two?", "2")
    assert service.made[0]["completion_args"] == {"temperature": 0.2}
    assert store.chat.slice.value.turns[-1].version == 4


async def test_what_is_changed_during_an_answer_holds_for_the_next(
    store: Store, service: ScriptedService
) -> None:
    def weather(city: str) -> str:
        return f"Fine in {city}"

    store.tools.add(weather)
    await store.chat.set_parameters(Parameters(max_tokens=7))
    handle = store.chat.send("One?")
    await store.chat.set_parameters(Parameters(model="small", max_tokens=8))
    service.call(("a23456789", "weather", '{"city": "Paris"}'))
    await until(store.chat.slice, lambda state: len(state.turns) == 4)
    service.finish()
    await handle
    # Both rounds of the answer are as they were when it was asked for.
    assert [request["max_tokens"] for request in service.requests] == [7, 7]
    assert service.made == []
    await ask(store, service, "Two?", "2")
    assert service.requests[-1]["max_tokens"] == 8
    assert [made["model"] for made in service.made] == ["small"]


async def test_changed_parameters_are_kept(store: Store, service: ScriptedService) -> None:
    await ask(store, service, "One?", "1")
    await store.chat.set_parameters(Parameters(model="small", temperature=0.2))
    assert "small · temperature 0.2" in parameter_words(store.chat.slice.value)
    again = store.another_chat()
    await again.resume(store.chat.slice.value.session_id or "")
    assert again.slice.value.parameters == Parameters(model="small", temperature=0.2)


async def test_calls_are_answered_by_hand_and_the_agent_goes_on(
    store: Store, service: ScriptedService
) -> None:
    handle = store.chat.send("Weather?")
    service.call(("a23456789", "weather", '{"city": "Paris"}'), ("b23456789", "time", "{}"))
    await handle
    conversation = store.chat.slice.value.conversation
    assert [call.name for call in conversation.open_calls()] == ["weather", "time"]
    refused = store.chat.send("Well?")
    await refused.settled()
    assert refused.error is not None and refused.error.title == "The agent waits for a result"
    await store.chat.answer_call("a23456789", "sunny")
    handle = store.chat.answer_call("b23456789", "noon")
    service.say("Sunny.")
    service.finish()
    await handle
    assert said(store) == ["Weather?", "", "sunny", "noon", "Sunny."]
    _, asked, sunny, noon = service.requests[-1]["messages"]
    assert [call["function"]["name"] for call in asked["tool_calls"]] == ["weather", "time"]
    assert (sunny["role"], sunny["tool_call_id"], noon["content"]) == ("tool", "a23456789", "noon")


async def test_functions_of_this_program_are_offered_and_called(
    store: Store, service: ScriptedService
) -> None:
    def weather(city: str, days: int = 1) -> dict[str, object]:
        """The weather of a city."""
        return {"city": city, "days": days}

    store.tools.add(weather)
    handle = store.chat.send("Weather?")
    service.call(("a23456789", "weather", '{"city": "Paris"}'))
    await until(store.chat.slice, lambda state: len(state.turns) == 4)
    service.say("Fine.")
    service.finish()
    await handle
    offered = service.requests[0]["tools"][0]["function"]
    assert (offered["name"], offered["description"]) == ("weather", "The weather of a city.")
    assert offered["parameters"]["required"] == ["city"]
    assert said(store) == ["Weather?", "", '{"city": "Paris", "days": 1}', "Fine."]


async def test_an_agent_that_has_to_call_functions_may_answer_once_it_has(
    store: Store, service: ScriptedService
) -> None:
    service.agent["completion_args"] = {"tool_choice": "any"}

    def noon() -> str:
        return "12:00"

    store.tools.add(noon)
    await store.chat.new("agent")
    handle = store.chat.send("When?")
    service.call(("a23456789", "noon", "{}"))
    await until(store.chat.slice, lambda state: len(state.turns) == 4)
    service.say("At noon.")
    service.finish()
    await handle
    first, second = service.requests
    assert (first.get("tool_choice"), second["tool_choice"]) == (None, "auto")


async def test_a_function_that_fails_is_told_to_the_model(
    store: Store, service: ScriptedService
) -> None:
    def divide(by: int) -> float:
        return 1 / by

    store.tools.add(divide)
    handle = store.chat.send("Divide.")
    service.call(("a23456789", "divide", '{"by": 0}'))
    service.finish()
    await handle
    assert said(store)[2] == "ZeroDivisionError: division by zero"


async def test_what_is_attached_goes_as_signed_addresses(
    store: Store, service: ScriptedService, tmp_path: Path
) -> None:
    service.files = ["lease.pdf", "photo.PNG", "lease.pdf.bak"]
    await store.chat.attach_known(Attachment("document", "d", "annex.docx", "l"))
    await store.chat.detach(Attachment("document", "d", "annex.docx", "l"))
    path = tmp_path / "mine.pdf"
    path.write_bytes(b"abc")
    await store.chat.attach(path)
    await ask(store, service, "Compare @lease.pdf, and @photo.PNG with @nobody.", "Same.")
    (message,) = service.requests[-1]["messages"]
    document, lease, photo, text = message["content"]
    assert document["document_url"] == f"{service.url}/signed/uploaded"
    assert (lease["type"], lease["document_name"]) == ("document_url", "lease.pdf")
    assert photo == {"type": "image_url", "image_url": f"{service.url}/signed/photo.PNG"}
    assert text["text"] == "Compare @lease.pdf, and @photo.PNG with @nobody."
    state = store.chat.slice.value
    assert (state.attached, service.uploads) == ((), 1)
    assert [one.name for one in state.turns[0].attachments] == [
        "uploaded", "lease.pdf", "photo.PNG",
    ]  # fmt: skip
    assert "signed" not in store.chat.export("json")


async def test_a_question_that_was_refused_does_not_spoil_the_next(
    store: Store, service: ScriptedService
) -> None:
    handle = store.chat.send("What is this?")
    service.fail("This model cannot see images.")
    await handle.settled()
    await ask(store, service, "One?", "1")
    assert sent(service) == ["One?"]


async def test_names_are_offered_while_they_are_typed(
    store: Store, service: ScriptedService
) -> None:
    service.files = ["lease.pdf", "photo.png"]
    found = await store.chat.names_like("LEA")
    assert found == (Attachment("file", "lease.pdf", "lease.pdf"),)


async def test_sessions_are_searched_and_questions_remembered(
    store: Store, service: ScriptedService
) -> None:
    await ask(store, service, "One?", "The first answer.")
    await store.chat.new("agent")
    await ask(store, service, "Two?", "2")
    await store.chat.search_sessions("FIRST")
    assert [session.title for session in store.chat.slice.value.sessions] == ["One?"]
    await store.chat.search_sessions("")
    assert len(store.chat.slice.value.sessions) == 2
    assert store.chat.slice.value.history == ("One?", "Two?")


async def test_a_chat_is_exported_as_it_is_shown(store: Store, service: ScriptedService) -> None:
    await ask(store, service, "One?", "1")
    handle = store.chat.retry()
    service.say("one [1]")
    service.finish(sources=[SOURCE])
    await handle
    text = store.chat.export("markdown")
    assert text.startswith("# One?\n\n## You\n\n> One?\n\n## support v4 (")
    assert text.endswith("\n\n> one [1]\n\n- [1] lease.pdf p.7\n")
    saved = json.loads(store.chat.export("json"))
    assert [turn["text"] for turn in saved["turns"]] == ["One?", "1", "one [1]"]
