"""The details of a file below its preview."""

from collections.abc import Sequence

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from carrel.store.core.formatting import shorten
from carrel.store.core.problem import ProblemError
from carrel.store.previews import PreviewService, PreviewState, preview_lines
from carrel.tui.theme import labels
from carrel.tui.widgets.pages.picture import PagePicture

LEGIBLE = 40
"""Least width in columns at which a whole page is legible; below it, only the upper part is
shown."""


class FileDetails(Vertical):
    """The preview of a file, then names and values."""

    DEFAULT_CSS = """
    FileDetails #text { height: 1fr; padding: 0 1; }
    FileDetails PagePicture { height: 1fr; }
    FileDetails #facts { height: auto; max-height: 60%; padding: 1 1 0 1; }
    """

    def __init__(self, previews: PreviewService) -> None:
        super().__init__(classes="pane details")
        self._previews = previews
        self._shown = PreviewState()
        self._filename = ""
        self._said: Content | None = None
        self._facts = Content("")

    def compose(self) -> ComposeResult:
        yield PagePicture(id="picture")
        with VerticalScroll(id="text"):
            yield Static()
        yield Static(id="facts")

    def on_mount(self) -> None:
        self.border_title = labels.title("Details")
        self.query_one("#text").display = False

    def show_file(self, name: str | None, parts: Sequence[Content]) -> None:
        """Show the details of a file, or nothing for None."""
        facts = Content("\n").join(parts)
        if not facts.is_same(self._facts):  # every change lays out everything again
            self._facts = facts
            self.query_one("#facts", Static).update(facts)
        if name is None:
            self.border_title = labels.title("Details")

    def show_preview(self, name: str, state: PreviewState) -> None:
        """Show the preview of the named file."""
        before, self._shown, self._filename = self._shown, state, name
        self._show_title()
        texts = state.kind in ("text", "lines")
        picture = self.query_one(PagePicture)
        self.query_one("#text").display = texts
        picture.display = not texts
        if texts:
            self.query_one("#text Static", Static).update(_text(state))
        elif state.path is None or state.path != before.path:
            self._draw(state)

    def _show_title(self) -> None:
        count = self._shown.page_count or 0
        pages = f"{count:,} pages" if count > 1 else ""
        room = self.size.width - 4 - (len(pages) + 3 if pages else 0)
        self.border_title = labels.title(shorten(self._filename, room) or "Details", pages)

    def on_resize(self) -> None:
        self._show_title()

    def on_page_picture_resized(self, event: PagePicture.Resized) -> None:
        event.stop()
        if self._shown.path is not None:
            self._draw(self._shown)

    @work(exclusive=True, exit_on_error=False)
    async def _draw(self, state: PreviewState) -> None:
        picture = self.query_one(PagePicture)
        if state.path is None:
            words = str(state.error) if state.error else state.note
            said = labels.line("Loading …" if state.loading else words, "$muted")
            if said != self._said:
                self._said = said
                await picture.explain(said)
            return
        columns = picture.columns
        try:
            png = await self._previews.picture(picture.pixels(columns))
        except ProblemError:
            return
        if state.file_id == self._shown.file_id:
            self._said = None
            whole = picture.columns_of_whole(png)
            await picture.show(png, min(columns, whole) if whole >= LEGIBLE else columns)


def _text(state: PreviewState) -> Content:
    lines = preview_lines(state)
    width = max((len(number) for number, _ in lines), default=0)
    rows = [
        Content.assemble((f"{number:>{width}}  " if width else "", "$muted"), labels.line(line))
        for number, line in lines
    ]
    return Content("\n").join(rows)
