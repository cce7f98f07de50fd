"""Aliases: names that point at one version of an agent."""

from carrel.store.agents.words import version_name
from carrel.tui.dialogs.ask import Ask, Choose, Thing
from carrel.tui.place import Place
from carrel.wire.agents import Agent

# No alias can be called so.
_NEW = "a new one"


def name_version(place: Place, agent: Agent, version: int) -> None:
    """Gives a version an alias, moves one to it from another version, or takes one away."""
    agents, name = place.store.agents, version_name(version)
    aliases = {each.alias: each.version for each in agents.slice.value.aliases}

    def named(alias: str | None) -> None:
        if alias is not None:
            place.do(agents.set_alias(agent.id, alias, version))

    def chosen(what: str | None) -> None:
        if what == _NEW:
            place.app.push_screen(Ask(f"An alias of {name}", "such as prod"), named)
        elif what is not None and aliases[what] == version:
            place.do(agents.remove_alias(agent.id, what))
        else:
            named(what)

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
    if aliases:
        place.app.push_screen(Choose(f"Aliases · {agent.name} {name}", things), chosen)
    else:
        chosen(_NEW)
