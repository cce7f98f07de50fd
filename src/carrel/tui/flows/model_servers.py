"""Model servers of this machine: offered by name, and used after one key."""

from functools import partial
from typing import TYPE_CHECKING

from carrel.tui.dialogs.ask import Choose, Thing

if TYPE_CHECKING:
    from carrel.store.models.service import ModelServer
    from carrel.tui.app import CarrelApp

BUILT_IN = "\0built-in"
"""Stands for the model that comes with the server."""
LEAVE = "\0leave"
"""Stands for leaving the agents as they are."""
NAMED = 3
"""How many of a server's models, or of some agents, are named."""


def look(app: "CarrelApp") -> None:
    """Looks for model servers, and offers what is found while the small test model answers."""
    store = app.store

    def found(servers: "tuple[ModelServer, ...]") -> None:
        if servers and _built_in_answers(app):
            names = " and ".join(server.name for server in servers)
            verb = "answers" if len(servers) == 1 else "answer"
            app.say(f"{names} {verb} on this machine: m uses it instead of the small test model.")

    if (place := app.place) is not None:
        place.do(store.models.look(app.settings.model_servers), found)


def choose(app: "CarrelApp") -> None:
    """Asks which server and which of its models to use, where there is a choice."""
    store, place = app.store, app.place
    if place is None:
        return

    def use(server: "ModelServer", model: str | None) -> None:
        if model is not None:
            place.do(store.models.use(server, model), lambda _: _look_at_agents(app))

    def choose_model(server: "ModelServer") -> None:
        if len(server.models) == 1:
            use(server, server.models[0])
            return
        now = store.session.slice.value.models[:1]
        things = [
            Thing(model, model, "answers now" if (model,) == now else "") for model in server.models
        ]
        app.push_screen(Choose(f"Model of {server.name}", things), partial(use, server))

    def chosen(servers: "tuple[ModelServer, ...]", name: str | None) -> None:
        if name == BUILT_IN:
            place.do(store.models.use_built_in(), lambda _: _look_at_agents(app))
        elif name is not None:
            choose_model(next(server for server in servers if server.name == name))

    def found(servers: "tuple[ModelServer, ...]") -> None:
        if len(servers) == 1 and _built_in_answers(app):
            choose_model(servers[0])
        elif servers or not _built_in_answers(app):
            things = [Thing(it.name, it.name, _names(it.models)) for it in servers]
            things.append(Thing(BUILT_IN, "Built-in", "a small test model"))
            app.push_screen(Choose("Answers come from", things), partial(chosen, servers))
        else:
            where = ", ".join(app.settings.model_servers)
            app.say(f"No model server answers on this machine. Looked for: {where}.")

    place.do(store.models.look(app.settings.model_servers), found)


def _built_in_answers(app: "CarrelApp") -> bool:
    return "(test model)" in (app.store.session.slice.value.model or "")


def _look_at_agents(app: "CarrelApp") -> None:
    """Offers another model for the agents whose own is not there any more."""
    store, place = app.store, app.place
    if place is None:
        return

    def loaded() -> None:
        models = store.session.slice.value.models
        left = [
            agent for agent in store.agents.slice.value.items if store.session.lacks(agent.model)
        ]
        if not left or not models:
            return

        def chosen(model: str | None) -> None:
            if model is not None and model != LEAVE:
                place.do(store.agents.use_model([agent.id for agent in left], model))

        names = ", ".join(agent.name for agent in left[:NAMED])
        more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
        things = [Thing(model, model) for model in models]
        things.append(Thing(LEAVE, "Leave them", "they cannot answer until they are changed"))
        app.push_screen(Choose(f"Switch {names}{more} to", things), chosen)

    # A refresh may take over from this one: either way the agents are here then.
    store.agents.load().add_done_callback(lambda _: app.call_later(loaded))


def _names(models: tuple[str, ...]) -> str:
    more = len(models) - NAMED
    return ", ".join(models[:NAMED]) + (f" and {more} more" if more > 0 else "")
