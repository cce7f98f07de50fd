"""What syncing a folder would do, before it does it."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Button, Input, SelectionList, Static
from textual.widgets.selection_list import Selection

from carrel.store.handle import Handle
from carrel.store.selectors.session import service_words
from carrel.store.selectors.sync import change_rows, folder_name, preview_words, progress_words
from carrel.store.store import Store
from carrel.store.sync import SyncState
from carrel.store.watch import watch
from carrel.tui import labels
from carrel.tui.dialogs.dialog import Dialog, buttons
from carrel.tui.dialogs.path import PathDialog
from carrel.tui.drops import parse_folder
from carrel.tui.widgets.choices import Choices
from carrel.tui.widgets.fields import Field

if TYPE_CHECKING:
    from carrel.store.sync import Preview

SHOWN = 200
"""Changes that the preview lists."""

TYPING = 0.4
"""Seconds after a key until the preview follows."""


@dataclass(frozen=True)
class SyncWish:
    """How a folder shall be synced; the patterns are as in `.gitignore`."""

    watch: bool = False
    delete: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class FolderDialog(PathDialog):
    """Gives one existing folder."""

    PLACEHOLDER = "Path of a folder, such as ~/Documents/contracts"
    MISSING = "There is no folder at this path."
    HOW = "tab completes · ↑ ↓ choose · enter accepts · a folder can be dropped here"

    def named(self, text: str) -> tuple[Path, ...]:
        folder = parse_folder(text, relative=True)
        return () if folder is None else (folder,)


class SyncDialog(Dialog[SyncWish]):
    """The preview follows the choices; nothing happens before it is confirmed."""

    DEFAULT_CSS = """
    SyncDialog .dialog { width: 90; }
    SyncDialog #what { height: auto; margin-bottom: 1; }
    SyncDialog #changes { height: auto; max-height: 25vh; margin-bottom: 1; }
    SyncDialog #patterns { height: 3; }
    SyncDialog #patterns Field { width: 1fr; }
    SyncDialog Choices { height: 2; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "accept", "Sync", id="sync.accept"),
    ]

    def __init__(
        self, store: Store, library: tuple[str, str], folder: Path, wish: SyncWish
    ) -> None:
        """`library`: its id and name. `wish`: what is chosen at first."""
        super().__init__(f"Sync {folder_name(folder)}")
        self._store = store
        self._library_id, self._library_name = library
        self._folder = folder
        self._wish = wish
        self._typing: Timer | None = None
        self._ready = False
        self._close: Callable[[], None] = lambda: None

    def inside(self) -> ComposeResult:
        yield Static(id="what")
        if billed := service_words(self._store.session.slice.value):
            yield Static(labels.line(billed, "$hosted"))
        with VerticalScroll(id="changes", can_focus=False):
            yield Static(id="rows")
        yield Choices(
            Selection("Keep watching, and sync after every change", "watch", self._wish.watch),
            Selection("Delete in the library what was deleted here", "delete", self._wish.delete),
        )
        with Horizontal(id="patterns"):
            only = shlex.join(self._wish.include)
            yield Field(only, placeholder="Only, such as *.pdf *.docx", id="include")
            never = shlex.join(self._wish.exclude)
            yield Field(never, placeholder="Leave out, such as drafts/", id="exclude")
        yield buttons(("no", "Leave it"), ("yes", "F2 Sync"))

    def on_mount(self) -> None:
        self._close = watch(self._store.sync.slice, self._show_looking, deliver=self.call_later)
        self.query_one("#yes").focus()
        self._preview()

    def on_unmount(self) -> None:
        self._close()

    @property
    def wish(self) -> SyncWish:
        """What is chosen now."""
        chosen = self.query_one(Choices).selected
        return SyncWish(
            "watch" in chosen, "delete" in chosen, self._patterns("include"),
            self._patterns("exclude"),
        )  # fmt: skip

    def _patterns(self, field: str) -> tuple[str, ...]:
        text = self.query_one(f"#{field}", Field).value
        try:
            return tuple(shlex.split(text))
        except ValueError:  # a quote is still open
            return tuple(text.split())

    def _preview(self) -> None:
        wish = self.wish
        self._ready = False
        self._show(Content.styled("Looking at the folder …", "$muted"), ())
        handle = self._store.sync.preview(
            self._library_id, self._folder, wish.delete, wish.include, wish.exclude
        )
        handle.add_done_callback(lambda handle: self.call_later(self._looked, handle))

    def _looked(self, handle: "Handle[Preview]") -> None:
        if not self.is_attached:
            return
        if handle.error is not None:
            self._show(labels.block(str(handle.error), "$failed"), ())
        elif (preview := handle.result(0)) is not None:
            self._ready = True
            self._show(labels.line(preview_words(preview)), _rows(preview))

    def _show_looking(self, state: SyncState) -> None:
        if state.looking is not None and not self._ready and self.is_attached:
            self._show(labels.line(f"{progress_words(state.looking)} …", "$muted"), ())

    def _show(self, words: Content, rows: Sequence[Content]) -> None:
        into = Content.assemble(("into ", "$muted"), labels.line(self._library_name, "bold"))
        self.query_one("#what", Static).update(Content("\n").join([into, words]))
        self.query_one("#rows", Static).update(Content("\n").join(rows))
        self.query_one("#changes").display = bool(rows)

    def on_selection_list_selected_changed(self, event: SelectionList.SelectedChanged[str]) -> None:
        if self.wish.delete != self._wish.delete:
            self._wish = self.wish
            self._preview()

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._typing is not None:
            self._typing.stop()
        if (self.wish.include, self.wish.exclude) != (self._wish.include, self._wish.exclude):
            self._typing = self.set_timer(TYPING, self._typed)

    def _typed(self) -> None:
        self._wish = self.wish
        self._preview()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.query_one("#yes").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "yes":
            self.action_accept()
        else:
            self.dismiss(None)

    def action_accept(self) -> None:
        self.dismiss(self.wish)


def _rows(preview: "Preview") -> list[Content]:
    rows = change_rows(preview)
    shown = [
        Content.assemble(
            (f"{row.action:<8}", "$failed" if row.action in ("Delete", "Skip") else "$muted"),
            labels.line(row.path),
            labels.line(f"  {row.note}", "$muted"),
        )
        for row in rows[:SHOWN]
    ]
    if len(rows) > SHOWN:
        shown.append(Content.styled(f"and {len(rows) - SHOWN:,} more", "$muted"))
    return shown
