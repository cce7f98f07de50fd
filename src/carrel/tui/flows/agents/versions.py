"""Agents and their versions: activating, aliases, copying, deleting."""

from textual.content import Content

from carrel.store.agents.formatting import version_name
from carrel.store.agents.review import SwitchReview, review_switch
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Ask, Option
from carrel.tui.dialogs.core.changes import Changes
from carrel.tui.flows.agents.drafts import library_names
from carrel.tui.theme import labels
from carrel.wire.generation.agents import Agent

_NEW = "a new one"
"""Option for a new alias; no alias can have this name."""


async def make_active(place: MainScreen, agent: Agent, version: Agent) -> None:
    """Show the changes of another version, and activate it after confirmation."""
    if await _confirm(place, review_switch(agent, version, library_names(place))):
        place.do(place.store.agents.switch(agent.id, version.version))


async def roll_back(place: MainScreen, agent: Agent) -> None:
    """Show the changes back to the previously active version, and activate it after
    confirmation."""
    agents = place.store.agents
    number = agents.active_before(agent)
    version = next(each for each in agents.slice.value.versions if each.version == number)
    if await _confirm(place, review_switch(agent, version, library_names(place), back=True)):
        place.do(agents.roll_back(agent.id, number))


async def _confirm(place: MainScreen, found: SwitchReview) -> bool:
    """Show the changes that affect everybody who asks the agent."""
    answers = (("no", "Cancel"), ("yes", found.verb))
    question = Changes(found.title, labels.line(found.about), found.rows, answers)
    return await place.ask(question) == "yes"


async def edit_aliases(place: MainScreen, agent: Agent, version: int) -> None:
    """Give an alias to a version, move one from another version, or remove one."""
    agents, name = place.store.agents, version_name(version)
    aliases = {each.alias: each.version for each in agents.slice.value.aliases}
    chosen: str | None = _NEW
    if aliases:
        options = [Option(_NEW, "New alias…", key="n")]
        for alias, number in sorted(aliases.items(), key=lambda pair: pair[1] != version):
            words = f"Remove {alias}" if number == version else f"Move {alias} here"
            options.append(Option(alias, words, f"it is {version_name(number)}"))
        chosen = await place.choose(f"Aliases · {agent.name} {name}", options)
    removes = chosen in aliases and aliases[chosen] == version
    if chosen == _NEW:
        chosen = await place.ask(Ask(f"An alias of {name}", "such as prod"))
    if chosen is None:
        return
    if (at := aliases.get(chosen)) is not None:
        now = f"{chosen} means {version_name(at)} now, for everybody who asks {agent.name}."
        title = f"Remove {chosen}?" if removes else f"Move {chosen} to {name}?"
        if not await place.confirm(title, [labels.line(now)], "Remove" if removes else "Move"):
            return
    if removes:
        place.do(agents.remove_alias(agent.id, chosen))
    else:
        place.do(agents.set_alias(agent.id, chosen, version))


async def copy_part(place: MainScreen, agent: Agent) -> None:
    """Copy the id, the name or the instructions of an agent or a version."""
    texts = {"id": agent.id, "name": agent.name, "instructions": agent.instructions or ""}
    await place.copy_one(texts)


async def delete(place: MainScreen, agent: Agent) -> None:
    """Delete an agent with all its versions."""
    about = [labels.line(agent.name, "bold"), Content("All its versions go with it.")]
    if await place.confirm_delete("Delete this agent?", about):
        place.do(place.store.agents.delete(agent.id))
