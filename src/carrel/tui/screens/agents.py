"""4 Agents: their versions, the differences between them, and the active one."""

import time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.widget import Widget

from carrel.store import advice
from carrel.store.agents.compare import FieldChange
from carrel.store.agents.drafts import Draft
from carrel.store.agents.formatting import (
    agent_rows,
    diff_title,
    draft_changes,
    draft_row,
    draft_title,
    field_rows,
    new_agent_rows,
    version_name,
    version_rows,
)
from carrel.store.agents.service import AgentsService
from carrel.store.agents.state import AgentsState
from carrel.store.comparison.state import Side
from carrel.store.core.lists import Sort
from carrel.store.layout.state import LayoutState
from carrel.store.store import Store
from carrel.tui.base.screen import MainScreen, start
from carrel.tui.flows import evals
from carrel.tui.flows.agents import drafts
from carrel.tui.flows.agents import files as agent_files
from carrel.tui.flows.agents import versions as flows
from carrel.tui.theme import labels
from carrel.tui.theme.empty import LOADING, empty, explain_empty
from carrel.tui.widgets.details.diff import DiffView
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.rows import DRAFT, agent_row, details, unsaved_row, version_row
from carrel.tui.widgets.tables.table import VirtualTable
from carrel.tui.widgets.text.pane import FindText, TextPane
from carrel.tui.workbench import Workbench
from carrel.wire.generation.agents import Agent

NO_AGENTS = empty("No agents yet.", {"enter": "New agent"})

_OF_AN_AGENT = (
    "edit", "mark", "try", "chat", "make_active", "yaml", "roll_back", "aliases", "copy", "delete",
    "evals",
)  # fmt: skip


