"""The footer: at most eight keys, generated from the live bindings."""

from textual import events
from textual.app import RenderResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from carrel.tui.terminal.keys import has_text_field, live_bindings

MAX_KEYS = 8
WIDE = 100
"""Window width in columns from which keys are spaced wider."""
HELP = "app.help"
"""Id of the binding that is always last."""
SCREENS = Binding("alt+1", "", "Screens", key_display="alt+1–6")
"""Stands for the keys that open a screen from a text field, where a digit is typed."""


class KeyBar(Widget):
    """One line of keys and verbs; a click presses the key."""

    DEFAULT_CSS = "KeyBar { height: 1; padding: 0 1; color: $muted; }"

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._on_screen_change)

    def _on_screen_change(self, _screen: Screen[object]) -> None:
        self.refresh()

    def render(self) -> RenderResult:
        shown: list[Binding] = []
        last: list[Binding] = []
        seen: set[str | None] = set()
        # A key that the screen overrides keeps the screen's position.
        own = [each.id for each in Binding.make_bindings(type(self.screen).BINDINGS)]
        actives = live_bindings(self.screen)
        for active in sorted(actives, key=lambda one: _place(own, one.binding.id)):
            binding = active.binding
            # A disabled key stays, and explains itself when pressed.
            if binding.show and binding.id not in seen:
                seen.add(binding.id)
                (last if binding.id == HELP else shown).append(binding)
        if has_text_field(self.screen) and any(one.binding.key == SCREENS.key for one in actives):
            shown.insert(sum(binding.id not in own for binding in shown), SCREENS)
        parts: list[Content] = []
        width = 0
        gap = 3 if self.size.width >= WIDE else 2
        reserved = sum(self._part(binding).cell_length + gap for binding in last)
        for binding in [*shown[: MAX_KEYS - len(last)], *last]:
            part = self._part(binding)
            reserved -= part.cell_length + gap if binding in last else 0
            if width + part.cell_length + reserved > self.content_size.width:
                continue
            width += part.cell_length + gap
            parts.append(part)
        return Content(" " * gap).join(parts)

    def _part(self, binding: Binding) -> Content:
        key = self.app.get_key_display(binding)
        pressed = Style.from_meta({"key": binding.key})
        return Content.assemble((key, "bold $foreground"), (f" {binding.description}", "")).stylize(
            pressed
        )

    def on_click(self, event: events.Click) -> None:
        key = event.style.meta.get("key")
        if isinstance(key, str):
            self.app.simulate_key(key)


def _place(ids: list[str | None], id: str | None) -> int:
    return ids.index(id) if id in ids else -1
