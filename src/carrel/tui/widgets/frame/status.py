"""The status line: the running task, and the way to stop it."""

from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget


class StatusLine(Widget):
    """The running task on the left, the way to stop it on the right.

    One line, or up to three for a long connection state.
    """

    DEFAULT_CSS = """
    StatusLine { height: auto; max-height: 3; padding: 0 1; }
    """

    connection: reactive[Content] = reactive(Content(""), layout=True)
    """The state of the connection, at the beginning."""
    doing: reactive[Content] = reactive(Content(""))
    """The running task, before the notice."""
    notice: reactive[Content] = reactive(Content(""))
    """The last notice, until it expires."""
    work: reactive[str] = reactive("")
    """All running tasks if there are several; hidden behind a notice."""
    stop: reactive[bool] = reactive(False)
    """Whether the running task can be stopped."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(len(self._connection_lines(width)), 1)

    def _connection_lines(self, width: int) -> list[Content]:
        return self.connection.wrap(width) if self.connection and width else []

    def render(self) -> RenderResult:
        width = self.content_size.width
        right = Content.assemble(("■ Stop", "$failed"), ("  esc esc", "$muted"))
        right = right if self.stop else Content("")
        work = Content.styled(f"◐ {self.work}", "$muted") if self.work else Content("")
        *lines, connection = self._connection_lines(width) or [Content("")]
        parts = [part for part in (connection, self.doing or self.notice or work) if part]
        room = width - right.cell_length
        left = Content(" · ").join(parts).truncate(max(room - 1, 0), ellipsis=True)
        last = left.pad_right(max(room - left.cell_length, 0)) + right
        return Content("\n").join([*lines, last])
