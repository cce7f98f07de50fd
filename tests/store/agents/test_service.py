import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from carrel.client import NotFound
from carrel.config.profiles import Profile
from carrel.store.agents.drafts import Draft
from carrel.store.agents.state import AgentsState
from carrel.store.agents.trials import TRIAL
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from carrel.wire.generation.agents import Agent, AgentCreate, AgentUpdate, CompletionArgs
from support.process import RunningServer
from support.slices import until


@pytest.fixture
async def agents(store: Store) -> AsyncIterator[Store]:
    """The store, with no agent in the service."""
    await store.agents.load()
    for agent in store.agents.slice.value.items:
        await store.agents.delete(agent.id)
    yield store


async def test_an_edit_makes_version_1_beside_version_0(agents: Store) -> None:
    made = await agents.agents.create(
        AgentCreate(model="smollm2", name="support", instructions="Answer at length.")
    )
    assert made is not None
    state = agents.agents.slice.value
    assert (state.selected, [agent.version for agent in state.versions]) == (made.id, [0])
    changed = await agents.agents.update(made.id, AgentUpdate(instructions="Answer briefly."))
    assert changed is not None and changed.version == 1
    state = agents.agents.slice.value
    assert [agent.version for agent in state.versions] == [1, 0]
    assert [agent.version for agent in state.items] == [1]
    assert agents.notifications.slice.value.items[-1].text == "support is now v1."


async def test_versions_are_asked_for_again_only_after_a_change(agents: Store) -> None:
    made = await agents.agents.create(AgentCreate(model="smollm2", name="support"))
    assert made is not None

    def asked() -> int:
        calls = agents.requests.slice.value.items
        return sum(one.times for one in calls if one.call.path.endswith(f"{made.id}/versions"))

    before = asked()
    await agents.agents.load()
    await agents.agents.load()
    assert asked() == before
    client = await agents.session.client()
    await client.agents.update(made.id, AgentUpdate(instructions="Another workbench's."))
    await client.agents.set_alias(made.id, "prod", 0)
    await agents.agents.load()
    state = agents.agents.slice.value
    assert [agent.version for agent in state.versions] == [1, 0]
    assert [(one.alias, one.version) for one in state.aliases] == [("prod", 0)]
    assert asked() > before


async def test_an_agent_is_selected_though_the_first_of_the_list_came_meanwhile(
    agents: Store,
) -> None:
    client = await agents.session.client()
    theirs = await client.agents.create(AgentCreate(model="smollm2", name="theirs"))
    making = agents.agents.create(AgentCreate(model="smollm2", name="ours"))
    agents.agents.slice.set(items=(theirs,), selected=theirs.id)
    made = await making
    assert made is not None
    assert agents.agents.slice.value.selected == made.id


def changed(state: AgentsState) -> set[str]:
    return {each.field for each in state.diff if each.change != "same"}


async def test_two_marked_versions_are_compared_old_to_new(agents: Store) -> None:
    slice = agents.agents.slice
    made = await agents.agents.create(AgentCreate(model="smollm2", name="support"))
    assert made is not None
    await agents.agents.update(
        made.id, AgentUpdate(completion_args=CompletionArgs(temperature=0.3))
    )
    await agents.agents.update(made.id, AgentUpdate(instructions="Be kind."))
    await agents.agents.mark_version(2)
    assert slice.value.diff == ()
    await agents.agents.mark_version(1)
    assert (slice.value.marked, changed(slice.value)) == ((2, 1), {"instructions"})
    await agents.agents.mark_version(0)  # takes the place of the one marked first
    assert (slice.value.marked, changed(slice.value)) == ((1, 0), {"temperature"})
    await agents.agents.mark_version(0)
    assert (slice.value.marked, slice.value.diff) == ((1,), ())
    await agents.agents.compare(0, 2)
    assert changed(slice.value) == {"instructions", "temperature"}


async def test_switching_makes_an_older_version_active(agents: Store) -> None:
    made = await agents.agents.create(AgentCreate(model="smollm2", name="support"))
    assert made is not None
    await agents.agents.update(made.id, AgentUpdate(instructions="Be kind."))
    switched = await agents.agents.switch(made.id, 0)
    assert switched is not None and switched.instructions is None
    assert [agent.version for agent in agents.agents.slice.value.items] == [0]


