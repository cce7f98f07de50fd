"""Names of keys, and explanations of keys without effect with the nearest key that has one."""

import string
from collections.abc import Callable, Iterable
from typing import Any

from textual.binding import ActiveBinding, Binding
from textual.keys import key_to_character
from textual.screen import Screen
from textual.widgets import Input, TextArea

from carrel.tui.terminal.textual_private import bindings_of, key_name, keys_of

EVERY_KEY = "F1 shows every key."

KEY_NAMES = {
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
    "slash": "/",
    "backslash": "\\",
    "percent_sign": "%",
    "percent": "%",
    "colon": ":",
    "question_mark": "?",
    "escape": "esc",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "pageup": "page up",
    "pagedown": "page down",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}
"""Displayed names of keys that differ from their binding names."""
_TYPED = {key_name(character) for character in string.punctuation}


def has_text_field(screen: Screen[Any]) -> bool:
    """Return whether the focus of a screen is in a text field, which takes every character."""
    return isinstance(screen.focused, Input | TextArea)


def live_bindings(screen: Screen[Any]) -> list[ActiveBinding]:
    """Return the bindings that a key reaches now."""
    active = screen.active_bindings
    # Textual leaves out letters and digits that a field takes, but not all other characters.
    typed = _TYPED if has_text_field(screen) else ()
    return [one for key, one in active.items() if key not in typed or one.node is screen.focused]


def explain_key(
    screen: Screen[None],
    key: str,
    why_not: Callable[[str], str],
    elsewhere: Iterable[tuple[str, Binding]],
) -> str:
    """Return the explanation of a key that no binding handled, or an empty string.

    Args:
        screen: Where the key was pressed.
        key: The key, as Textual names it.
        why_not: Returns the reason why an action of the screen is disabled.
        elsewhere: The bindings of the other screens, each with the screen's name.
    """
    active = screen.active_bindings
    shown = screen.app.get_key_display(Binding(key, "", ""))
    if shown == key:
        shown = key_to_character(key) or key
    if (here := active.get(key)) is not None:
        return "" if here.enabled else why_not(here.binding.action.partition("(")[0])
    idle = f"Nothing on {shown} here"
    other = key.swapcase()
    if len(key) == 1 and other != key and other in active and active[other].enabled:
        return f"{idle}. {other}: {active[other].binding.description}"
    for widget in screen.query("#panes *"):
        # A key without a description only moves within its widget.
        named = (each for each in bindings_of(widget, key) if each.id and each.description)
        if widget.can_focus and (binding := next(named, None)) is not None:
            return f"{idle}. tab: the pane where {shown} is {binding.description}"
    for place, binding in elsewhere:
        if key in keys_of(screen.app, binding):
            return f"{idle}. In {place}: {binding.description}"
    return f"{idle}. {EVERY_KEY}"
