"""Who answers in a chat: an agent, and one of its versions."""

from collections.abc import Callable

from carrel.store.agents.state import AgentsState
from carrel.tui.dialogs.ask import Choose, Thing
from carrel.tui.place import Place

_ACTIVE = "active"
"""Stands for whichever version is active."""


def choose_agent(
    place: Place,
    title: str,
    then: Callable[[str, int | None], None],
    *,
    versions: bool = False,
) -> None:
    """Asks for an agent, and for one of its versions if `versions`; the only one is not asked for.

    `then` is given its id and the version, None for whichever is active.
    """

    def choose_version(agent_id: str | None) -> None:
        agent = next((a for a in agents.slice.value.items if a.id == agent_id), None)
        if agent is None:
            return
        if not versions or len(agent.versions) < 2:
            then(agent.id, None)
            return
        things = [Thing(_ACTIVE, "Whichever is active", f"v{agent.version} now")]
        things += (Thing(str(n), f"v{n}") for n in sorted(agent.versions, reverse=True))

        def chosen(version: str | None) -> None:
            if version is not None:
                then(agent.id, None if version == _ACTIVE else int(version))

        place.app.push_screen(Choose(f"{title} · {agent.name}", things), chosen)

    def choose(state: AgentsState) -> None:
        things = [Thing(a.id, a.name, f"v{a.version} · {a.model}") for a in state.items]
        if len(things) == 1:
            choose_version(things[0].id)
        elif things:
            place.app.push_screen(Choose(title, things), choose_version)
        else:
            place.notice("There is no agent yet: 4 Agents, then n New.", failed=True)

    agents = place.store.agents
    place.once_loaded(agents, choose)
