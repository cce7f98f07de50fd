"""3 Document: a page's picture and its text, with one shared selection."""

import time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widget import Widget
from textual.widgets import Input, Static

from carrel.store import advice
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.formatting import one_line, shorten
from carrel.store.documents import formatting
from carrel.store.documents.blocks import Rect
from carrel.store.documents.boxes import block_at, missing_note, passages
from carrel.store.documents.formatting import UNCHOSEN, UNREAD
from carrel.store.documents.state import DocumentState
from carrel.tui.base.screen import MainScreen, start
from carrel.tui.flows import document, document_export
from carrel.tui.theme import labels
from carrel.tui.theme.empty import empty
from carrel.tui.widgets.inputs.filter import FilterLine
from carrel.tui.widgets.pages.picture import PagePicture
from carrel.tui.widgets.pages.strip import page_strip
from carrel.tui.widgets.pages.text import PageText
from carrel.tui.widgets.pages.view import PageView

NOTHING_OPEN = empty(
    "No document is open.",
    {"1": "Choose a file, then enter", "2": "Choose a document of a library"},
)
MOVES = "arrows show the rest"
_OF_A_DOCUMENT = (
    "go", "go_to_end", "step", "mark", "zoom", "fill", "find", "copy", "form", "options", "read",
    "save", "confidence", "correct", "page", "contents", "thumbnails",
)  # fmt: skip
FORMS = ("rendered", "raw", "changes", "schema")


