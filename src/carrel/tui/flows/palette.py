"""What the palette offers: actions of a screen, those of the app, and things that were found."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.screen import Screen

from carrel.store.cache.copies import DocumentSource
from carrel.store.finder.state import FoundItem
from carrel.tui.dialogs.palette import Command
from carrel.tui.screens.agents import AgentsPlace

if TYPE_CHECKING:
    from carrel.tui.app import CarrelApp

_MOVING = ("table.", "scroll.", "text.", "picture.", "app.palette", "place.")
"""Beginnings of the ids of what only moves about."""


def commands_of(screen: Screen[object]) -> list[Command]:
    """What the keys of a screen do now, each action once; moving about is left out."""
    commands: dict[tuple[str, str], Command] = {}
    app = screen.app
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.id is None or binding.system or not active.enabled:
            continue
        if binding.id.startswith(_MOVING):
            continue
        commands.setdefault(
            (binding.action, binding.description),
            Command(
                binding.description,
                app.get_key_display(binding),
                partial(app.run_action, binding.action, active.node),
            ),
        )
    return list(commands.values())


def app_commands(app: "CarrelApp") -> Iterator[Command]:
    """What the app does whatever is on the screen."""
    store = app.store
    yield Command("Light or dark", "", app.appearance.toggle)
    hiding = "Show keys, ids and addresses" if app.hiding else "Hide keys, ids and addresses"
    yield Command(hiding, "", app.toggle_hiding)
    yield Command("Connect again", "", store.session.retry)
    yield Command("Open the sample", "", app.play_sample)
    if store.session.slice.value.read_only:
        yield Command("Allow changes", "", store.session.allow_changes)
    if app.appearance.broken:
        yield Command("What is wrong with my themes", "", app.appearance.explain)
    for name in app.appearance.names():
        yield Command(
            f"Theme: {name}",
            "in force" if name == app.appearance.chosen else "",
            partial(app.appearance.choose, name),
            preview=partial(app.appearance.preview, name),
        )


async def open_found(app: "CarrelApp", found: FoundItem) -> None:
    """Goes to a thing that was found."""
    store = app.store
    match found.kind:
        case "file":
            store.documents.open(DocumentSource("file", found.id, found.name))
            await app.open_place("document")
        case "document":
            store.documents.open(DocumentSource("document", found.id, found.name, found.parent))
            await app.open_place("document")
        case "agent" | "version":
            await app.open_place("agents")
            await store.agents.select(found.parent or found.id)
            if found.version is not None and isinstance(place := app.place, AgentsPlace):
                place.versions.point_at(str(found.version))
                place.versions.focus()
        case "chat":
            if (here := app.place) is not None:
                here.open_chat(store.chat.resume(found.id))
