"""4 Agents: their versions, what changed between them, and which one answers."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from carrel.store.agents import AgentsState
from carrel.store.selectors.agents import (
    AgentRow,
    VersionRow,
    agent_rows,
    change_rows,
    diff_title,
    version_rows,
)
from carrel.store.selectors.diff import compare_agents
from carrel.tui import labels
from carrel.tui.clipboard import copy
from carrel.tui.dialogs.agent import AgentForm, Draft
from carrel.tui.dialogs.ask import Choose, Thing
from carrel.tui.dialogs.confirm import Confirm
from carrel.tui.screens.place import Place, Way, empty
from carrel.tui.widgets.diff import diff
from carrel.tui.widgets.table import Column, Row, VirtualTable
from carrel.wire.agents import Agent

NO_AGENTS = empty("No agents yet.", Way("n", "New agent"))


class AgentsPlace(Place):
    """The agents, the versions of one, and the difference between two of them."""

    PLACE: ClassVar[str] = "agents"
    CSS_PATH = "agents.tcss"
    HELP = "An agent is a model with instructions and tools. Every edit makes a new version."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", id="agents.new"),
        Binding("e", "edit", "Edit", id="agents.edit"),
        Binding("space", "mark", "Mark to diff", key_display="space", id="agents.mark"),
        Binding("c", "chat", "Chat", id="agents.chat"),
        Binding("A", "make_active", "Make active", id="agents.make_active"),
        Binding("y", "copy", "Copy…", show=False, id="agents.copy"),
        Binding("D", "delete", "Delete", id="agents.delete"),
    ]

    def panes(self) -> ComposeResult:
        agents = VirtualTable(Column("Agent"), Column("", 4, right=True), id="agents", header=False)
        agents.border_title = labels.title("Agents")
        agents.add_class("-current")
        yield agents
        versions = VirtualTable(
            Column("Version", 5),
            Column("What changed"),
            Column("", 10, rank=1, right=True),
            id="versions",
            header=False,
        )
        yield versions
        with VerticalScroll(id="right", classes="pane"):
            yield Static(id="shown")

    @property
    def agents(self) -> VirtualTable:
        return self.query_one("#agents", VirtualTable)

    @property
    def versions(self) -> VirtualTable:
        return self.query_one("#versions", VirtualTable)

    def on_mount(self) -> None:
        self.follow(self.store.agents.slice, self._show)
        self.store.agents.load()
        self.store.libraries.load()
        self.agents.focus()

    # Showing

    def _show(self, state: AgentsState) -> None:
        self.agents.show([_agent_row(row) for row in agent_rows(state)])
        if state.error is not None:
            self.agents.say(*self.explain(state.error))
        elif state.loaded:
            self.agents.say(*NO_AGENTS)
        if state.selected is not None and state.selected != self.agents.key:
            self.agents.point_at(state.selected)
        agent = self._agent()
        self.versions.border_title = (
            labels.title(agent.name, "versions") if agent else labels.title("Versions")
        )
        self.versions.border_subtitle = (
            Content("space marks two to diff") if len(state.versions) > 1 else None
        )
        self.versions.show([_version_row(row) for row in version_rows(state, time.time())])
        self._show_right()

    def _show_right(self) -> None:
        state = self.store.agents.slice.value
        pane, shown = self.query_one("#right"), self.query_one("#shown", Static)
        if state.diff:
            pane.border_title = labels.title(diff_title(state))
            pane.border_subtitle = Content("esc closes")
            shown.update(diff(change_rows(state, self._library_names())))
            return
        version = self._version()
        pane.border_subtitle = None
        if version is None:
            pane.border_title = labels.title("Details")
            shown.update(Content(""))
            return
        pane.border_title = labels.title(f"v{version.version}", version.model)
        shown.update(self._details(version))

    def _details(self, agent: Agent) -> Content:
        libraries = self._library_names()
        tools: list[str] = []
        for tool in agent.tools:
            if tool.get("type") == "document_library":
                tools += [f"library {libraries.get(i, i)}" for i in tool.get("library_ids") or ()]
            elif isinstance(function := tool.get("function"), dict):
                tools.append(f"function {function.get('name')}")
            else:
                tools.append(str(tool.get("type")))
        rows = [
            ("Model", labels.line(agent.model)),
            ("Tools", labels.line(", ".join(tools) or "none")),
        ]
        rows += [
            (name.replace("_", " ").capitalize(), labels.line(str(value)))
            for name, value in sorted(agent.completion_args.items())
            if value is not None and name != "tool_choice"
        ]
        if agent.description:
            rows.append(("About", labels.line(agent.description)))
        return Content("\n").join(
            [
                labels.line(agent.name, "bold"),
                labels.short_id(agent.id),
                Content(""),
                labels.fields(*rows),
                Content(""),
                Content.styled("Instructions", "$muted"),
                labels.block(agent.instructions or "none"),
            ]
        )

    def _library_names(self) -> dict[str, str]:
        return {item.id: item.name for item in self.store.libraries.slice.value.items}

    def _agent(self) -> Agent | None:
        state = self.store.agents.slice.value
        return next((agent for agent in state.items if agent.id == state.selected), None)

    def _version(self) -> Agent | None:
        versions = self.store.agents.slice.value.versions
        return next((v for v in versions if str(v.version) == self.versions.key), None)

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        if event.table is self.agents:
            if event.key is not None and event.key != self.store.agents.slice.value.selected:
                self.store.agents.select(event.key)
        else:
            self._show_right()

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        if event.table is self.agents:
            self.focus_pane(1)
            return
        agent, version = self._agent(), self._version()
        if agent is None or version is None:
            return
        if version.version == agent.version:
            self.notice("This version is the active one: choose another to see what differs.")
        else:
            self.store.agents.compare(version.version, agent.version)
            self.focus_pane(2)

    # Acting

    def action_new(self) -> None:
        def drafted(draft: Draft | None) -> None:
            if draft is not None:
                self.do(self.store.agents.create(draft.create()), self._made)

        self._form("New agent", None, drafted)

    def _made(self, agent: Agent) -> None:
        self.notice(f"Made {agent.name}, v{agent.version}.")
        self.agents.point_at(agent.id)

    def action_edit(self) -> None:
        agent = self._agent()
        if agent is None:
            return

        def drafted(draft: Draft | None) -> None:
            if draft is None:
                return
            change = draft.change(agent)
            if change is None:
                self.notice("Nothing was changed, so there is no new version.")
            else:
                self.do(
                    self.store.agents.update(agent.id, change),
                    lambda new: self.versions.point_at(str(new.version)),
                )

        self._form(f"Edit {agent.name}", agent, drafted)

    def _form(
        self, title: str, agent: Agent | None, drafted: Callable[[Draft | None], None]
    ) -> None:
        session = self.store.session.slice.value

        def show(_: object = None) -> None:
            libraries = self.store.libraries.slice.value.items
            self.app.push_screen(AgentForm(title, agent, session.models, libraries), drafted)

        if self.store.libraries.slice.value.loaded:
            show()
        else:
            self.do(self.store.libraries.load(), show)

    def action_mark(self) -> None:
        version = self._version()
        if version is not None and self.versions.has_focus:
            self.store.agents.mark_version(version.version)
            self.versions.action_move(1)

    def action_make_active(self) -> None:
        agent, version = self._agent(), self._version()
        if agent is None or version is None or version.version == agent.version:
            self.notice("Choose the version to make active first.")
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.do(self.store.agents.switch(agent.id, version.version))

        compared = replace(self.store.agents.slice.value, diff=compare_agents(agent, version))
        rows = change_rows(compared, self._library_names())
        about = [
            Content(f"v{agent.version} is active now. What changes:"),
            Content(""),
            diff(row for row in rows if row.change.change != "same"),
        ]
        title = f"Make v{version.version} of {agent.name} active?"
        self.app.push_screen(Confirm(title, about, "Make active"), answered)

    def action_chat(self) -> None:
        agent = self._agent()
        if agent is not None:
            self.store.chat.new(agent.id)
            self.app.switch_mode("chat")

    def action_copy(self) -> None:
        agent, version = self._agent(), self._version()
        if agent is None:
            return
        texts = {"id": agent.id, "name": agent.name}
        texts["instructions"] = (version or agent).instructions or ""

        def chosen(what: str | None) -> None:
            if what:
                copy(self.app, texts[what])
                self.notice("Copied.")

        things = [Thing(what, f"Copy {what}") for what in texts]
        self.app.push_screen(Choose("Copy", things), chosen)

    def action_delete(self) -> None:
        agent = self._agent()
        if agent is None:
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.do(self.store.agents.delete(agent.id))

        about = [labels.line(agent.name, "bold"), Content("All its versions go with it.")]
        self.app.push_screen(Confirm("Delete this agent?", about, "Delete"), answered)

    def reload(self) -> None:
        self.store.agents.load()

    def back(self) -> None:
        state = self.store.agents.slice.value
        if state.diff:
            for number in state.marked:
                self.store.agents.mark_version(number)
            self.versions.focus()
        else:
            self.agents.focus()


def _agent_row(row: AgentRow) -> Row:
    return Row(row.id, (labels.line(row.name), Content.styled(row.version, "$muted")))


def _version_row(row: VersionRow) -> Row:
    what = labels.line(row.note or ("first version" if row.number == 0 else ""))
    if row.active:
        what = Content.assemble(("active", "$ready"), "  " if what else "", what)
    if row.aliases:
        what = Content.assemble(labels.line(row.aliases, "$speaker"), "  " if what else "", what)
    mark = Content.styled("✓", "$accent") if row.marked else None
    if mark is None and row.active:
        mark = Content.styled("●", "$ready")
    return Row(str(row.number), (Content(row.name), what, Content.styled(row.age, "$muted")), mark)
