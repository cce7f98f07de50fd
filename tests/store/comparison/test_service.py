import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from carrel.config.profiles import Profile
from carrel.store.chat.formatting import HIDDEN, parameter_words, title, tokens, turn_rows
from carrel.store.comparison.formatting import judgement_words, tally_words
from carrel.store.comparison.service import ComparisonService
from carrel.store.comparison.state import Side
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import ProblemError
from carrel.store.requests.formatting import target
from carrel.store.store import Store
from carrel.wire.generation.agents import AgentCreate
from support.scripted import ScriptedService, Voice, scripted_service
from support.slices import until


@pytest.fixture
async def service() -> AsyncIterator[ScriptedService]:
    async with scripted_service() as service:
        yield service


@pytest.fixture
async def store(service: ScriptedService) -> AsyncIterator[Store]:
    store = Store(Profile("test", service.url, "key"), OwnerLoop.running())
    await store.start()
    yield store
    await store.close()


def ask(store: Store, service: ScriptedService, **answers: str) -> "asyncio.Future[None]":
    """Asks all sides, which answer these words; to be awaited."""
    handle = store.comparison.send("How long?")
    assert handle.error is None, handle.error
    for name, text in answers.items():
        voice: Voice = service if name == "agent" else service.voice(name)
        voice.say(text)
        voice.finish()

    async def ended() -> None:
        await handle

    return asyncio.ensure_future(ended())


async def two(store: Store, service: ScriptedService) -> ComparisonService:
    service.voice("brief")
    handle = store.comparison.begin([Side("agent"), Side("brief")])
    await handle
    assert handle.error is None, handle.error
    return store.comparison


def texts(store: Store) -> list[str]:
    return [chat.slice.value.turns[-1].text for chat in store.comparison.chats]


async def test_one_question_goes_to_all_and_a_slow_or_failing_side_holds_up_none(
    store: Store, service: ScriptedService
) -> None:
    service.voice("slow")
    service.voice("broken")
    await store.comparison.begin([Side("agent"), Side("slow"), Side("broken")])
    handle = store.comparison.send("How long?")
    service.say("Three months.")
    service.finish(tokens=(2300, 11))
    service.voice("broken").break_off()
    first, slow, broken = (chat.slice for chat in store.comparison.chats)
    await until(first, lambda state: len(state.turns) == 2 and state.phase == "idle")
    await until(broken, lambda state: len(state.turns) == 2 and state.phase == "idle")
    assert slow.value.phase != "idle"
    again = store.comparison.send("Hurry.")
    assert again.error is not None and again.error.title == "Not sent yet"
    service.voice("slow").say("Six.")
    service.voice("slow").finish()
    await handle
    assert texts(store) == ["Three months.", "Six.", ""]
    assert first.value.turns[-1].first_token is not None
    assert tokens(first.value) == "2,311 of 8,192 tokens"
    assert [turn.status for turn in (s.value.turns[-1] for s in (slow, broken))] == ["done", "lost"]


async def test_a_side_that_is_added_begins_with_the_history_and_is_kept(
    store: Store, service: ScriptedService
) -> None:
    service.voice("brief")
    await store.chat.new("agent")
    await ask(store, service, agent="Three months.")
    await store.comparison.add(Side("brief"))
    assert [len(chat.slice.value.turns) for chat in store.comparison.chats] == [2, 2]
    await ask(store, service, agent="To the end of a quarter.", brief="Quarter.")
    roles = [message["role"] for message in service.requests[-1]["messages"]]
    assert roles == ["user", "assistant", "user"]
    session = store.chat.slice.value.session_id
    assert session is not None
    await store.chat.new("agent")
    assert len(store.comparison.chats) == 1
    await store.chat.reload()
    assert [one.id for one in store.chat.slice.value.sessions] == [session]
    await store.chat.resume(session)
    await until(store.comparison.every[1].slice, lambda state: len(state.turns) == 4)
    assert texts(store) == ["To the end of a quarter.", "Quarter."]
    rows = turn_rows(store.comparison.every[1].slice.value)
    assert [row.speaker for row in rows] == ["You", "support v4", "You", "brief v4"]


