"""Runs of test cases: the table of a run, and the answers to a case side by side."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from carrel.store.evals.state import EvalsState
from carrel.tui.dialogs.core.dialog import Dialog, hint
from carrel.tui.theme import labels
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable
from carrel.tui.widgets.text.pane import TextPane

if TYPE_CHECKING:
    from carrel.store.evals.formatting import CaseRow
    from carrel.store.evals.records import Run
    from carrel.store.store import Store

HINT = "enter answers · r runs a set · o other run · b baseline · x stops · esc"

_NONE = "No runs yet. r: run a test set"


class Evals(Dialog[str]):
    """The store's shown run; returns `run`, `other` or `baseline` for the next choice."""

    DEFAULT_CSS = """
    Evals .dialog { width: 96%; height: 94%; max-width: 100%; padding: 0 1; }
    Evals VirtualTable { height: 1fr; border: none; }
    Evals #said { height: auto; max-height: 6; padding: 0 1; }
    Evals #answers { height: 1fr; border-top: solid $line; }
    Evals TextPane { width: 1fr; padding: 0 1; }
    Evals #before { border-right: solid $line; }
    Evals TextPane:focus { background: $selection; }
    Evals.-opened VirtualTable { display: none; }
    Evals.-opened #said { display: none; }
    Evals.-empty #answers, Evals .-none { display: none; }
    Evals.-narrow #before { display: none; }
    Evals.-narrow.-opened #before { display: block; }
    Evals.-opened #before.-none { display: none; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "choose('run')", "Run a set…", id="evals.run"),
        Binding("o", "choose('other')", "Other run…", id="evals.other"),
        Binding("b", "choose('baseline')", "Baseline…", id="evals.baseline"),
        Binding("x", "stop", "Stop", id="evals.stop"),
        Binding("escape", "back", "Back", show=False, id="evals.back"),
    ]
    table = query_one(VirtualTable)
    """The table of cases."""

    def __init__(self, store: "Store", agent: str) -> None:
        super().__init__(f"Evals · {agent}")
        self._store = store
        self._answered: tuple[object, ...] = ()
        self._going_on: str | None = None
        """The id of the shown run while it is unfinished."""

    def compose_content(self) -> ComposeResult:
        yield Static(id="said")
        yield VirtualTable(
            Column("Case", least=20),
            Column("Result", 11),
            Column("Passed", 7, right=True),
            Column("95 %", 10, right=True, rank=3),
            Column("Before", 7, right=True, rank=1),
            Column("Tokens", 7, right=True, rank=5),
            Column("Seconds", 7, right=True, rank=4),
            Column("Why", least=20, rank=2),
            classes="",
        )
        with Horizontal(id="answers"):
            with TextPane(id="before"):
                yield Static()
            with TextPane(id="now"):
                yield Static()
        yield hint(HINT)

    def on_mount(self) -> None:
        self.table.focus()
        self.follow(self._store.evals.slice, self._show, hz=5)

    def _show(self, state: EvalsState) -> None:
        from carrel.store.evals.formatting import case_rows, progress_words, report_lines, run_title

        said = [] if state.progress is None else [f"… {progress_words(state.progress)}"]
        report = state.report
        self.set_class(report is None, "-empty")
        if report is None:
            self.table.show([])
            self.table.show_message(labels.muted("Loading …" if state.shown else _NONE))
        else:
            title = f"{run_title(report.run)} · {report.run.header.cases.name} · {report.run.id}"
            self.query_one(".dialog").border_title = labels.title(f"Evals · {title}")
            said += report_lines(report)
            rows = [_row(row) for row in case_rows(report)]
            self.table.show(rows)
            if report.run.id == self._going_on and report.run.finished:
                self.table.point_at(rows[0].key)  # cases to look at come first
            self._going_on = None if report.run.finished else report.run.id
        self.query_one("#said", Static).update(labels.block("\n".join(said)))
        self._show_answers()

    def _show_answers(self) -> None:
        report, case = self._store.evals.slice.value.report, self.table.key
        sides = (None, None) if report is None else (report.baseline, report.run)
        shown = (case, *(run and run.id for run in sides))
        for name, run in zip(("#before", "#now"), sides, strict=True):
            pane = self.query_one(name, TextPane)
            pane.set_class(run is None, "-none")
            pane.query_one(Static).update(
                Content("") if run is None or case is None else _answers(run, case)
            )
            if shown != self._answered:
                pane.scroll_home(animate=False)
        self._answered = shown

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        self._show_answers()

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        self.add_class("-opened")
        self.query_one("#now", TextPane).focus()

    def action_choose(self, what: str) -> None:
        self.dismiss(what)

    def action_stop(self) -> None:
        self._store.evals.stop()

    def action_back(self) -> None:
        if self.has_class("-opened"):
            self.remove_class("-opened")
            self.table.focus()
        else:
            self.dismiss(None)


def _row(row: "CaseRow") -> Row:
    figures = map(labels.muted, (row.interval, row.before, row.tokens, row.seconds))
    first = (labels.line(row.case), labels.badge(row.badge), Content(row.passed))
    return Row(row.case, (*first, *figures, labels.line(row.reason, "$muted")))


def _answers(run: "Run", case: str) -> Content:
    """Return the answers of a run to a case, each with its checks."""
    from carrel.store.evals.formatting import attempt_words, run_title

    asked = next((one for one in run.header.cases.cases if one.id == case), None)
    parts = [labels.line(run_title(run), "bold $accent")]
    if asked is not None:
        parts.append(labels.block(asked.question, "italic"))
    for attempt in run.of(case):
        parts += [Content(""), labels.line(f"Attempt {attempt.repeat + 1}", "$muted")]
        parts.append(labels.block(attempt_words(attempt)))
    return Content("\n").join(parts)
