"""The status line: what is going on, and how to stop it."""

from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget


class StatusLine(Widget):
    """What is happening on the left, the way to stop it on the right.

    One line, or up to three where the connection has more to say.
    """

    DEFAULT_CSS = """
    StatusLine { height: auto; max-height: 3; padding: 0 1; }
    """

    connection: reactive[Content] = reactive(Content(""), layout=True)
    """The state of the connection; stands first."""
    doing: reactive[Content] = reactive(Content(""))
    """The running task; stands before the notice."""
    notice: reactive[Content] = reactive(Content(""))
    """The last short word of the program, until it goes."""
    work: reactive[str] = reactive("")
    """Everything that runs, where it is several things; stands where there is no notice."""
    stop: reactive[bool] = reactive(False)
    """Whether what is going on can be stopped."""

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
