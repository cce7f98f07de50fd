"""Agents and their versions: making one active, aliases, copying, deleting."""

from textual.content import Content

from carrel.store.agents.compare import compare_agents
from carrel.store.agents.words import changed_field_rows, version_name
from carrel.tui.dialogs.ask import Ask, Thing
from carrel.tui.dialogs.changes import Changes
from carrel.tui.flows.drafts import library_names
from carrel.tui.looks import labels
from carrel.tui.place import Place
from carrel.wire.agents import Agent

_NEW = "a new one"
"""Stands for an alias that does not exist yet; none can have this name."""


async def make_active(place: Place, agent: Agent, version: Agent) -> None:
    """Makes another version of an agent active, after its changes were shown."""
    name = version_name(version.version)
    rows = changed_field_rows(compare_agents(agent, version), library_names(place))
    about = labels.line(f"{version_name(agent.version)} is active now. What changes:")
    answers = (("no", "Cancel"), ("yes", "Make active"))
    title = f"Make {name} of {agent.name} active?"
    if await place.ask(Changes(title, about, rows, answers)) == "yes":
        place.do(place.store.agents.switch(agent.id, version.version))


async def edit_aliases(place: Place, agent: Agent, version: int) -> None:
    """Gives a version an alias, moves one to it from another version, or removes one."""
    agents, name = place.store.agents, version_name(version)
    aliases = {each.alias: each.version for each in agents.slice.value.aliases}
    chosen: str | None = _NEW
    if aliases:
        things = [
            Thing(_NEW, "New alias…"),
            *(
                Thing(
                    alias,
                    f"Remove {alias}" if at == version else f"Move {alias} here",
                    f"it is {version_name(at)}",
                )
                for alias, at in sorted(aliases.items(), key=lambda pair: pair[1] != version)
            ),
        ]
        chosen = await place.choose(f"Aliases · {agent.name} {name}", things)
    if chosen == _NEW:
        chosen = await place.ask(Ask(f"An alias of {name}", "such as prod"))
    elif chosen is not None and aliases[chosen] == version:
        place.do(agents.remove_alias(agent.id, chosen))
        return
    if chosen is not None:
        place.do(agents.set_alias(agent.id, chosen, version))


async def copy_part(place: Place, agent: Agent) -> None:
    """Copies the id, the name or the instructions of an agent or a version, as is chosen."""
    texts = {
        "id": agent.id,
        "name": agent.name,
        "instructions": agent.instructions or "",
    }
    if part := await place.choose("Copy", [Thing(part, f"Copy {part}") for part in texts]):
        place.copy(texts[part])


async def delete(place: Place, agent: Agent) -> None:
    """Deletes an agent with all its versions."""
    about = [labels.line(agent.name, "bold"), Content("All its versions go with it.")]
    if await place.confirm_delete("Delete this agent?", about):
        place.do(place.store.agents.delete(agent.id))
