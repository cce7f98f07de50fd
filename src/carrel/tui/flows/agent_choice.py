"""Choosing an agent, and one of its versions, for a chat."""

from dataclasses import dataclass

from carrel.tui.dialogs.ask import Thing
from carrel.tui.place import Place

_ACTIVE = "active"
"""Stands for whichever version is active."""


@dataclass(frozen=True)
class Chosen:
    """An agent by its id, and a version; None is whichever is active."""

    agent_id: str
    version: int | None = None


async def choose_agent(place: Place, title: str, *, versions: bool = False) -> Chosen | None:
    """Asks for an agent, and for one of its versions if `versions`; the only one is not asked for.

    None: there is no agent, or none was chosen.
    """
    state = await place.load(place.store.agents)
    if state is None:
        return None
    things = [Thing(a.id, a.name, f"v{a.version} · {a.model}") for a in state.items]
    if not things:
        place.notice("There is no agent yet: 4 Agents, then n New.", failed=True)
        return None
    agent_id: str | None = things[0].id
    if len(things) > 1:
        agent_id = await place.choose(title, things)
    agent = next((a for a in place.store.agents.slice.value.items if a.id == agent_id), None)
    if agent is None:
        return None
    if not versions or len(agent.versions) < 2:
        return Chosen(agent.id)
    things = [Thing(_ACTIVE, "Whichever is active", f"v{agent.version} now")]
    things += (Thing(str(n), f"v{n}") for n in sorted(agent.versions, reverse=True))
    version = await place.choose(f"{title} · {agent.name}", things)
    if version is None:
        return None
    return Chosen(agent.id, None if version == _ACTIVE else int(version))
