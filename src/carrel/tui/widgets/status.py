"""The status line: what is going on, and how to stop it."""

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget


class StatusLine(Widget):
    """One line: what is happening on the left, the way to stop it on the right."""

    DEFAULT_CSS = """
    StatusLine { height: 1; padding: 0 1; }
    """

    connection: reactive[Content] = reactive(Content(""))
    """The state of the connection; stands first."""
    doing: reactive[Content] = reactive(Content(""))
    """The running task; stands before the notice."""
    notice: reactive[Content] = reactive(Content(""))
    """The last short word of the program, until it goes."""
    work: reactive[str] = reactive("")
    """Everything that runs, where it is several things; stands where there is no notice."""
    stop: reactive[bool] = reactive(False)
    """Whether what is going on can be stopped."""

    def render(self) -> RenderResult:
        right = Content.assemble(("■ Stop", "$failed"), ("  esc esc", "$muted"))
        right = right if self.stop else Content("")
        room = self.content_size.width - right.cell_length
        work = Content.styled(f"◐ {self.work}", "$muted") if self.work else Content("")
        parts = [part for part in (self.connection, self.doing or self.notice or work) if part]
        left = Content(" · ").join(parts).truncate(max(room - 1, 0), ellipsis=True)
        return left.pad_right(max(room - left.cell_length, 0)) + right
