"""The help, generated from the bindings in reach."""

from textual.content import Content
from textual.screen import Screen

from carrel.tui.terminal.keys import live_bindings
from carrel.tui.theme import labels

Key = tuple[str, str, str, bool]
"""The names of a key, its description, its binding id, and whether it has an effect now."""


RIGHT = " · muted: no effect now · right: names for “keymap”"
"""The end of the hint below these lines."""


def key_lines(about: str, groups: list[tuple[str, list[Key]]]) -> list[Content]:
    """Return the purpose of a screen, and every key that it has; those without effect now are
    muted."""
    lines = [Content(about)] if about else []
    for name, keys in groups:
        lines += [Content(""), Content.styled(name, "bold $accent")]
        for key, words, binding_id, enabled in keys:
            look = ("bold", "") if enabled else ("$muted", "$muted")
            left = Content.assemble((f"{key:>16}", look[0]), "  ", (words, look[1]))
            gap = " " * max(44 - left.cell_length, 2)
            lines.append(left + labels.muted(gap + binding_id))
    return lines


def keys_of(screen: Screen[object]) -> list[tuple[str, list[Key]]]:
    """Return the keys of a screen, each action once, grouped by origin."""
    groups: dict[str, dict[tuple[str, str, str, bool], list[str]]] = {}
    for active in live_bindings(screen):
        binding = active.binding
        if binding.id is None or binding.system:
            continue
        is_everywhere = binding.id.startswith("place.") or active.node is screen.app
        here = "Here" if active.node is screen else "In this pane"
        name = "Everywhere" if is_everywhere else here
        keys = groups.setdefault(name, {}).setdefault(
            (binding.action, binding.description, binding.id, active.enabled), []
        )
        keys.append(screen.app.get_key_display(binding))
    found = []
    for name in ("Here", "In this pane", "Everywhere"):
        keys_of_actions = groups.get(name, {}).items()
        rows = [(" ".join(dict.fromkeys(keys)), *action[1:]) for action, keys in keys_of_actions]
        if rows:
            found.append((name, rows))
    return found
