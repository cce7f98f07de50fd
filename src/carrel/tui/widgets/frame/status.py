"""The status line: the running task, and the way to stop it."""

from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from carrel.tui.theme import labels


class StatusLine(Widget):
    """The running task on the left, the way to stop it on the right.

    One line, or up to three for a long connection state.
    """

    DEFAULT_CSS = "StatusLine { height: auto; max-height: 3; padding: 0 1; }"

    connection: reactive[Content] = reactive(Content(""), layout=True)
    """The state of the connection, at the beginning."""
    doing: reactive[Content] = reactive(Content(""))
    """The running task of the screen."""
    notice: reactive[Content] = reactive(Content(""))
    """The last notice, until it expires; before the running task, which it may answer."""
    work: reactive[str] = reactive("")
    """All running tasks if there are several; hidden behind the others."""
    stop: reactive[bool] = reactive(False)
    """Whether the running task can be stopped."""
    armed: reactive[bool] = reactive(False)
    """Whether one more esc stops it."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(len(self._connection_lines(width)), 1)

    def _connection_lines(self, width: int) -> list[Content]:
        return self.connection.wrap(width) if self.connection and width else []

    def render(self) -> RenderResult:
        width = self.content_size.width
        keys = ("  esc again", "$failed") if self.armed else ("  esc esc", "$muted")
        right = Content.assemble(("■ Stop", "$failed"), keys)
        right = right if self.stop else Content("")
        work = labels.muted(f"◐ {self.work}") if self.work else Content("")
        *lines, connection = self._connection_lines(width) or [Content("")]
        doing = [part for part in (self.notice, self.doing) if part] or [work]
        parts = [part for part in (connection, *doing) if part]
        room = width - right.cell_length
        left = Content(" · ").join(parts).truncate(max(room - 1, 0), ellipsis=True)
        last = left.pad_right(max(room - left.cell_length, 0)) + right
        return Content("\n").join([*lines, last])
