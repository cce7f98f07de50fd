"""The preview and the options of a sync."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, SelectionList, Static
from textual.widgets.selection_list import Selection

from carrel.store.core.lists import TYPING_PAUSE
from carrel.store.core.problem import ProblemError
from carrel.store.session.formatting import service_words
from carrel.store.store import Store
from carrel.store.sync import formatting
from carrel.store.sync.state import SyncState
from carrel.tui.dialogs.core.confirm import Confirm
from carrel.tui.dialogs.core.dialog import Dialog, buttons, hint
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.choices import Choices
from carrel.tui.widgets.inputs.fields import Field

if TYPE_CHECKING:
    from carrel.store.sync.service import Preview

SHOWN = 200
"""Most changes that the preview lists."""

HOW = "page up, page down: scroll the preview · esc closes"

MANY = "Is the folder complete, and its disk connected?"

WAIT = "The preview of these choices is not ready yet. Press F2 again once it is shown."


@dataclass(frozen=True)
class SyncWish:
    """The options of a sync; patterns are as in `.gitignore`.

    `max_delete` is the confirmed number of deletions, if a confirmation was needed.
    """

    watch: bool = False
    delete: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_delete: int | None = None

    @property
    def rules(self) -> tuple[object, ...]:
        """The options that affect the preview: all but whether to watch."""
        return self.delete, self.include, self.exclude


class SyncDialog(Dialog[SyncWish]):
    """The preview follows the options; only the shown preview can be confirmed."""

    DEFAULT_CSS = """
    SyncDialog .dialog { width: 90; padding: 0 2; }
    SyncDialog #what { height: auto; margin-bottom: 1; }
    SyncDialog #changes { height: auto; max-height: 20vh; margin-bottom: 1; }
    SyncDialog #changes:focus { background: $panel; }
    SyncDialog #patterns { height: 3; }
    SyncDialog #patterns Field { width: 1fr; }
    SyncDialog Choices { height: 2; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "accept", "Sync", id="sync.accept"),
        Binding("alt+w", "choose('watch')", "Keep watching", id="sync.watch"),
        Binding("alt+d", "choose('delete')", "Delete what was deleted", id="sync.delete"),
        Binding("pageup", "page(-1)", "Page up", priority=True, id="sync.page_up"),
        Binding("pagedown", "page(1)", "Page down", priority=True, id="sync.page_down"),
    ]

    def __init__(
        self, store: Store, library: tuple[str | None, str], folder: Path, wish: SyncWish
    ) -> None:
        """Make the dialog. `library` is a name with an id, or with None before it exists; `wish`
        the initial options."""
        super().__init__(f"Sync {formatting.folder_name(folder)}")
        self._store = store
        self._library_id, self._library_name = library
        self._folder = folder
        self._wish = wish
        self._typing: Timer | None = None
        self._previewed: SyncWish | None = None
        self._preview_shown: Preview | None = None
        self._failed = False

    def compose_content(self) -> ComposeResult:
        yield Static(id="what")
        if billed := service_words(self._store.session.slice.value):
            yield Static(labels.line(billed, "$hosted"))
        with VerticalScroll(id="changes"):
            yield Static(id="rows")
        yield Choices(
            Selection(
                "Keep watching, and sync after every change · alt+w", "watch", self._wish.watch
            ),
            Selection(
                "Delete in the library what was deleted here · alt+d", "delete", self._wish.delete
            ),
        )
        with Horizontal(id="patterns"):
            only = formatting.pattern_words(self._wish.include)
            yield Field(only, placeholder="Only, such as *.pdf *.docx", id="include")
            never = formatting.pattern_words(self._wish.exclude)
            yield Field(never, placeholder="Leave out, such as drafts/", id="exclude")
        yield hint(HOW)
        yield buttons(("cancel", "Cancel"), ("yes", "F2 Sync"))

    def on_mount(self) -> None:
        self.follow(self._store.sync.slice, self._show_looking)
        self.query_one("#yes").focus()
        self._preview()

    @property
    def wish(self) -> SyncWish:
        """The current options."""
        chosen = self.query_one(Choices).selected
        return SyncWish(
            "watch" in chosen, "delete" in chosen, self._patterns("include"),
            self._patterns("exclude"),
        )  # fmt: skip

    def _patterns(self, field: str) -> tuple[str, ...]:
        return formatting.patterns_in(self.query_one(f"#{field}", Field).value)

    @work(exclusive=True, group="preview", exit_on_error=False)
    async def _preview(self) -> None:
        self._wish = wish = self.wish
        self._previewed, self._failed = None, False
        self._show(labels.muted("Looking at the folder …"), ())
        try:
            preview = await self._store.sync.preview(
                self._library_id, self._folder, wish.delete, wish.include, wish.exclude
            )
        except ProblemError as error:
            self._failed = True
            self._show(labels.block(str(error), "$failed"), ())
        else:
            self._previewed, self._preview_shown = wish, preview
            self._show(labels.line(formatting.preview_words(preview)), _rows(preview))
        self.query_one(".hint", Static).update(Content(HOW))

    def _show_looking(self, state: SyncState) -> None:
        if state.looking is not None and self._previewed is None and self.is_attached:
            self._show(labels.line(f"{formatting.progress_words(state.looking)} …", "$muted"), ())

    def _show(self, words: Content, rows: Sequence[Content]) -> None:
        into = Content.assemble(("into ", "$muted"), labels.line(self._library_name, "bold"))
        self.query_one("#what", Static).update(Content("\n").join([into, words]))
        self.query_one("#rows", Static).update(Content("\n").join(rows))
        self.query_one("#changes").display = bool(rows)

    def on_selection_list_selected_changed(self, event: SelectionList.SelectedChanged[str]) -> None:
        self.call_later(self._catch_up)

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPING_PAUSE, self._catch_up)

    def _catch_up(self) -> None:
        """Preview again if the options changed."""
        if self.wish.rules != self._wish.rules:
            self._preview()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.query_one("#yes").focus()

    def action_accept(self) -> None:
        seen, wish = self._previewed, self.wish
        if seen is not None and seen.rules == wish.rules:
            self._confirm(wish)
            return
        self.refuse(WAIT)
        if seen is not None or self._failed:
            self._preview()

    @work(exit_on_error=False)
    async def _confirm(self, wish: SyncWish) -> None:
        """Accept; ask first if more than the limit would be deleted."""
        assert self._preview_shown is not None
        question = formatting.confirm_words(self._preview_shown)
        if question is None:
            self.dismiss(wish)
            return
        deletions = self._preview_shown.plan.deletions

        about = [labels.line(question), labels.line(MANY, "$muted")]
        confirm = Confirm("More than half would be deleted", about, "Delete")
        if await self.app.push_screen(confirm, wait_for_dismiss=True):
            self.dismiss(replace(wish, max_delete=len(deletions)))

    def action_choose(self, choice: str) -> None:
        self.query_one(Choices).toggle(choice)

    def action_page(self, pages: int) -> None:
        changes = self.query_one("#changes")
        changes.scroll_relative(y=pages * max(changes.size.height - 1, 1), animate=False)


def _rows(preview: "Preview") -> list[Content]:
    rows = formatting.plan_rows(preview)
    shown = [
        Content.assemble(
            (f"{row.action:<8}", "$failed" if row.action in ("Delete", "Skip") else "$muted"),
            labels.line(row.path),
            labels.line(f"  {row.note}", "$muted"),
        )
        for row in rows[:SHOWN]
    ]
    if len(rows) > SHOWN:
        shown.append(labels.muted(f"and {len(rows) - SHOWN:,} more"))
    return shown