async def test_a_deleted_comparison_comes_back_with_all_its_chats(
    store: Store, service: ScriptedService, tmp_path: Path
) -> None:
    await two(store, service)
    await ask(store, service, agent="Three.", brief="3")
    ids = [chat.slice.value.session_id for chat in store.comparison.chats]
    assert ids[0] is not None
    await store.chat.delete_session(ids[0])
    assert store.chats.all() == () and len(store.comparison.chats) == 1
    await store.trash.load()
    assert [item.id for item in store.trash.slice.value.items] == [ids[0]]
    await store.trash.undo("chats")
    assert {session.id for session in store.chats.all()} == set(ids)
    await store.chat.resume(ids[0])
    await until(store.comparison.every[1].slice, lambda state: len(state.turns) == 2)
    assert texts(store) == ["Three.", "3"]


async def test_names_are_hidden_until_the_vote(store: Store, service: ScriptedService) -> None:
    comparison = await two(store, service)
    comparison.set_blind(True)
    assert not comparison.slice.value.hidden
    await ask(store, service, agent="Three.", brief="3")
    assert comparison.slice.value.hidden
    states = [chat.slice.value for chat in comparison.chats]
    assert [title(state) for state in states] == ["A", "B"]
    assert [turn_rows(state)[-1].speaker for state in states] == ["A", "B"]
    assert [(parameter_words(state), tokens(state)) for state in states] == [("", "")] * 2
    log = store.requests.slice
    hidden = log.value.hidden
    assert hidden >= 2
    assert not any("completions" in item.call.path for item in log.value.items)
    assert comparison.go_on(0).error is not None
    best = texts(store).index("3")
    await comparison.note("shorter")
    assert comparison.slice.value.hidden
    await comparison.vote(best)
    assert not comparison.slice.value.hidden and log.value.hidden == 0
    assert any("completions" in target(item.call) for item in log.value.items)
    assert title(comparison.chats[best].slice.value) == "brief v4"
    record = comparison.record
    assert record is not None
    assert judgement_words(record, 1) == "Voted for brief v4: shorter"
    await ask(store, service, agent="Four.", brief="4")
    rows = turn_rows(comparison.chats[0].slice.value)
    assert (rows[1].text, rows[1].note) == ("", HIDDEN) and rows[3].text
    await comparison.vote(None)
    record = comparison.record
    assert record is not None and tally_words(record) == "brief v4 1 · tie 1"


async def test_sides_are_shuffled_before_each_blind_question(
    store: Store, service: ScriptedService
) -> None:
    comparison = await two(store, service)
    comparison.set_blind(True)
    orders = set()
    for _ in range(30):
        await ask(store, service, agent="Three.", brief="3")
        orders.add(comparison.slice.value.order)
        await comparison.vote(None)
    assert orders == {(0, 1), (1, 0)}


async def test_a_comparison_is_kept_with_its_votes(store: Store, service: ScriptedService) -> None:
    comparison = await two(store, service)
    await ask(store, service, agent="Three.", brief="3")
    await comparison.vote(1)
    session = store.chat.slice.value.session_id
    await until(store.chat.slice, lambda state: state.phase == "idle")
    await store.chat.leave()
    await store.chat.resume(session or "")
    record = comparison.record
    assert record is not None and tally_words(record) == "brief v4 1"


async def test_one_side_goes_on_alone_and_the_comparison_stays(
    store: Store, service: ScriptedService
) -> None:
    comparison = await two(store, service)
    await ask(store, service, agent="Three.", brief="3")
    compared = store.chat.slice.value.session_id
    await comparison.go_on(1)
    state = store.chat.slice.value
    assert (state.agent_id, state.turns[-1].text) == ("brief", "3")
    assert len(comparison.chats) == 1 and state.session_id != compared
    await ask(store, service, brief="4")
    assert len(store.chats.all()) == 3


async def test_a_comparison_that_got_no_question_leaves_nothing(
    store: Store, service: ScriptedService
) -> None:
    service.voice("brief")
    await store.chat.new("agent")
    await ask(store, service, agent="Three.")
    session = store.chat.slice.value.session_id
    await store.comparison.add(Side("brief"))
    await store.comparison.leave()
    assert store.chat.slice.value.session_id == session and len(store.comparison.chats) == 1
    await ask(store, service, agent="Four.")
    assert [one.id for one in store.chats.all()] == [session]


