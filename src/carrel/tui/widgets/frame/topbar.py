"""The top bar: the six screens on the left; profile, connection and model on the right."""

from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

PLACES = {
    "files": "Files",
    "libraries": "Libraries",
    "document": "Document",
    "agents": "Agents",
    "chat": "Chat",
    "activity": "Activity",
}
"""The screens by mode name, in the order of their keys 1 to 6."""


class TopBar(Widget):
    """The top bar: the current screen, and the service."""

    DEFAULT_CSS = "TopBar { height: 1; padding: 0 1; }"

    header: reactive[tuple[Content, ...]] = reactive(())
    """The forms of the right side, longest first; the first that fits is shown."""
    busy: reactive[str] = reactive("")
    """The badge beside Activity: `↑2` while something runs, `✕1` for failures."""

    answering: reactive[bool] = reactive(False)
    """Whether an answer is being written, as shown beside Chat."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place

    def render(self) -> RenderResult:
        gap = "  " if self.size.width > 90 else " "
        left = Content(gap).join(self._tab(n, place) for n, place in enumerate(PLACES, 1))
        room = self.content_size.width - left.cell_length
        for header in self.header:
            if header.cell_length + 2 <= room:
                return left + header.pad_left(room - header.cell_length)
        return left.truncate(self.content_size.width)

    def _tab(self, number: int, place: str) -> Content:
        go = Style.from_meta({"place": place})
        words = PLACES[place]
        if place == self.place:
            return Content.styled(f"[{number} {words}]", "bold $accent").stylize(go)
        if place == "chat" and self.answering:
            return Content.assemble((f"{number} ", "$muted"), words, (" ◐", "$busy")).stylize(go)
        tab = Content.assemble((f"{number} ", "$muted"), words)
        if place == "activity" and self.busy:
            for mark in self.busy.split():
                role = "$failed" if mark.startswith("✕") else "$busy"
                tab += Content.styled(f" {mark}", role)
        return tab.stylize(go)

    def on_click(self, event: events.Click) -> None:
        if isinstance(place := event.style.meta.get("place"), str):
            self.app.run_worker(self.app.run_action(f"go('{place}')"), exit_on_error=False)
