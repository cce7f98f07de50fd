"""3 Document: a page as it looks beside what was read on it."""

import time
from typing import ClassVar

from rich.console import RenderableType
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from carrel.store.documents import DocumentState
from carrel.store.selectors.documents import PageMark, confidence, page_marks, progress, title
from carrel.tui import labels
from carrel.tui.clipboard import copy
from carrel.tui.dialogs.ask import Choose, Thing
from carrel.tui.screens.place import Place, Way, empty
from carrel.tui.widgets.picture import PagePicture
from carrel.tui.widgets.prose import Prose
from carrel.wire.ocr import Page

NOTHING_OPEN = empty(
    "No document is open.",
    Way("1", "Choose a file, then enter"),
    Way("2", "Choose a document of a library"),
)
ZOOMS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
ROLES = {"read": "", "reading": "$busy", "waiting": "$muted", "current": "bold $accent"}


class DocumentPlace(Place):
    """The open document: the page's picture left, its text right."""

    PLACE: ClassVar[str] = "document"
    CSS_PATH = "document.tcss"
    HELP = "A page as it looks, beside the text that was read on it."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,left", "go(-1)", "Page", key_display="h l", id="document.page_before"),
        Binding("l,right", "go(1)", "Next page", show=False, id="document.page_after"),
        Binding("H", "go_to_end(-1)", "First page", show=False, id="document.page_first"),
        Binding("L", "go_to_end(1)", "Last page", show=False, id="document.page_last"),
        Binding("plus,equals_sign", "zoom(1)", "Zoom", key_display="+ -", id="document.zoom_in"),
        Binding("minus", "zoom(-1)", "Smaller", show=False, id="document.zoom_out"),
        Binding("v", "raw", "Rendered or raw", id="document.raw"),
        Binding("r", "read", "Read on", show=False, id="document.read"),
        Binding("y", "copy", "Copy…", id="document.copy"),
    ]

    def panes(self) -> ComposeResult:
        with Vertical(id="left", classes="column -current"):
            yield PagePicture(id="picture")
            yield Static(id="strip")
        with VerticalScroll(id="text", classes="pane"):
            yield Static(id="page")

    @property
    def picture(self) -> PagePicture:
        return self.query_one(PagePicture)

    def on_mount(self) -> None:
        self._raw = False
        self._zoom = ZOOMS.index(1.0)
        self._drawn: tuple[object, ...] = ()
        self._text: tuple[object, ...] = ()
        self._ticker: Timer | None = None
        self.follow(self.store.documents.slice, self._show)
        self.watch(self.app, "theme", self._redraw_text, init=False)
        self.picture.focus()

    # Showing

    def _show(self, state: DocumentState) -> None:
        self.picture.border_title = labels.title(self._title(state))
        self.query_one("#strip", Static).update(
            page_strip(page_marks(state), state.current, self.query_one("#strip").size.width)
        )
        self._show_text(state)
        self._show_progress()
        self._draw_picture(state)
        if state.reading and self._ticker is None:
            self._ticker = self.set_interval(1, self._show_progress)
        elif not state.reading and self._ticker is not None:
            self._ticker.stop()
            self._ticker = None

    def _title(self, state: DocumentState) -> str:
        words = title(state)
        if state.source is not None and ZOOMS[self._zoom] != 1:
            words += f" · {ZOOMS[self._zoom]:.0%}".replace("%", " %")
        width = self.picture.size.width - 4
        surplus = len(words) - width
        if state.source is None or width <= 0 or surplus <= 0:
            return words
        # A long name is cut in its middle: the page stays, and so does the name's ending.
        name = words.partition(" · page ")[0]
        kept = max(len(name) - surplus - 1, 8)
        short = f"{name[: kept - kept // 2]}…{name[len(name) - kept // 2 :]}"
        return words.replace(name, short, 1)

    def _show_progress(self) -> None:
        state = self.store.documents.slice.value
        self.status.doing = Content(progress(state, time.time()))
        self.status.stop = self.can_stop()

    def _redraw_text(self) -> None:
        self._text = ()
        self._show_text(self.store.documents.slice.value)

    def _show_text(self, state: DocumentState) -> None:
        page = state.pages[state.current] if state.current < len(state.pages) else None
        shown = (state.source, state.current, page, state.error, state.reading, self._raw)
        if shown == self._text:
            return
        moved = self._text[:2] != shown[:2]
        self._text = shown
        pane = self.query_one("#text")
        sure = confidence(page) if page is not None else ""
        pane.border_title = labels.title("Text", "raw" if self._raw else "rendered", sure)
        self.query_one("#page", Static).update(self._page_text(state, page))
        if moved:
            pane.scroll_home(animate=False)

    def _page_text(self, state: DocumentState, page: Page | None) -> RenderableType | Content:
        if page is not None and page.markdown.strip():
            if self._raw:
                return labels.block(page.markdown)
            return Prose(page.markdown, dark=self.app.current_theme.dark)
        if page is not None:
            return Content.styled("Nothing was found on this page.", "$muted")
        if state.error is not None:
            return Content("\n").join(self.explain(state.error))
        if state.source is None:
            return Content("")
        return Content.styled(
            "Reading this page …" if state.reading else "This page is not read: r reads on.",
            "$muted",
        )

    @work(exclusive=True, group="picture", exit_on_error=False)
    async def _draw_picture(self, state: DocumentState) -> None:
        picture = self.picture
        picture.zoom = ZOOMS[self._zoom]
        wanted = (state.picture_path, state.current, picture.wanted_width())
        if wanted == self._drawn:
            return None
        self._drawn = ()
        if state.source is None:
            return await picture.explain(Content("\n").join(NOTHING_OPEN))
        if state.no_picture is not None:
            return await picture.explain(labels.block(state.no_picture, "$muted"))
        if state.picture_path is None or state.page_count is None:
            words = "Loading …" if state.loading else ""
            return await picture.explain(Content.styled(words, "$muted"))
        handle = self.store.documents.picture(state.current, picture.wanted_width())
        png = await handle
        if png is not None:
            await picture.show(png)
            self._drawn = wanted
        elif handle.error is not None:
            await picture.explain(Content("\n").join(self.explain(handle.error)))
        return None

    def on_page_picture_resized(self, event: PagePicture.Resized) -> None:
        self._show(self.store.documents.slice.value)

    # Acting

    def action_go(self, step: int) -> None:
        state = self.store.documents.slice.value
        self.store.documents.go(state.current + step)
        self.picture.scroll_home(animate=False)

    def action_go_to_end(self, end: int) -> None:
        state = self.store.documents.slice.value
        self.store.documents.go(0 if end < 0 else (state.page_count or 1) - 1)

    def action_zoom(self, step: int) -> None:
        self._zoom = max(0, min(self._zoom + step, len(ZOOMS) - 1))
        self._show(self.store.documents.slice.value)

    def action_raw(self) -> None:
        self._raw = not self._raw
        self._show_text(self.store.documents.slice.value)

    def action_read(self) -> None:
        state = self.store.documents.slice.value
        if state.source is not None and not state.reading and not state.loading:
            self.do(self.store.documents.read())

    def action_copy(self) -> None:
        state = self.store.documents.slice.value
        texts = {
            "page": state.text or "",
            "all": "\n\n".join(page.markdown for page in state.pages if page is not None),
            "name": state.source.name if state.source else "",
        }

        def chosen(what: str | None) -> None:
            if what:
                ok = copy(self.app, texts[what])
                self.notice("Copied." if ok else "Too long for the clipboard.", failed=not ok)

        things = [
            Thing("page", "Copy the text of this page"),
            Thing("all", "Copy the text of all pages read"),
            Thing("name", "Copy the name"),
        ]
        if state.source is not None:
            self.app.push_screen(Choose("Copy", things), chosen)

    def can_stop(self) -> bool:
        return self.store.documents.slice.value.reading

    def stop(self) -> None:
        self.store.documents.stop()
        self.notice("Stopped. What is read stays; r reads on.")


def page_strip(marks: tuple[PageMark, ...], current: int, width: int) -> Content:
    """The pages in one line, with the current one in view."""
    first = last = min(current, max(len(marks) - 1, 0))
    used = len(marks[first].text) if marks else 0
    while marks:
        after = last + 1 < len(marks) and used + len(marks[last + 1].text) + 1 <= width - 4
        if after:
            last += 1
            used += len(marks[last].text) + 1
        before = first > 0 and used + len(marks[first - 1].text) + 1 <= width - 4
        if before:
            first -= 1
            used += len(marks[first].text) + 1
        if not after and not before:
            break
    parts = [
        Content.styled(mark.text, ROLES.get("current" if mark.page == current else mark.state, ""))
        for mark in marks[first : last + 1]
    ]
    if first > 0:
        parts.insert(0, Content.styled("…", "$muted"))
    if last + 1 < len(marks):
        parts.append(Content.styled("…", "$muted"))
    return Content(" ").join(parts)
