"""The palette: actions of the screen and of the app, and items found by name."""

from collections.abc import Iterator
from functools import partial

from textual.screen import Screen

from carrel.store.cache.copies import DocumentSource
from carrel.store.finder import FoundItem
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.palette import Command, Palette
from carrel.tui.dialogs.search import Search
from carrel.tui.flows import sample

_MOVING = ("table.", "scroll.", "text.", "picture.", "app.palette", "place.")
"""Prefixes of the ids of mere movements."""


async def choose(place: MainScreen) -> None:
    """Open the palette and perform the choice."""
    appearance = place.workbench.appearance
    palette = Palette(
        [*_commands_of(place), *_app_commands(place)],
        place.store.finder,
        lambda found: place.run_flow(_open(place, found)),
        appearance.restore,
    )
    command = await place.ask(palette)
    appearance.restore()
    if command is not None:
        place.app.call_later(command.run)


def _commands_of(screen: Screen[None]) -> list[Command]:
    """Return the enabled actions of a screen's keys, each once, without movements."""
    commands: dict[tuple[str, str], Command] = {}
    app = screen.app
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.id is None or binding.system or not active.enabled:
            continue
        if binding.id.startswith(_MOVING):
            continue
        run = partial(app.run_action, binding.action, active.node)
        command = Command(binding.description, app.get_key_display(binding), run)
        commands.setdefault((binding.action, binding.description), command)
    return list(commands.values())


def _app_commands(place: MainScreen) -> Iterator[Command]:
    """Yield the actions of the app, on any screen."""
    store, bench = place.store, place.workbench
    appearance = bench.appearance
    yield Command("Light or dark", "", appearance.toggle)
    hiding = "Show keys, ids and addresses" if bench.hiding else "Hide keys, ids and addresses"
    yield Command(hiding, "", bench.toggle_hiding)
    yield Command("Connect again", "", store.session.retry)
    yield Command("Open the sample", "", lambda: place.run_flow(sample.play(place)))
    if store.session.slice.value.read_only:
        yield Command("Allow changes", "", store.session.allow_changes)
    if appearance.broken:
        show = partial(bench.show_problem, appearance.problem())
        yield Command("Problems of my themes", "", show)
    for name in appearance.names():
        yield Command(
            f"Theme: {name}",
            "current" if name == appearance.chosen else "",
            partial(appearance.choose, name),
            preview=partial(appearance.preview, name),
        )


async def _open(place: MainScreen, found: FoundItem) -> None:
    """Open a found item."""
    documents, bench = place.store.documents, place.workbench
    match found.kind:
        case "file":
            documents.open(DocumentSource("file", found.id, found.name))
            await bench.open_place("document")
        case "document":
            documents.open(DocumentSource("document", found.id, found.name, found.parent))
            await bench.open_place("document")
        case "agent" | "version":
            await bench.open_version(found.parent or found.id, found.version)
        case "chat":
            place.open_chat(place.store.chat.resume(found.id))


async def search_everywhere(place: MainScreen) -> None:
    """Ask for a query and open the chosen passage."""
    hit = await place.ask(Search(place.store.search))
    if hit is None:
        return
    if hit.kind == "chat":
        place.open_chat(place.store.chat.resume(hit.id, hit.turn))
        return
    source = DocumentSource("document", hit.id, hit.name, hit.library_id)
    place.store.documents.open(source, hit.page or 0, hit.box)
    await place.workbench.open_place("document")