class DocumentScreen(MainScreen):
    """The open document: the page's picture left, its text right."""

    PLACE: ClassVar[str] = "document"
    CSS_PATH = "document.tcss"
    HELP = "A page as it looks, beside the text that was read on it."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "Find", key_display="/", id="document.find"),
        Binding("h", "go(-1)", "Page", key_display="h l", id="document.page_before"),
        Binding("l", "go(1)", "Next page", show=False, id="document.page_after"),
        Binding("H", "go_to_end(-1)", "First page", show=False, id="document.page_first"),
        Binding("L", "go_to_end(1)", "Last page", show=False, id="document.page_last"),
        Binding("p", "page", "Page by number…", show=False, id="document.page"),
        Binding("c", "contents", "Contents", show=False, id="document.contents"),
        Binding("t", "thumbnails", "Thumbnails", show=False, id="document.thumbnails"),
        Binding("j", "step(1)", "Block", key_display="j k", id="document.block_after"),
        Binding("k", "step(-1)", "Block before", show=False, id="document.block_before"),
        Binding(
            "right_square_bracket", "mark(1)", "Doubtful word", key_display="[ ]",
            id="document.mark_after",
        ),
        Binding(
            "left_square_bracket", "mark(-1)", "Word before", show=False,
            id="document.mark_before",
        ),
        Binding("z", "fill", "Fill with block", id="document.fill"),
        Binding("plus,equals_sign", "zoom(1)", "Zoom", key_display="+ -", id="document.zoom_in"),
        Binding("minus", "zoom(-1)", "Smaller", show=False, id="document.zoom_out"),
        Binding(
            "percent_sign", "confidence", "Confidence", key_display="%", show=False,
            id="document.confidence",
        ),
        Binding("e", "correct", "Edit words", show=False, id="document.correct"),
        Binding("y", "copy", "Copy…", id="document.copy"),
        Binding("v", "form", "View raw or changes", show=False, id="document.form"),
        Binding("o", "options", "Run OCR", show=False, id="document.options"),
        Binding("r", "read", "Read on", show=False, id="document.read"),
        Binding("w", "save", "Save to…", show=False, id="document.save"),
    ]  # fmt: skip
    picture = query_one(PageView)
    """The picture of the current page."""
    text = query_one(PageText)
    """The text of the current page."""

    def panes(self) -> ComposeResult:
        with Vertical(id="left", classes="column -current"):
            yield PageView(self.store.documents, Content("\n").join(NOTHING_OPEN), id="picture")
            yield Static(id="strip")
        with Vertical(id="right", classes="column"):
            yield PageText(id="text")
            yield FilterLine("find in the text", "document", self.store.histories)

    @property
    def state(self) -> DocumentState:
        """The state of the open document."""
        return self.store.documents.slice.value

    def on_mount(self) -> None:
        self._form = FORMS[0]
        self._text: tuple[object, ...] = ()
        self._ticker = self.set_interval(1, self._show_progress, pause=True)
        self._opened: DocumentSource | None = None
        self._decided = False
        """Whether the pane with the initial focus was chosen."""
        self._before_find: Widget = self.picture
        self.follow(self.store.documents.slice, self._show)
        self.watch(self.app, "theme", self._redraw, init=False)
        self.picture.focus()

    # Rendering

    def _show(self, state: DocumentState) -> None:
        strip = self.query_one("#strip", Static)
        width = strip.size.width
        strip.update(
            page_strip(formatting.page_marks(state, width), len(state.pages), width), layout=False
        )
        strip.display = state.source is not None and state.page_count != 1
        left, alone = self.query_one("#left"), state.no_picture is not None
        if left.has_class("-folded") != alone:
            left.toggle_class("-folded")
            self.refresh_bindings()
        self.set_class(strip.display and not alone, "-strip")
        self._show_titles(state)
        self._show_text(state)
        self._show_progress()
        self._prefer_text(state)
        self.picture.show_page(state)
        if state.reading:
            self._ticker.resume()
        else:
            self._ticker.pause()

    def _prefer_text(self, state: DocumentState) -> None:
        """Focus the text of a document without pictures, such as a Word file."""
        if state.source != self._opened and state.source is not None:
            self._opened, self._decided = state.source, False
        if not self._decided and (state.no_picture is not None or state.page_count is not None):
            self._decided = True
            if not isinstance(self.focused, Input):
                self.focus_pane(0 if state.no_picture is None else 1)

    def _show_titles(self, state: DocumentState) -> None:
        picture, text = self.picture, self.text
        moves = MOVES if picture.filling else ""
        chosen, options = formatting.chosen_block(state), formatting.option_words(state.options)
        below = " · ".join(filter(None, (chosen or options, moves)))
        words = formatting.title(state)
        if state.source is not None and picture.filling:
            words += " · filled"
        if state.source is not None and picture.zoom != 1:
            words += f" · {picture.zoom:.0%}".replace("%", " %")
        title = self._title(state, words, picture.size.width - 4)
        picture.set_titles(labels.title(title), labels.line(below))
        fixed = formatting.corrected_words(state)
        read_so = options if chosen else ""
        # Beside its picture, the text needs no title.
        rest = (self._form, formatting.score_words(state.page, state.corrections), fixed, read_so)
        name = "Text"
        if state.source is not None and (self.one_pane or state.no_picture is not None):
            room = self.size.width - 6 - sum(3 + len(part) for part in rest if part)
            name = self._title(state, formatting.title(state), room)
        heat = (
            formatting.heat_words(state.page) if picture.warm and state.source is not None else ""
        )
        notes = formatting.readers_words(state.page) or formatting.changed_words(state)
        found = formatting.mark_words(state)
        if state.query and state.mark is not None:
            found += " · [ ] next"
        below = found or heat or notes or state.no_picture or missing_note(state.page)
        text.set_titles(labels.title(name, *rest), labels.line(below))

    def _title(self, state: DocumentState, words: str, room: int) -> str:
        """Return the library and `words`, which begin with the document's name, in `room` cells."""
        source = state.source
        library = self.store.libraries.slice.value.library(source.library_id) if source else None
        crumbs = f"{one_line(library.name)} › " if library is not None else ""
        # A long name is cut in its middle: the page number and the extension stay.
        name = words.partition(" · page ")[0]
        room = max(room - (len(words) - len(name)), 12)
        if len(crumbs) + len(name) > room:
            # The breadcrumb is dropped before a part of the name is.
            crumbs = ""
        return crumbs + words.replace(name, shorten(name, room), 1)

    def _show_progress(self) -> None:
        self.status.doing = Content(formatting.progress(self.state, time.time()))
        self.status.stop = self.can_stop()

    def _redraw(self) -> None:
        self._text = ()
        self.picture.forget()
        self._show(self.state)

    def _forms(self, state: DocumentState) -> tuple[str, ...]:
        """Return the views that have content."""
        there = (True, True, bool(formatting.changes(state)), bool(state.annotation))
        return tuple(form for form, has in zip(FORMS, there, strict=True) if has)

    def _show_text(self, state: DocumentState) -> None:
        if self._form not in self._forms(state):
            self._form = FORMS[0]
        page, width = state.page, self.text.size.width
        if not width:
            return  # hidden: drawn once it has a size to break lines at
        marks = (state.query, state.mark, state.block)
        warm = self.picture.warm
        shown = (
            *(state.source, state.current, page, state.error, state.reading),
            *(self._form, width, warm, state.corrections),
        )
        if (*shown, marks) == self._text:
            return
        moved = self._text[:2] != shown[:2]
        self._text = (*shown, marks)
        self._fill_text(state)
        if moved:
            self.text.scroll_home(animate=False)
        if self._form in ("rendered", "raw"):
            self.call_after_refresh(self.text.reveal, state.block, mark=state.mark is not None)

    def _fill_text(self, state: DocumentState) -> None:
        page, text = state.page, self.text
        if self._form == "changes":
            text.show_changes(formatting.changes(state))
        elif self._form == "schema":
            text.show_text(formatting.annotation(state))
        elif page is not None and passages(page):
            warm, hits = self.picture.warm, formatting.page_hits(state, warm=self.picture.warm)
            raw = self._form == "raw"
            text.show(passages(page), hits, state.mark, state.block, raw=raw, warm=warm)
        elif page is None and state.error is not None:
            text.show_message(*labels.problem(state.error))
        elif state.source is None:
            text.show_message()
        else:
            words = formatting.empty_words(state)
            way = {UNREAD: " r reads on.", UNCHOSEN: " o chooses pages."}.get(words, "")
            text.show_message(labels.muted(words + way))

    def on_page_picture_resized(self, event: PagePicture.Resized) -> None:
        self._show(self.state)

    def on_page_text_resized(self, event: PageText.Resized) -> None:
        self._show_text(self.state)

    def on_page_picture_pointed(self, event: PagePicture.Pointed) -> None:
        page = self.state.page
        if page is not None and not self.picture.filling:
            self.store.documents.choose(block_at(page, Rect(event.x, event.y, 1e-6, 1e-6)))

    def on_page_text_pointed(self, event: PageText.Pointed) -> None:
        self.store.documents.choose(event.block)

    # Actions

    def explain_disabled(self, action: str) -> str:
        if self.state.source is None and action in _OF_A_DOCUMENT:
            return "No document is open: choose one in 1 Files or 2 Libraries, then enter."
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("fill", "zoom") and self.state.source and self.state.no_picture:
            return False
        return super().check_action(action, parameters)

    def action_go(self, step: int) -> None:
        self.store.documents.go(self.state.current + step)

    def action_go_to_end(self, end: int) -> None:
        self.store.documents.go(0 if end < 0 else (self.state.page_count or 1) - 1)

    action_page = start(document.go_to_page)
    action_contents = start(document.choose_heading)
    action_thumbnails = start(document.choose_page)

    def action_step(self, by: int) -> None:
        self.store.documents.step(by)

    def action_mark(self, by: int) -> None:
        before = self.state.mark

        def on_move(_: object) -> None:
            if self.state.mark == before:
                what = "hits" if self.state.query else "doubtful words"
                other = "other " if before is not None else ""
                self.notice(f"No {other}{what} on the pages read so far.")

        self.do(self.store.documents.next_mark(by), on_move)

    def action_zoom(self, step: int) -> None:
        self.picture.zoom_by(step)
        self._lay_out()

    def action_confidence(self) -> None:
        self.picture.warm = not self.picture.warm
        self._show(self.state)

    action_correct = start(document.correct)

    def action_fill(self) -> None:
        picture = self.picture
        if not picture.filling and picture.chosen_rect(self.state) is None:
            self.notice(advice.CHOOSE_BLOCK)
            return
        picture.fill(not picture.filling)
        self._lay_out()

    def _lay_out(self) -> None:
        # A block that fills the pane gets the whole window, because its print is legible sooner.
        self.query_one("#right").set_class(self.picture.filling, "-folded")
        if self.picture.filling:
            self.picture.focus()
        self._show(self.state)

    def action_form(self) -> None:
        forms = self._forms(self.state)
        self._form = forms[(forms.index(self._form) + 1) % len(forms)]
        self._show(self.state)

    def action_read(self) -> None:
        state = self.state
        if state.source is not None and not state.reading and not state.loading:
            self.run_flow(document.read_on(self))

    def action_options(self) -> None:
        state = self.state
        if state.source is not None and not state.loading:
            self.run_flow(document.read_again(self))

    def action_find(self) -> None:
        if self.picture.filling:
            self.action_fill()
        self._before_find = self.focused or self.picture
        self.focus_pane(1)
        self.query_one(FilterLine).begin(self.state.query)

    def on_filter_line_changed(self, event: FilterLine.Changed) -> None:
        self.store.documents.find(event.text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.store.documents.find(event.value)
        self.text.focus()

    action_copy = start(document_export.copy_part)
    action_save = start(document_export.save)

    def can_stop(self) -> bool:
        return self.state.reading

    def stop(self) -> None:
        self.store.documents.stop()
        self.notice("Stopped. The pages read so far stay. r: read on")

    def step_back(self) -> bool:
        if isinstance(self.focused, Input):
            self._before_find.focus()
        elif self.picture.filling:
            self.action_fill()
        elif self.state.query:
            self.query_one(FilterLine).end()
            self.store.documents.find("")
        elif self.state.block is not None or self.state.mark is not None:
            self.store.documents.choose(None)
        elif self.state.no_picture is not None:
            # The text is all there is: no step to the empty pane beside it.
            return False
        else:
            return super().step_back()
        return True
