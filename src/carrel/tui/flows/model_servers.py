"""Model servers of this machine: offered by name, and used after one key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrel.tui.dialogs.ask import Thing
from carrel.tui.place import Place

if TYPE_CHECKING:
    from carrel.store.models.service import ModelServer

BUILT_IN = "\0built-in"
"""Stands for the model that comes with the server."""
LEAVE = "\0leave"
"""Stands for leaving the agents as they are."""
NAMED = 3
"""Models of a server, or agents, that are named; the others are counted."""


async def offer(place: Place) -> None:
    """Looks for model servers, and offers them by name while the built-in model answers."""
    bench = place.workbench
    servers = await place.finish(place.store.models.look(bench.settings.model_servers))
    if servers and _built_in_answers(place):
        names = " and ".join(server.name for server in servers)
        verb = "answers" if len(servers) == 1 else "answer"
        bench.say(f"{names} {verb} on this machine: m uses it instead of the small test model.")


async def use(place: Place) -> None:
    """Asks which server and which of its models to use, where there is a choice."""
    models, bench = place.store.models, place.workbench
    servers = await place.finish(models.look(bench.settings.model_servers))
    if servers is None:
        return
    built_in = _built_in_answers(place)
    if not servers and built_in:
        where = ", ".join(bench.settings.model_servers)
        bench.say(f"No model server answers on this machine. Looked for: {where}.")
        return
    server: ModelServer | None = None
    if len(servers) == 1 and built_in:
        server = servers[0]
    else:
        things = [Thing(it.name, it.name, _names(it.models)) for it in servers]
        things.append(Thing(BUILT_IN, "Built-in", "a small test model"))
        name = await place.choose("Answers come from", things)
        if name is None:
            return
        server = next((server for server in servers if server.name == name), None)
    if server is None:
        used = models.use_built_in()
    else:
        model = await _choose_model(place, server)
        if model is None:
            return
        used = models.use(server, model)
    await place.finish(used)
    if used.outcome == "done":
        await _switch_agents(place)


async def _choose_model(place: Place, server: "ModelServer") -> str | None:
    """The model of a server that is to answer; the only one is not asked for."""
    if len(server.models) == 1:
        return server.models[0]
    now = place.store.session.slice.value.models[:1]
    things = [
        Thing(model, model, "answers now" if (model,) == now else "") for model in server.models
    ]
    return await place.choose(f"Model of {server.name}", things)


def _built_in_answers(place: Place) -> bool:
    return "(test model)" in (place.store.session.slice.value.model or "")


async def _switch_agents(place: Place) -> None:
    """Offers another model for the agents whose own model is not served any more."""
    store = place.store
    # A refresh may take over from this one: either way the agents are here then.
    await store.agents.load()
    models = store.session.slice.value.models
    left = [agent for agent in store.agents.slice.value.items if store.session.lacks(agent.model)]
    if not left or not models:
        return
    things = [Thing(model, model) for model in models]
    things.append(Thing(LEAVE, "Leave them", "they cannot answer until they are changed"))
    names = _names([agent.name for agent in left])
    model = await place.choose(f"Switch {names} to", things)
    if model is not None and model != LEAVE:
        place.do(store.agents.use_model([agent.id for agent in left], model))


def _names(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
