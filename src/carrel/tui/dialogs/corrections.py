"""The words of a document with their pictures, corrected in place."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.widgets import Input

from carrel.store.core.problem import ProblemError
from carrel.store.documents.corrections import ReadWord, doubtful_words, page_words
from carrel.store.documents.formatting import WordRow, word_row, words_title
from carrel.store.documents.marks import TextMark
from carrel.store.documents.service import DocumentsService
from carrel.store.documents.state import DocumentState
from carrel.tui.dialogs.core.dialog import Dialog, hint
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.fields import Field
from carrel.tui.widgets.pages.picture import PagePicture
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable


class Corrections(Dialog[None]):
    """A list of words, below it the picture of the one under the cursor, and a field to correct it.

    Lists the doubtful words of the document, or `every` word of its current page. A word is saved
    as the field is left in any way: no input is lost.
    """

    DEFAULT_CSS = """
    Corrections .dialog { width: 110; height: 90%; }
    Corrections VirtualTable { border: none; height: 1fr; }
    Corrections PagePicture { height: 25%; max-height: 12; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False, id="corrections.close"),
        Binding("down", "move(1)", "Down a word", show=False, priority=True, id="corrections.next"),
        Binding("up", "move(-1)", "Up a word", show=False, priority=True,
                id="corrections.before"),
        Binding("pagedown", "screenful(1)", "Page down", show=False, priority=True,
                id="corrections.screen_down"),
        Binding("pageup", "screenful(-1)", "Page up", show=False, priority=True,
                id="corrections.screen_up"),
        Binding("alt+a", "every", "All words of the page", show=False, id="corrections.every"),
    ]  # fmt: skip
    _table = query_one(VirtualTable)

    def __init__(
        self,
        documents: DocumentsService,
        correct: Callable[[TextMark, str], object],
        *,
        every: bool,
    ) -> None:
        super().__init__("Words")
        self._every = every
        self._documents = documents
        self._correct = correct
        self._words: tuple[ReadWord, ...] = ()
        self._edited: ReadWord | None = None

    def compose_content(self) -> ComposeResult:
        yield VirtualTable(
            Column("Read", least=12),
            Column("Corrected", least=12),
            Column("Page", 5, rank=2, right=True),
            Column("Sure", 6, rank=1, right=True),
            classes="",
        )
        yield PagePicture(classes="")
        yield Field(placeholder="as read")
        yield hint(
            "enter: save, next word · alt+a: all words · clear the field to undo · esc closes"
        )

    def on_mount(self) -> None:
        self.follow(self._documents.slice, self._show)
        self.query_one(Field).focus()

    def _show(self, state: DocumentState) -> None:
        if self._every:
            self._words = page_words(state.page, state.corrections)
        else:
            self._words = doubtful_words(state.pages, state.corrections)
        title = words_title(self._words, state.current if self._every else None)
        self.query_one(".dialog").border_title = labels.title(title)
        self._table.show([_row(word_row(word)) for word in self._words])
        if self._edited is None:
            self._edit()

    def _word(self) -> ReadWord | None:
        """Return the word under the cursor."""
        key = self._table.key
        return next((word for word in self._words if word_row(word).id == key), None)

    def _edit(self) -> None:
        """Put the word under the cursor into the field, and show its picture."""
        self._edited = word = self._word()
        if word is None:
            return
        field = self.query_one(Field)
        field.value = word.mark.text if word.corrected is None else word.corrected
        field.action_select_all()
        self.call_after_refresh(self._draw, word)

    def _save(self) -> None:
        """Save the word in the field if it was changed."""
        word, typed = self._edited, self.query_one(Field).value.strip()
        before = None if word is None else word.corrected or word.mark.text
        if word is None or typed == before:
            return
        self._correct(word.mark, typed)
        fixed = replace(word, corrected=None if typed in ("", word.mark.text) else typed)
        self._words = tuple(fixed if each.mark == word.mark else each for each in self._words)

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        event.stop()
        moved, edited = self._word(), self._edited
        if moved is not None and edited is not None and moved.mark != edited.mark:
            self._save()
            self._edit()

    def action_move(self, by: int) -> None:
        self._save()
        ids = [word_row(word).id for word in self._words]
        at = ids.index(self._table.key) if self._table.key in ids else 0
        self._table.point_at(ids[min(max(at + by, 0), len(ids) - 1)])
        self._edit()

    def action_screenful(self, by: int) -> None:
        self.action_move(by * max(self._table.size.height - 2, 1))

    def action_every(self) -> None:
        self._save()
        self._every = not self._every
        self._edited = None
        self._show(self._documents.slice.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_move(1)

    def action_close(self) -> None:
        self._save()
        self.dismiss(None)

    def on_page_picture_resized(self, event: PagePicture.Resized) -> None:
        event.stop()
        if self._edited is not None:
            self._draw(self._edited)

    @work(exclusive=True, group="cut", exit_on_error=False)
    async def _draw(self, word: ReadWord) -> None:
        picture = self.query_one(PagePicture)
        columns = picture.columns
        try:
            png = await self._documents.word_picture(word.mark, picture.pixels(columns)).linked()
        except ProblemError:
            return
        if word is self._edited:
            picture.display = png is not None
            if png is not None:
                await picture.show(png, min(columns, picture.columns_of_whole(png)))


def _row(row: WordRow) -> Row:
    corrected = labels.line(row.corrected, "bold $accent")
    cells = (labels.line(row.word), corrected, labels.muted(row.page), labels.muted(row.sure))
    return Row(row.id, cells)