async def test_a_version_that_is_not_there_is_told(agents: Store) -> None:
    made = await agents.agents.create(AgentCreate(model="smollm2", name="support"))
    assert made is not None
    handle = agents.agents.switch(made.id, 7)
    assert await handle.settled() == "failed"
    assert handle.error is not None and handle.error == agents.agents.slice.value.error


async def test_deleting_the_selected_one_selects_another(agents: Store) -> None:
    one = await agents.agents.create(AgentCreate(model="smollm2", name="one"))
    two = await agents.agents.create(AgentCreate(model="smollm2", name="two"))
    assert one is not None and two is not None
    assert agents.agents.slice.value.selected == two.id
    await agents.agents.delete(two.id)
    state = await until(agents.agents.slice, lambda state: not state.loading)
    assert (state.selected, [agent.id for agent in state.items]) == (one.id, [one.id])
    assert [agent.id for agent in state.versions] == [one.id]


async def test_a_trial_is_not_listed_and_one_left_over_is_removed(
    agents: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await agents.session.client()
    trial = await client.agents.create(
        AgentCreate(model="smollm2", name="support · trial", metadata=TRIAL)
    )
    await agents.agents.load()
    assert agents.agents.slice.value.items == ()
    assert await client.agents.get(trial.id)
    monkeypatch.setattr("carrel.store.agents.trials.LEFT_OVER", 0.0)
    await agents.agents.load()
    with pytest.raises(NotFound):
        await client.agents.get(trial.id)


async def made(store: Store, *instructions: str) -> Agent:
    """An agent with a version for each instructions."""
    first, *others = instructions
    agent = await store.agents.create(
        AgentCreate(model="smollm2", name="support", instructions=first)
    )
    for each in others:
        assert agent is not None
        agent = await store.agents.update(agent.id, AgentUpdate(instructions=each))
    assert agent is not None
    return agent


async def test_a_draft_is_kept_until_it_is_saved(agents: Store, server: RunningServer) -> None:
    agent = await made(agents, "Be kind.")
    draft = replace(Draft.of(agent).changed(instructions="Be brief."), message="shorter")
    await agents.agents.keep(draft)
    kept = agents.agents.slice.value.draft
    assert kept is not None and kept.fields == draft.fields and kept.updated > 0
    # The workbench ends without a word; the next one has it.
    again = Store(Profile("test", server.url, server.api_key), OwnerLoop.running())
    await again.start()
    await again.agents.load()
    assert [*again.agents.slice.value.drafts] == [kept]
    saved = await again.agents.save(kept)
    assert saved is not None
    assert (saved.version, saved.instructions, saved.version_message) == (1, "Be brief.", "shorter")
    assert [*again.agents.slice.value.drafts] == []
    await again.close()
    await agents.agents.load()
    assert [*agents.agents.slice.value.drafts] == []


async def test_what_is_typed_while_a_draft_is_saved_stays_a_draft(agents: Store) -> None:
    agent = await made(agents, "Be kind.")
    draft = Draft.of(agent).changed(instructions="Be brief.")
    await agents.agents.keep(draft)
    saving = agents.agents.save(draft)
    later = draft.changed(instructions="Be brief and clear.")
    await agents.agents.keep(later)
    saved = await saving
    assert saved is not None and saved.instructions == "Be brief."
    await agents.agents.load()
    (kept,) = agents.agents.slice.value.drafts
    assert kept.fields["instructions"] == "Be brief and clear."


async def test_a_change_is_listed_though_an_older_load_still_runs(
    agents: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, go_on = asyncio.Event(), asyncio.Event()
    send = httpx.AsyncHTTPTransport.handle_async_request

    async def late(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        response = await send(self, request)
        if (request.method, request.url.path) == ("GET", "/v1/agents") and not listed.is_set():
            await response.aread()
            listed.set()
            await go_on.wait()
        return response

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", late)
    loading = agents.agents.load()
    await listed.wait()
    creating = agents.agents.create(AgentCreate(name="newcomer", model="smollm2"))
    await until(
        agents.requests.slice, lambda state: any(one.call.method == "POST" for one in state.items)
    )
    go_on.set()
    await loading
    await creating
    assert "newcomer" in {agent.name for agent in agents.agents.slice.value.items}


async def test_a_draft_of_an_agent_that_somebody_deleted_is_of_a_new_one(agents: Store) -> None:
    agent = await made(agents, "Be kind.")
    await agents.agents.keep(Draft.of(agent).changed(instructions="Be brief."))
    client = await agents.session.client()
    await client.agents.delete(agent.id)
    await agents.agents.load()
    [left] = agents.agents.slice.value.drafts
    assert left.agent_id is None
    saved = await agents.agents.save(left)
    assert saved is not None
    assert (saved.name, saved.version, saved.instructions) == (agent.name, 0, "Be brief.")
    assert agents.agents.slice.value.drafts == ()


async def test_a_draft_that_says_nothing_is_not_kept(agents: Store) -> None:
    agent = await made(agents, "Be kind.")
    draft = Draft.of(agent)
    await agents.agents.keep(draft.changed(instructions="Be brief."))
    await agents.agents.keep(draft)
    await agents.agents.keep(Draft.blank("smollm2"))
    assert agents.agents.slice.value.drafts == ()
    assert await agents.agents.save(draft) is None
    assert [version.version for version in agents.agents.slice.value.versions] == [0]


async def test_a_draft_becomes_the_whole_version_whatever_is_active(agents: Store) -> None:
    agent = await made(agents, "Be kind.", "Be brief.")
    old = next(each for each in agents.agents.slice.value.versions if each.version == 0)
    draft = Draft.of(old).changed(description="d")
    client = await agents.session.client()
    await client.agents.update(agent.id, AgentUpdate(model="another"))
    saved = await agents.agents.save(draft)
    assert saved is not None
    assert (saved.version, saved.model, saved.instructions) == (3, "smollm2", "Be kind.")


async def test_a_refused_draft_is_kept(agents: Store) -> None:
    agent = await made(agents, "Be kind.")
    draft = Draft.of(agent).with_arguments(temperature=3)
    await agents.agents.keep(draft)
    handle = agents.agents.save(draft)
    assert await handle.settled() == "failed"
    assert handle.error is not None and "temperature" in handle.error.detail
    assert agents.agents.slice.value.draft is not None


async def test_a_new_agent_is_saved_from_its_draft(agents: Store) -> None:
    draft = Draft.blank("smollm2").changed(name="minutes")
    await agents.agents.keep(draft)
    saved = await agents.agents.save(draft)
    assert saved is not None and saved.version == 0
    state = agents.agents.slice.value
    assert (state.agent, state.drafts) == (saved, ())


async def test_rolling_back_goes_to_what_was_active_before(agents: Store) -> None:
    agent = await made(agents, "0", "1", "2")
    await agents.agents.switch(agent.id, 0)

    async def rolled_back() -> int:
        rolled = await agents.agents.roll_back(agent.id)
        assert rolled is not None
        return rolled.version

    assert await rolled_back() == 2
    # Nothing else is known of; the versions below come next.
    assert [await rolled_back(), await rolled_back()] == [1, 0]
    handle = agents.agents.roll_back(agent.id)
    await handle.settled()
    assert handle.error is not None and handle.error.title == "There is no version to roll back to"


async def test_an_alias_is_set_moved_and_removed(agents: Store) -> None:
    agent = await made(agents, "0", "1")

    def names() -> list[tuple[str, int]]:
        return [(each.alias, each.version) for each in agents.agents.slice.value.aliases]

    await agents.agents.set_alias(agent.id, "prod", 0)
    assert names() == [("prod", 0)]
    await agents.agents.set_alias(agent.id, "prod", 1)
    assert names() == [("prod", 1)]
    handle = agents.agents.set_alias(agent.id, "Not So", 1)
    await handle.settled()
    assert handle.error is not None and "lower-case letters" in handle.error.detail
    await agents.agents.remove_alias(agent.id, "prod")
    assert names() == []
    assert agents.notifications.slice.value.items[-1].text == "Removed the alias prod."


async def test_deleting_an_agent_takes_its_draft_along(agents: Store) -> None:
    agent = await made(agents, "Be kind.")
    await agents.agents.keep(Draft.of(agent).changed(instructions="Be brief."))
    await agents.agents.delete(agent.id)
    assert agents.agents.slice.value.drafts == ()
