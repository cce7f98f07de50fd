import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from carrel.config import Profile
from carrel.store.loop import OwnerLoop
from carrel.store.store import Store
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
    order = list(dict.fromkeys(phases))
    assert order == ["connecting", "loading", "writing", "idle"]


async def test_an_agent_with_libraries_is_seen_searching(
    store: Store, service: ScriptedService
) -> None:
    service.agent["tools"] = [{"type": "document_library", "library_ids": ["l"]}]
    await store.chat.new("agent")
    handle = store.chat.send("How long?")
    await until(store.chat.slice, lambda state: state.phase == "searching")
    service.finish()
    await handle


async def test_many_fragments_make_few_changes_and_the_whole_text(
    store: Store, service: ScriptedService
) -> None:
    texts: list[str] = []
    handle = store.chat.send("Count.")
    await until(store.chat.slice, lambda state: state.phase == "loading")
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
    await handle
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


async def test_two_questions_at_once_are_one_too_many(
    store: Store, service: ScriptedService
) -> None:
    first = store.chat.send("One?")
    await until(store.chat.slice, lambda state: state.phase == "loading")
    second = store.chat.send("Two?")
    await second
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
    await handle
    state = store.chat.slice.value
    assert (state.turns[1].text, state.turns[1].status) == ("Three", "failed")
    assert state.error is not None and handle.error == state.error
    if how == "fail":
        assert state.error.detail == "The model ran out of memory."
    again = store.chat.retry()
    service.say("Three months.")
    service.finish()
    await again
    state = store.chat.slice.value
    assert [turn.text for turn in state.turns] == ["How long?", "Three months."]
    assert state.error is None


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
    await store.chat.resume(session_id)
    state = store.chat.slice.value
    assert state.turns[-1].text == "Three months."
    assert state.error is not None


async def test_without_an_agent_nothing_is_sent(service: ScriptedService) -> None:
    store = Store(Profile("test", service.url, "key"), OwnerLoop.running())
    handle = store.chat.send("Hello?")
    await handle
    assert handle.error is not None and handle.error.title == "No agent chosen"
    assert store.chat.slice.value.turns == ()
