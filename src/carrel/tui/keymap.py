"""Every binding by its id, and keys of one's own for them."""

import importlib
import pkgutil
import unicodedata
from collections.abc import Iterator, Mapping

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys

import carrel.tui
from carrel.settings import Mistake, nearest, read_settings
from carrel.tomltext import line_of

MODIFIERS = {"ctrl", "alt", "shift", "super", "meta", "hyper"}
_NAMES = {key.value for key in Keys}


def own_bindings() -> dict[str, tuple[type, Binding]]:
    """Every binding of ours by its id, with the class that has it."""
    for module in pkgutil.walk_packages(carrel.tui.__path__, f"{carrel.tui.__name__}."):
        importlib.import_module(module.name)
    return {
        binding.id: (owner, binding)
        for owner in owners()
        for binding in vars(owner).get("BINDINGS", ())
        if isinstance(binding, Binding) and binding.id
    }


def owners() -> set[type]:
    """Every class of ours that may have bindings, as far as it is imported."""
    own = f"{carrel.tui.__name__}."
    return {kind for kind in _below(DOMNode) if kind.__module__.startswith(own)}


def _below(kind: type) -> Iterator[type]:
    subclasses: list[type] = kind.__subclasses__()
    for below in subclasses:
        yield below
        yield from _below(below)


def mistakes(keymap: Mapping[str, str]) -> list[Mistake]:
    """What is wrong with a keymap: ids and keys that do not exist, and keys wanted twice."""
    if not keymap:
        return []
    known = own_bindings()
    text = read_settings()
    found: list[tuple[str, str]] = []
    for binding_id, keys in keymap.items():
        if binding_id not in known:
            words = f"there is no binding “{binding_id}”.{nearest(binding_id, set(known))}"
            found.append((binding_id, words))
            continue
        found += [
            (binding_id, f"“{key}” is not a key. Keys are like u, U, ctrl+u, alt+1, f2, ?")
            for key in _keys(keys)
            if not _is_key(key)
        ]
        owner = known[binding_id][0]
        found += [
            (binding_id, f"{key} is the key of “{other}” already")
            for key in _keys(keys)
            for other, (theirs, binding) in known.items()
            if other != binding_id
            and theirs is owner
            and key in _keys(keymap.get(other, binding.key))
        ]
    return [
        Mistake(
            line_of(text, "keymap", binding_id) or line_of(text, "keymap", *binding_id.split(".")),
            words,
        )
        for binding_id, words in found
    ]


def _keys(keys: str) -> list[str]:
    return [key.strip() for key in keys.split(",")] if keys != "," else [keys]


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
