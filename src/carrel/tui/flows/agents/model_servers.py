"""Local model servers: offered by name, and used after one key."""

from collections.abc import Sequence

from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Choose, Option
from carrel.tui.dialogs.core.confirm import Confirm
from carrel.tui.theme import labels

BUILT_IN = "\0built-in"
"""Option for the server's built-in model."""
LEAVE = "\0leave"
"""Option that leaves the agents unchanged."""
NAMED = 3
"""Number of models or agents that are named; the others are counted."""


async def offer(place: MainScreen) -> None:
    """Look for model servers, and offer them by name while the built-in model answers."""
    bench = place.workbench
    servers = await place.store.models.look(bench.settings.model_servers)
    if servers and _is_built_in_model(place):
        names = " and ".join(server.name for server in servers)
        verb = "answers" if len(servers) == 1 else "answer"
        bench.show_notice(
            f"{names} {verb} on this machine: m uses it instead of the small test model."
        )


async def use(place: MainScreen) -> None:
    """Ask for the model that answers all users of this server, and for the agents to switch."""
    models, bench = place.store.models, place.workbench
    place.notice("Looking for model servers on this machine …")
    with bench.type_ahead.discard(use):
        servers = await models.look(bench.settings.model_servers)
    if not servers and _is_built_in_model(place):
        names = ", ".join(bench.settings.model_servers)
        bench.show_notice(f"No model server answers here. Start one ({names}), then m again.")
        return
    place.notice("")
    offered = {
        f"{server.name}\0{model}": (server, model) for server in servers for model in server.models
    }
    now = place.store.session.slice.value.models[:1]
    options = [
        Option(id, f"{model} · {server.name}", "answers now" if (model,) == now else "")
        for id, (server, model) in offered.items()
    ]
    details = "answers now" if _is_built_in_model(place) else "a small test model"
    options.append(Option(BUILT_IN, "Built-in", details, key="b"))
    chosen = await place.ask(Choose("Answers come from", options))
    if chosen is None:
        return
    server, model = offered.get(chosen, (None, ""))
    served = server.models if server else ()
    name = model or "the built-in test model"
    if not await _confirm(place, name, served):
        return
    place.notice(f"Switching to {name} …")
    if server is None:
        await models.use_built_in()
    else:
        await models.use(server, model)
    await _switch_agents(place)


async def _confirm(place: MainScreen, name: str, served: Sequence[str]) -> bool:
    """Ask before the model changes for everybody; name the agents that lose theirs."""
    agents = (await place.load(place.store.agents)).items
    left = [agent.name for agent in agents if agent.model not in served]
    about = [labels.line("Everybody who uses this server gets its answers.")]
    if left:
        verb = "has another model and answers" if len(left) == 1 else "have other models and answer"
        about.append(labels.line(f"{_names(left)} {verb} once switched, which is asked next."))
    return await place.ask(Confirm(f"Answer with {name}?", about, "Switch")) is True


def _is_built_in_model(place: MainScreen) -> bool:
    return "(test model)" in (place.store.session.slice.value.model or "")


async def _switch_agents(place: MainScreen) -> None:
    """Offer another model for agents whose model is no longer served."""
    store = place.store
    # A refresh may replace this load: either way the agents are loaded afterwards.
    await store.agents.load().settled()
    models = store.session.slice.value.models
    left = [
        agent for agent in store.agents.slice.value.items if not store.session.lists(agent.model)
    ]
    if not left or not models:
        return
    options = [Option(model, model) for model in models]
    options.append(
        Option(LEAVE, "Leave them", "they cannot answer until they are changed", key="l")
    )
    names = _names([agent.name for agent in left])
    model = await place.choose(f"Switch {names} to", options)
    if model is not None and model != LEAVE:
        place.do(store.agents.use_model([agent.id for agent in left], model))


def _names(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