class AgentsScreen(MainScreen):
    """The agents, the versions of one, and the difference between two."""

    PLACE: ClassVar[str] = "agents"
    CSS_PATH = "agents.tcss"
    HELP = "An agent is a model with instructions and tools. Every edit makes a new version."
    CHANGES: ClassVar[frozenset[str]] = frozenset({"make_active", "roll_back", "delete"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", id="agents.new"),
        Binding("e", "edit", "Edit", id="agents.edit"),
        Binding("space", "mark", "Mark to diff", key_display="space", id="agents.mark"),
        Binding("t", "try", "Try draft", id="agents.try"),
        Binding("c", "chat", "Chat", id="agents.chat"),
        Binding("A", "make_active", "Make active", id="agents.make_active"),
        Binding("f4", "yaml", "Edit as YAML", show=False, id="agents.yaml"),
        Binding("b", "roll_back", "Roll back", show=False, id="agents.roll_back"),
        Binding(
            "number_sign", "aliases", "Aliases…", key_display="#", show=False, id="agents.aliases"
        ),
        Binding("E", "evals", "Evals…", show=False, id="agents.evals"),
        Binding("P", "plan", "Plan from files…", show=False, id="agents.plan"),
        Binding("v", "split", "View side by side", show=False, id="agents.split"),
        Binding(
            "left_square_bracket", "change(-1)", "Change before", show=False, id="agents.before"
        ),
        Binding("right_square_bracket", "change(1)", "Next change", show=False, id="agents.next"),
        Binding("y", "copy", "Copy…", show=False, id="agents.copy"),
        Binding("D", "delete", "Delete", id="agents.delete"),
    ]
    agents = query_one("#agents", VirtualTable)
    """The table of agents."""
    versions = query_one("#versions", VirtualTable)
    """The table of the selected agent's versions."""
    diff = query_one("#diff", DiffView)
    """The diff of two versions."""

    def panes(self) -> ComposeResult:
        agents = VirtualTable(Column("Agent"), Column("", 4, right=True), id="agents", header=False)
        agents.border_title = labels.title("Agents")
        agents.add_class("-current")
        yield agents
        versions = VirtualTable(
            Column("Version", 7, name="version"),
            Column("What changed", least=18, name="note"),
            Column("Since", 10, rank=1, right=True, name="changed"),
            id="versions",
        )
        yield versions
        with TextPane(id="right", classes="pane"):
            yield FindText(id="shown")
        yield DiffView(id="diff", classes="pane -folded")

    def __init__(self, store: Store, workbench: Workbench) -> None:
        super().__init__(store, workbench)
        self._active: tuple[str, int] | None = None
        self._sorted: Sort | None = None

    @property
    def state(self) -> AgentsState:
        """The state of the agents."""
        return self.store.agents.slice.value

    def on_mount(self) -> None:
        self.follow(self.store.agents.slice, self._show)
        self.follow(self.store.layout.slice, self._sort)
        self.store.libraries.load()
        self.agents.focus()

    @property
    def listing(self) -> AgentsService:
        return self.store.agents

    # Showing

    def _sort(self, state: LayoutState) -> None:
        sort = state.table("versions").sort
        if sort != self._sorted:
            self._sorted = sort
            self._show(self.state)

    def _show(self, state: AgentsState) -> None:
        self.agents.show([agent_row(row) for row in agent_rows(state)])
        self.agents.show_message(*explain_empty(state.error, NO_AGENTS, loaded=state.loaded))
        unsaved = new_agent_rows(state, time.time())
        self.agents.border_subtitle = (
            labels.line(f"✎ {len(unsaved)} unsaved · n") if unsaved else Content("")
        )
        if state.selected is not None and state.selected != self.agents.key:
            self.agents.point_at(state.selected)
        agent = state.agent
        self.versions.border_title = (
            labels.title(agent.name, "versions") if agent else labels.title("Versions")
        )
        how = "tab shows the diff" if state.diff and self.one_pane else "space marks two to diff"
        self.versions.border_subtitle = Content(how) if len(state.versions) > 1 else None
        draft = draft_row(state, time.time())
        active = None if agent is None else (agent.id, agent.version)
        rows = [version_row(row) for row in version_rows(state, time.time(), self._sorted)]
        self.versions.show([unsaved_row(draft), *rows] if draft else rows)
        awaited = agent is not None and state.error is None
        self.versions.show_message(*((LOADING,) if awaited else ()))
        here = {version.version for version in state.versions}
        if agent is not None and active != self._active and agent.version in here:
            # The cursor follows the active version.
            self._active = active
            self.versions.point_at(str(agent.version))
        self._show_right()

    def _show_right(self) -> None:
        state = self.state
        if state.diff:
            self._show_diff(diff_title(state), state.diff, "esc closes")
        elif self.versions.key == DRAFT and state.draft is not None:
            self._show_diff(draft_title(state), draft_changes(state), "enter saves it")
        else:
            self._show_details()

    def _show_diff(self, title: str, changes: tuple[FieldChange, ...], how: str) -> None:
        way = "unified" if self.diff.split else "split"
        self.diff.border_title = labels.title(labels.trail(self._agent_name(), title))
        self.diff.border_subtitle = Content(f"v {way} · {how}")
        self.diff.show(field_rows(changes, drafts.library_names(self)))
        self._unfold(self.diff)

    def _show_details(self) -> None:
        pane, shown = self.query_one("#right"), self.query_one("#shown", FindText)
        version = self._version()
        if version is None:
            pane.border_title = labels.title("Details")
            shown.update(Content(""))
        else:
            way = labels.trail(self._agent_name(), version_name(version.version))
            pane.border_title = labels.title(way, version.model)
            shown.update(details(version, drafts.library_names(self)))
        self._unfold(pane)

    def _agent_name(self) -> str:
        return "" if self.state.agent is None else self.state.agent.name

    def _unfold(self, shown: Widget) -> None:
        """Show one of the two panes that share the right side."""
        for pane in (self.query_one("#right"), self.diff):
            if pane is not shown and pane.has_focus:
                self.versions.focus()
            pane.set_class(pane is not shown, "-folded")
        # Two texts side by side need the room.
        wide = shown is self.diff and self.diff.split
        if wide and self.agents.has_focus:
            self.versions.focus()
        self.agents.set_class(wide, "-folded")

    def _version(self) -> Agent | None:
        """Return the version under the cursor."""
        return next((v for v in self.state.versions if str(v.version) == self.versions.key), None)

    def point_at_version(self, number: int) -> None:
        """Move the cursor to a version of the selected agent."""
        self.versions.point_at(str(number))
        self.versions.focus()

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        if event.table is self.agents:
            if event.key is not None and event.key != self.state.selected:
                self.store.agents.select(event.key)
        else:
            self.show_when_still(self._show_right)

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        if event.table is self.agents:
            self.focus_pane(1)
            return
        state, version = self.state, self._version()
        if event.key == DRAFT and state.draft is not None:
            self.run_flow(drafts.review(self, state.draft))
        elif state.agent is None or version is None:
            return
        elif version.version == state.agent.version:
            self.notice("This version is the active one: choose another to see what differs.")
        else:
            self.do(
                self.store.agents.compare(version.version, state.agent.version),
                lambda _: self._look_at_diff(),
            )

    def _look_at_diff(self) -> None:
        self._show_right()
        self._show_alone(self.diff)
        self.diff.focus()

    def action_split(self) -> None:
        self.diff.split = not self.diff.split
        self._show_right()

    def action_change(self, step: int) -> None:
        details = self.query_one("#right", TextPane)
        if details.finding:
            details.go_to_hit(step)
        else:
            self.diff.go(step)

    # Making and editing

    def explain_disabled(self, action: str) -> str:
        if self.state.agent is None and action in _OF_AN_AGENT:
            return "Create an agent first: n New."
        if action == "try" and self.state.draft is None:
            return "There is no draft to try: e begins one."
        if action == "mark" and not self.versions.has_focus:
            return "space marks versions: tab goes to them."
        if action == "change" and not (
            self.diff.display or self.query_one("#right", TextPane).finding
        ):
            return "No two versions are compared: enter on one shows what differs."
        return ""

    def on_virtual_table_opened_empty(self, event: VirtualTable.OpenedEmpty) -> None:
        if event.table is self.agents and self.state.loaded:
            self.action_new()

    def action_new(self) -> None:
        self.run_flow(drafts.begin(self, self._version() or self.state.agent))

    def _draft(self) -> Draft | None:
        """Return the draft to edit: the existing one, else a new one from the version under the
        cursor."""
        state = self.state
        version = self._version() if self.versions.has_focus else None
        start = version or state.agent
        return state.draft or (Draft.of(start) if start else None)

    action_edit = start(drafts.fill_in, _draft)
    action_yaml = start(drafts.write, _draft)

    def action_try(self) -> None:
        if (draft := self.state.draft) is not None:
            drafts.try_in_chat(self, draft)

    # The active version

    def action_mark(self) -> None:
        version = self._version()
        if version is not None and self.versions.has_focus:
            self.store.agents.mark_version(version.version)
            self.versions.action_move(1)

    def action_make_active(self) -> None:
        agent, version = self.state.agent, self._version()
        if agent is None or version is None or version.version == agent.version:
            self.notice(advice.CHOOSE_VERSION)
            return
        self.run_flow(flows.make_active(self, agent, version))

    action_roll_back = start(flows.roll_back, lambda self: self.state.agent)

    def action_aliases(self) -> None:
        agent, version = self.state.agent, self._version()
        if agent is not None and version is not None:
            self.run_flow(flows.edit_aliases(self, agent, version.version))

    # Other screens

    def action_chat(self) -> None:
        agent, version = self.state.agent, self._version()
        if self.versions.key == DRAFT and self.versions.has_focus:
            self.action_try()
        elif agent is not None and len(self.state.marked) == 2:
            sides = [Side(agent.id, number) for number in sorted(self.state.marked)]
            self.open_chat(self.store.comparison.begin(sides))
        elif agent is not None:
            other = version if self.versions.has_focus else None
            pinned = other.version if other and other.version != agent.version else None
            self.open_chat(self.store.chat.new(agent.id, pinned))

    def action_evals(self) -> None:
        agent, version = self.state.agent, self._version()
        if agent is not None:
            chosen = version if version and self.versions.has_focus else agent
            self.run_flow(evals.look(self, agent, chosen.version))

    action_plan = start(agent_files.plan)

    action_copy = start(flows.copy_part, lambda self: self._version() or self.state.agent)

    def action_delete(self) -> None:
        state = self.state
        if state.agent is None:
            return
        if self.versions.has_focus and self.versions.key == DRAFT and state.draft is not None:
            self.run_flow(drafts.drop(self, state.draft))
        else:
            self.run_flow(flows.delete(self, state.agent))

    def step_back(self) -> bool:
        state = self.state
        if state.diff:
            for number in state.marked:
                self.store.agents.mark_version(number)
            self._show_alone(self.versions)
            self.versions.focus()
        elif self.diff.split:
            self.action_split()
        elif not self.agents.has_focus:
            self.focus_pane(0)
        else:
            return False
        return True
