"""The choice of an agent, and of a version or draft, for a chat."""

from carrel.store.agents.formatting import draft_name
from carrel.store.comparison.state import Side
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Option

_ACTIVE = "active"
"""Option for the active version."""
_DRAFT = "draft"


async def choose_agent(
    place: MainScreen, title: str, *, versions: bool = False, drafts: bool = False
) -> Side | None:
    """Ask for an agent, and with `versions` for one of its versions, unless there is only one.
    `drafts` also offers unsaved agents.

    Returns None if there is no agent, or none was chosen.

    Raises:
        ProblemError: the chosen draft is not a valid agent yet.
    """
    state = await place.load(place.store.agents)
    unsaved = {one.id: one for one in state.drafts} if drafts else {}
    options = [Option(a.id, a.name, f"v{a.version} · {a.model}") for a in state.items]
    options += [
        Option(one.id, f"✎ {draft_name(one)}", "not saved")
        for one in unsaved.values()
        if one.agent_id is None
    ]
    if not options:
        place.open_place("agents")  # it says how to make one
        return None
    chosen = await place.choose(title, options)
    agent = next((a for a in place.store.agents.slice.value.items if a.id == chosen), None)
    if agent is None:
        return Side("", draft=unsaved[chosen].create()) if chosen in unsaved else None
    draft = next((one for one in unsaved.values() if one.agent_id == agent.id), None)
    if not versions or (len(agent.versions) < 2 and draft is None):
        return Side(agent.id)
    options = [Option(_DRAFT, "✎ The draft", "not saved", key="d")] if draft is not None else []
    options.append(Option(_ACTIVE, "Whichever is active", f"v{agent.version} now", key="a"))
    options += (Option(str(n), f"v{n}") for n in sorted(agent.versions, reverse=True))
    version = await place.choose(f"{title} · {agent.name}", options)
    if version is None:
        return None
    if version == _DRAFT and draft is not None:
        return Side(agent.id, draft=draft.create())
    return Side(agent.id, None if version == _ACTIVE else int(version))