async def test_a_draft_is_a_side_and_comes_back_as_one(
    store: Store, service: ScriptedService
) -> None:
    draft = AgentCreate(model="large", name="support", instructions="Be short.")
    await store.comparison.begin([Side("agent"), Side("agent", draft=draft)])
    handle = store.comparison.send("How long?")
    for text in ("one", "other"):
        service.say(text)
        service.finish()
    await handle
    session = store.chat.slice.value.session_id
    await store.chat.leave()
    await store.chat.resume(session or "")
    beside = await until(store.comparison.every[1].slice, lambda state: len(state.turns) == 2)
    assert beside.draft and title(beside) == "support draft"
    fields = {row.field for row in store.comparison.compare_agents(0, 1)}
    assert fields == {"instructions"}


async def test_all_sides_get_one_seed(store: Store, service: ScriptedService) -> None:
    comparison = await two(store, service)
    comparison.set_same_seed(True)
    await ask(store, service, agent="Three.", brief="3")
    seeds = {request["random_seed"] for request in service.requests}
    assert len(seeds) == 1
    comparison.set_same_seed(False)
    await ask(store, service, agent="Three.", brief="3")
    assert "random_seed" not in service.requests[-1]


async def test_a_side_that_cannot_open_leaves_the_chat_as_it_was(store: Store) -> None:
    await store.chat.new("agent")
    handle = store.comparison.add(Side("gone"))
    await handle.settled()
    assert handle.error is not None
    assert len(store.comparison.chats) == 1
    assert store.comparison.every[1].slice.value.session_id is None


async def test_four_sides_at_most(store: Store, service: ScriptedService) -> None:
    await store.comparison.begin([Side("agent", 1), Side("agent", 2), Side("agent", 3)])
    await store.comparison.add(Side("agent", 4))
    handle = store.comparison.add(Side("agent"))
    assert handle.error is not None and handle.error.title == "Four sides at most"


async def test_answers_differ_word_by_word(store: Store, service: ScriptedService) -> None:
    comparison = await two(store, service)
    with pytest.raises(ProblemError, match="Not two finished answers"):
        comparison.compare_answers(0, 1)
    await ask(store, service, agent="Three months.", brief="Three weeks.")
    row = comparison.compare_answers(0, 1)[-1]
    assert row.field == "answer" and row.hunks
    (same,) = [row for row in comparison.compare_answers(0, 0) if row.field == "answer"]
    assert (same.change, same.words) == ("same", "the same in both")


async def test_an_edited_question_is_edited_on_every_side(
    store: Store, service: ScriptedService
) -> None:
    comparison = await two(store, service)
    await ask(store, service, agent="Three.", brief="3")
    await comparison.vote(1)
    await store.chat.edit(0)
    await ask(store, service, agent="Four.", brief="4")
    assert [len(chat.slice.value.turns) for chat in comparison.chats] == [2, 2]
    assert texts(store) == ["Four.", "4"]
    record = comparison.record
    assert record is not None and record.judgements == ()


async def test_four_streams_lose_no_token_and_keep_their_order(
    store: Store, service: ScriptedService
) -> None:
    names = ["agent", "brief", "polite", "slow"]
    voices = [service, *(service.voice(name) for name in names[1:])]
    await store.comparison.begin(list(map(Side, names)))
    handle = store.comparison.send("Everything, please.")
    for number in range(300):
        for voice in voices:
            voice.say(f" {number}")
        if number % 20 == 0:
            await asyncio.sleep(0.01)
    for voice in voices:
        voice.finish()
    await handle
    assert texts(store) == ["".join(f" {number}" for number in range(300))] * 4


async def test_votes_are_counted_over_all_comparisons(
    store: Store, service: ScriptedService
) -> None:
    for _ in range(2):
        comparison = await two(store, service)
        await ask(store, service, agent="Three.", brief="3")
        await comparison.vote(texts(store).index("3"))
    await ask(store, service, agent="Four.", brief="4")
    await comparison.vote(None)
    await comparison.leave()
    assert comparison.record is None
    count = comparison.count_votes()
    votes = await count
    assert count.error is None and votes
    assert [(row.answerer, row.won, row.lost, row.tied) for row in votes] == [
        ("brief v4", 2, 0, 1),
        ("support v4", 0, 2, 1),
    ]
    assert votes[0].cells == ("brief v4", "2", "0", "1", "66 %")
