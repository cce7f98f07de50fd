from carrel.notebook.panels.agent import AgentPanel
from carrel.store.store import Store
from support.panels import Wire
from support.states import fill


def test_the_active_version_is_described_beside_the_versions(store: Store) -> None:
    async def put() -> None:
        fill(store)
        store.agents.slice.set(marked=(), diff=())

    store.loop.run(put()).result(10)
    wire = Wire(AgentPanel(store))
    about = wire.wait_state(lambda state: state["about"]["rows"])["about"]
    agent = store.agents.slice.value.agent
    assert agent is not None
    assert about["title"] == f"v{agent.version} · active · mark two versions to compare them"
    fields = {row["field"]: row["words"] for row in about["rows"]}
    assert fields["Model"] == agent.model
    assert fields["Instructions"] == agent.instructions
