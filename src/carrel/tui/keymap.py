"""All bindings by id, and the user's own keys for them."""

import importlib
import pkgutil
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import product

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys
from textual.screen import Screen

import carrel.tui
from carrel.config.profiles import read_text
from carrel.config.settings import Mistake, nearest, settings_file
from carrel.config.toml_edit import line_of
from carrel.tui.terminal.textual_private import key_name

MODIFIERS = {"ctrl", "alt", "shift", "super", "meta", "hyper"}
_NAMES = {key.value for key in Keys}


def own_bindings() -> dict[str, tuple[set[type], Binding]]:
    """Return every binding of the app by id, with the classes that have it."""
    for module in pkgutil.walk_packages(carrel.tui.__path__, f"{carrel.tui.__name__}."):
        importlib.import_module(module.name)
    found: dict[str, tuple[set[type], Binding]] = {}
    for owner in owners():
        for binding in vars(owner).get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id:
                found.setdefault(binding.id, (set(), binding))[0].add(owner)
    return found


def owners() -> set[type]:
    """Return every imported class of the app that may have bindings."""
    own = f"{carrel.tui.__name__}."
    return {kind for kind in _subclasses(DOMNode) if kind.__module__.startswith(own)}


def _subclasses(kind: type) -> Iterator[type]:
    subclasses: list[type] = kind.__subclasses__()
    for below in subclasses:
        yield below
        yield from _subclasses(below)


def usable_keys(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return the valid part of a keymap; the other bindings keep their keys."""
    good = dict(keymap)
    # A key freed by an entry is taken again if that entry is invalid.
    while wrong := {binding_id for binding_id, _ in _mistakes(good)}:
        good = {binding_id: keys for binding_id, keys in good.items() if binding_id not in wrong}
    return good


def mistakes(keymap: Mapping[str, str]) -> list[Mistake]:
    """Return the mistakes of a keymap: unknown ids, unknown keys, and keys used twice."""
    if not keymap:
        return []
    text = read_text(settings_file())
    return [
        Mistake(
            line_of(text, "keymap", binding_id) or line_of(text, "keymap", *binding_id.split(".")),
            words,
        )
        for binding_id, words in _mistakes(keymap)
    ]


def _mistakes(keymap: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    known = own_bindings()
    for binding_id, keys in keymap.items():
        if binding_id not in known:
            words = f"there is no binding “{binding_id}”.{nearest(binding_id, set(known))}"
            yield binding_id, words
            continue
        having, binding = known[binding_id]
        for key in _keys(keys):
            if not _is_key(key):
                yield binding_id, f"“{key}” is not a key. Keys are like u, U, ctrl+u, alt+1, f2, ?"
            elif _normalise(key) not in map(_normalise, _keys(binding.key)):
                yield from (
                    (binding_id, f"{key} is the key of “{other}” already. Choose a free one, or "
                     f"give “{other}” another key, too.")
                    for other, (theirs, there) in known.items()
                    if other != binding_id
                    and any(_can_clash(mine, their) for mine, their in product(having, theirs))
                    and _normalise(key) in map(_normalise, _keys(keymap.get(other, there.key)))
                )  # fmt: skip


def _can_clash(one: type, other: type) -> bool:
    """Return whether two bindings can be active at once, so that they need different keys."""
    if issubclass(one, other) or issubclass(other, one):
        return True
    if issubclass(one, App) or issubclass(other, App):
        return True
    # A widget may be on any screen; two screens, or two widgets, hide each other.
    return issubclass(one, Screen) is not issubclass(other, Screen)


def _keys(keys: str) -> list[str]:
    return [key.strip() for key in keys.split(",")] if keys != "," else [keys]


def _normalise(key: str) -> str:
    """Return the canonical name of a key: `question_mark` for `?`."""
    return key_name(key) if len(key) == 1 else key


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+") if key not in ("+", "") else [key]
    if not set(modifiers) <= MODIFIERS or not last:
        return False
    return len(last) == 1 or last in _NAMES or _names_a_character(last)


def _names_a_character(name: str) -> bool:
    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return name in ("minus", "slash")
    return True
