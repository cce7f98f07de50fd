from collections.abc import AsyncIterator

import pytest

from carrel.store.agents import AgentsState
from carrel.store.store import Store
from carrel.wire.agents import AgentCreate, AgentUpdate, CompletionArgs
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
    assert await handle is None
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


async def test_more_agents_than_a_page_holds_are_all_there(
    agents: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.store.agents.PAGE", 2)
    for number in range(5):
        await agents.agents.create(AgentCreate(model="smollm2", name=f"agent {number}"))
    names = {agent.name for agent in agents.agents.slice.value.items}
    assert names == {f"agent {number}" for number in range(5)}
