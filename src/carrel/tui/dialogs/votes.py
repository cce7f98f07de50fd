"""The votes of all comparisons, counted per version."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content

from carrel.store.comparison.votes import HEADINGS, Votes
from carrel.tui.dialogs.core.dialog import Dialog, hint
from carrel.tui.theme import labels
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable

_NONE = "No answers were judged yet: v votes, where chats stand side by side."


class VotesDialog(Dialog[None]):
    """A row for each version."""

    DEFAULT_CSS = """
    VotesDialog .dialog { width: 76; height: auto; max-height: 86%; padding: 0 1; }
    VotesDialog VirtualTable { height: 12; border: none; }
    """

    def __init__(self, votes: Sequence[Votes]) -> None:
        super().__init__("Votes of all comparisons")
        self._votes = votes

    def inside(self) -> ComposeResult:
        name, *figures = HEADINGS
        yield VirtualTable(
            Column(name, least=20), *(Column(one, 9, right=True) for one in figures), classes=""
        )
        yield hint("esc closes")

    def on_mount(self) -> None:
        table = self.query_one(VirtualTable)
        table.show([_row(one) for one in self._votes])
        table.say(Content.styled(_NONE, "$muted"))
        table.focus()


def _row(votes: Votes) -> Row:
    name, *figures = votes.cells
    return Row(votes.answerer, (labels.line(name), *map(Content, figures)))
