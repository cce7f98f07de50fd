"""A key that does nothing where it is pressed: why, and the nearest thing that would work."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import key_to_character

from carrel.tui.widgets.topbar import PLACES

if TYPE_CHECKING:
    from carrel.tui.place import Place

EVERY_KEY = "F1 shows every key."


def words(place: "Place", key: str) -> str:
    """What to say of a key that no binding took; empty where there is nothing to say."""
    active = place.active_bindings
    shown = place.app.get_key_display(Binding(key, "", ""))
    if shown == key:
        shown = key_to_character(key) or key
    if (here := active.get(key)) is not None:
        return "" if here.enabled else place.why_not(here.binding.action.partition("(")[0])
    idle = f"{shown} does nothing here"
    other = key.swapcase()
    if len(key) == 1 and other != key and other in active and active[other].enabled:
        return f"{idle}: {other} is {active[other].binding.description}."
    for widget in place.query("#panes *"):
        if (binding := _bound(widget, key)) is not None and widget.can_focus:
            return f"{shown} is {binding.description} in another pane: tab goes there."
    for number, name, binding in _elsewhere(place, key):
        return f"{idle}: it is {binding.description} in {number} {name}."
    return f"{idle}. {EVERY_KEY}"


def _bound(node: DOMNode, key: str) -> Binding | None:
    """A widget's own binding of a key; one that only moves about in it is none."""
    bindings = node._bindings.key_to_bindings.get(key, [])
    return next((binding for binding in bindings if binding.id and binding.description), None)


def _elsewhere(place: "Place", key: str) -> Iterator[tuple[int, str, Binding]]:
    """The other places that have the key: their number, their name, and its binding."""
    from carrel.tui.screens.all import PLACE_SCREENS

    keymap = place.app._keymap
    for number, (name, title) in enumerate(PLACES.items(), 1):
        for binding in vars(PLACE_SCREENS[name])["BINDINGS"]:
            keys = keymap.get(binding.id or "", binding.key).split(",")
            if key in keys and not isinstance(place, PLACE_SCREENS[name]):
                yield number, title, binding
