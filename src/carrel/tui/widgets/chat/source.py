"""A source beside the chat: its page with the passage framed, and the passage's text."""

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from carrel.store.chat.formatting import source_title
from carrel.store.chat.sources import Sources
from carrel.store.core.formatting import one_line
from carrel.store.core.problem import ProblemError
from carrel.tui.theme import labels
from carrel.tui.widgets.pages.picture import PagePicture, PictureFrame
from carrel.tui.widgets.text.pane import TextPane
from carrel.wire.generation.completions import Passage
from carrel.wire.libraries import mark_matches


class SourcePane(Vertical):
    """One source; folded while empty."""

    DEFAULT_CSS = """
    SourcePane #quote { height: auto; max-height: 50%; margin-top: 1; }
    SourcePane #words { height: auto; }
    """

    def __init__(self, sources: Sources, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="pane details -folded")
        self._sources = sources
        self._passage: Passage | None = None

    def compose(self) -> ComposeResult:
        yield PagePicture()
        with TextPane(id="quote"):
            yield Static(id="words")

    @property
    def passage(self) -> Passage | None:
        """The shown passage, or None."""
        return self._passage

    def show(self, passage: Passage | None, chat: str = "") -> None:
        """Show a passage of a chat, or fold the pane with None."""
        if passage == self._passage:
            return
        self._passage = passage
        self.set_class(passage is None, "-folded")
        if passage is None:
            return
        self.border_title = labels.title(labels.trail(chat, source_title(passage)))
        self.query_one(PagePicture).display = True
        self._show_passage(passage)
        self.call_after_refresh(self._draw, passage)

    def _show_passage(self, passage: Passage, *more: Content) -> None:
        words = labels.highlight(one_line(mark_matches(passage.snippet, passage.matches)))
        how = labels.muted("enter page · ] next · esc close")
        quote = Content.assemble("“", words, "”")
        self.query_one("#words", Static).update(Content("\n\n").join([quote, *more, how]))

    def on_page_picture_resized(self, event: PagePicture.Resized) -> None:
        event.stop()
        if self._passage is not None:
            self._draw(self._passage)

    @work(exclusive=True, group="source", exit_on_error=False)
    async def _draw(self, passage: Passage) -> None:
        picture = self.query_one(PagePicture)
        # The quote is laid out first; the picture takes the remaining height.
        quote = self.query_one("#quote")
        rows = max(self.content_size.height - quote.outer_size.height - 1, 4)
        columns = picture.columns
        # A cell is about twice as high as wide.
        try:
            excerpt = await self._sources.excerpt(
                passage, picture.pixels(columns), 2 * rows / columns
            )
        except ProblemError as error:
            if passage == self._passage:
                picture.display = False
                self._show_passage(passage, labels.line(error.problem.title, "$muted"))
            return
        if passage != self._passage:
            return
        accent = self.app.theme_variables["accent"]
        frames = [PictureFrame(excerpt.box, accent, marked=True)] if excerpt.box else []
        await picture.show(excerpt.png, columns, frames)
        picture.styles.height = min(picture.rows_of(excerpt.png, columns), rows)
