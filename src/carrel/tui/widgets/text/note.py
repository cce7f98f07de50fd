"""A sentence in the middle of a pane."""

from textual.content import Content
from textual.widget import Widget


class Note(Widget):
    """A sentence in the middle of a pane."""

    DEFAULT_CSS = """
    Note { height: 1fr; content-align: center middle; text-align: center; padding: 1 2; }
    """

    def __init__(self, content: Content) -> None:
        super().__init__()
        self._content = content

    def render(self) -> Content:
        return self._content
