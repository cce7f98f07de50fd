"""The bench, which `carrel.connect()` returns: panels and calls over one shared state."""

import atexit
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial, update_wrapper
from operator import attrgetter
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack, overload
from weakref import WeakSet

from ipywidgets import Layout

from carrel import samples
from carrel.config.profiles import ConfigError, Profile, load_profile, profile_at
from carrel.notebook.bench.agent_maker import AgentMaker
from carrel.notebook.bench.agents import AgentCalls, Asked, begin_chat
from carrel.notebook.bench.aio import AsyncBench
from carrel.notebook.bench.client import SyncClient
from carrel.notebook.bench.documents import DocumentCalls
from carrel.notebook.bench.keywords import AgentKeywords, spell
from carrel.notebook.bench.names import Names
from carrel.notebook.bench.together import Together
from carrel.notebook.cells.errors import BenchError, hide_key
from carrel.notebook.cells.wait import check_handle, wait_for
from carrel.notebook.panels.activity import ActivityPanel
from carrel.notebook.panels.agent import AgentPanel
from carrel.notebook.panels.chat import ChatPanel
from carrel.notebook.panels.compare import ComparePanel
from carrel.notebook.panels.core.base import Json, Panel, layout_options
from carrel.notebook.panels.demo import DemoPanel
from carrel.notebook.panels.document import DocumentPanel
from carrel.notebook.panels.evals import EvalPanel
from carrel.notebook.panels.files import FilesPanel
from carrel.notebook.panels.library import LibraryPanel
from carrel.notebook.panels.workbench import Workbench
from carrel.notebook.results import display
from carrel.notebook.results.answer import Answer, as_answer
from carrel.notebook.results.deleted import DeletedItems
from carrel.notebook.results.unfinished import UnfinishedWork
from carrel.store.comparison.state import MOST
from carrel.store.core.actions.handle import Cancelled
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import Problem
from carrel.store.demo.script import load_demo
from carrel.store.demo.setting import own_profile
from carrel.store.sample import AGENT
from carrel.store.session.formatting import header
from carrel.store.store import Store
from carrel.wire.generation.agents import Agent
from carrel.wire.libraries import Library
from carrel.yamlfile import FileError

T = TypeVar("T")
Q = ParamSpec("Q")

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound=Panel)


def _delegate(
    part: str, method: Callable[Concatenate[Any, Q], T]
) -> Callable[Concatenate[Any, Q], T]:
    """Return a method that calls a part's `method`, with its signature and docstring."""
    find = attrgetter(part)

    def call(bench: Any, /, *args: Q.args, **kwargs: Q.kwargs) -> T:
        return method(find(bench), *args, **kwargs)

    return check_handle(update_wrapper(call, method))


class Bench:
    """The workbench in a notebook.

    In a cell it shows the whole workbench with six tabs; `files`, `libraries`, `document`,
    `agents`, `evals` and `activity` are single panels; `bench.files.height = 300` sets a panel's
    height in pixels. Calls wait for their result for at most `timeout` seconds; their errors are
    BenchErrors in plain words.
    """

    def __init__(
        self, profile: str | None = None, *, url: str | None = None, api_key: str | None = None
    ) -> None:
        """Begin to connect in the background."""
        try:
            chosen = _profile(profile, url, api_key)
            hide_key(chosen.api_key)
            self._store = Store(chosen, OwnerLoop.in_thread())
        except ConfigError as error:
            raise BenchError(Problem.of(error)) from None
        self._panels: WeakSet[Panel] = WeakSet()
        self._names = Names(self._store)
        self._maker = AgentMaker(self._store, self._names)
        self._document_calls = DocumentCalls(self._store, self._names, self._keep)
        attach = self._document_calls.attach
        self._agent_calls = AgentCalls(self._store, self._names, self._maker, attach)
        self._together = Together(self._store)
        self._demo: DemoPanel | None = None
        self.client = SyncClient(self._store)
        self._started = self._store.loop.run(self._store.start())
        atexit.register(self.close)
        display.register(type(self))

    @cached_property
    def aio(self) -> AsyncBench:
        """The bench's calls for `await`: `await bench.aio.ask(…)`."""
        return AsyncBench(self)

    # panels

    @cached_property
    def files(self) -> FilesPanel:
        """The Files panel."""
        return self._keep(FilesPanel(self._store))

    @cached_property
    def libraries(self) -> LibraryPanel:
        """The Libraries panel: a list of all libraries."""
        return self._keep(LibraryPanel(self._store))

    @cached_property
    def document(self) -> DocumentPanel:
        """The Document panel: the document that was last opened in another panel."""
        return self._keep(DocumentPanel(self._store))

    @cached_property
    def agents(self) -> AgentPanel:
        """The Agents panel: a list of all agents."""
        return self._keep(AgentPanel(self._store))

    @cached_property
    def activity(self) -> ActivityPanel:
        """The Activity panel."""
        return self._keep(ActivityPanel(self._store))

    @cached_property
    def evals(self) -> EvalPanel:
        """The Evals panel: runs test cases, and compares the stored runs."""
        return self._keep(EvalPanel(self._store))

    @cached_property
    def _chats(self) -> ChatPanel:
        return self._keep(ChatPanel(self._store))

    @cached_property
    def workbench(self) -> Workbench:
        """The whole workbench, as the bench itself shows it."""
        panels: dict[str, Panel] = {
            "Files": self.files,
            "Libraries": self.libraries,
            "Document": self.document,
            "Agents": self.agents,
            "Chat": self._chats,
            "Activity": self.activity,
        }
        return self._keep(Workbench(self._store, panels))

    @check_handle
    def library(
        self,
        library: str | Library,
        *,
        create: bool = False,
        height: int | None = None,
        layout: Layout | None = None,
    ) -> LibraryPanel:
        """Return a panel of one library, by name or id: documents, upload, search.

        Args:
            library: its name or id.
            create: creates a library of this name if there is none.
            height: the height of the panel in pixels; longer content scrolls inside.
            layout: the layout of the widget.
        """
        store, chosen = self._store, self._names.library(library, create=create)
        service = store.another_libraries()
        wait_for(self._store, service.select(chosen.id))
        wait_for(self._store, service.load())
        panel = LibraryPanel(store, service, **layout_options(height, layout))
        leave = self._together.join(service, rests=lambda: panel.rests)
        return self._keep(panel.call_on_close(leave))

    @check_handle
    @spell
    def agent(
        self,
        agent: str | Agent,
        *,
        create: bool = False,
        height: int | None = None,
        layout: Layout | None = None,
        **fields: Unpack[AgentKeywords],
    ) -> AgentPanel:
        """Return a panel of one agent: versions, differences, activation, editing.

        With `create`, running a cell again is safe: it creates the agent only if the name is new,
        and a next version only if one of the given fields differs.

        Args:
            agent: its name or id.
            create: creates the agent, or its next version, with the fields.
            height: the height of the panel in pixels; longer content scrolls inside.
            layout: the layout of the widget.
        """
        if fields and not create:
            raise TypeError(f"bench.agent takes {', '.join(fields)} with create=True.")
        store = self._store
        chosen = self._maker.ensure(agent, {**fields}) if create else self._names.agent(agent)
        service = store.another_agents()
        wait_for(self._store, service.select(chosen.id))
        wait_for(self._store, service.load())
        panel = AgentPanel(store, service, **layout_options(height, layout))
        leave = self._together.join(service, rests=lambda: panel.rests)
        return self._keep(panel.call_on_close(leave))

    @overload
    def chat(
        self,
        agent: Asked | None = None,
        *,
        versions: None = None,
        beside: None = None,
        height: int | None = None,
        layout: Layout | None = None,
    ) -> ChatPanel: ...

    @overload
    def chat(
        self,
        agent: Asked,
        *,
        versions: Sequence[int],
        beside: Sequence[Asked] | None = None,
        blind: bool = False,
        height: int | None = None,
        layout: Layout | None = None,
    ) -> ComparePanel: ...

    @overload
    def chat(
        self,
        agent: Asked,
        *,
        versions: None = None,
        beside: Sequence[Asked],
        blind: bool = False,
        height: int | None = None,
        layout: Layout | None = None,
    ) -> ComparePanel: ...

    @check_handle
    def chat(
        self,
        agent: Asked | None = None,
        *,
        versions: Sequence[int] | None = None,
        beside: Sequence[Asked] | None = None,
        blind: bool = False,
        height: int | None = None,
        layout: Layout | None = None,
    ) -> ChatPanel | ComparePanel:
        """Return a panel of a new conversation with an agent; without an agent, all saved
        conversations.

        With `versions` or `beside`, every question goes to two to four of them, side by side.

        Args:
            agent: its name or id, or a draft from `bench.draft`.
            versions: versions of the agent, in place of the active one.
            beside: other agents, each as a name, `(name, version)` or a draft.
            blind: hides the names from each question until the vote.
            height: the height of the panel in pixels; longer content scrolls inside.
            layout: the layout of the widget.
        """
        options = layout_options(height, layout)
        if agent is None:
            if versions is not None or beside is not None:
                raise TypeError("bench.chat() takes versions and others beside with an agent.")
            for name, value in options.items():
                setattr(self._chats, name, value)
            return self._chats
        sides = self._agent_calls.sides(agent, versions, beside or ())
        if versions is None and beside is None:
            service = self._store.another_chat()
            wait_for(self._store, begin_chat(service, sides[0]))
            return self._keep(ChatPanel(self._store, service, **options))
        if not 2 <= len(sides) <= MOST:
            raise TypeError(f"bench.chat() compares 2 to {MOST} versions or agents.")
        comparison = self._store.another_comparison()
        wait_for(self._store, comparison.begin(sides))
        if blind:
            wait_for(self._store, comparison.set_blind(True))
        return self._keep(ComparePanel(self._store, comparison, **options))

    # A demo's server runs on this machine, whatever the bench's profile.
    @partial(check_handle, waits=False)
    def demo(
        self,
        file: str | Path | None = None,
        *,
        height: int | None = None,
        layout: Layout | None = None,
    ) -> DemoPanel:
        """Return a panel that plays a demo, one step per press of F8.

        It plays on its own server, with the model of this machine's server. Everything is removed
        when the demo ends or the panel is closed. A running demo of this bench ends first.

        Args:
            file: the demo's YAML file, by default the shipped demo.
            height: the height of the panel in pixels; longer content scrolls inside.
            layout: the layout of the widget.
        """
        path = samples.demo() if file is None else Path(file)
        try:
            read = load_demo(path)
        except FileError as error:
            raise BenchError(Problem.of(error)) from None
        if self._demo is not None:
            self._demo.close()
        store = Store(own_profile(), self._store.loop)
        self._demo = self._keep(
            DemoPanel(store, read, path.parent, **layout_options(height, layout))
        )
        return self._demo

    def tool(self, function: F) -> F:
        """Register a function that agents may call; a decorator.

            @bench.tool
            def weather(city: str) -> str:
                "The weather in a city."

        The model is told its name, parameters and docstring. It runs in its own thread.
        """
        self._store.tools.add(function)
        return function

    upload = _delegate("_document_calls", DocumentCalls.upload)
    ocr = _delegate("_document_calls", DocumentCalls.ocr)
    create_library = _delegate("_document_calls", DocumentCalls.create_library)
    add = _delegate("_document_calls", DocumentCalls.add)
    sync = _delegate("_document_calls", DocumentCalls.sync)
    search = _delegate("_document_calls", DocumentCalls.search)
    wait_ready = _delegate("_document_calls", DocumentCalls.wait_ready)
    delete = _delegate("_document_calls", DocumentCalls.delete)

    create_agent = _delegate("_agent_calls", AgentCalls.create_agent)
    edit_agent = _delegate("_agent_calls", AgentCalls.edit_agent)
    draft = _delegate("_agent_calls", AgentCalls.draft)
    plan = _delegate("_agent_calls", AgentCalls.plan)
    ask = _delegate("_agent_calls", AgentCalls.ask)
    evaluate = _delegate("_agent_calls", AgentCalls.evaluate)
    eval_run = _delegate("_agent_calls", AgentCalls.eval_run)
    votes = _delegate("_agent_calls", AgentCalls.votes)

    @check_handle
    def trash(self, *, timeout: float | None = None) -> DeletedItems:
        """Return the deleted items that can be restored, last deleted first."""
        wait_for(self._store, self._store.trash.load(), timeout)
        return DeletedItems(self._store.trash.slice.value)

    @check_handle
    def restore(self, *items: str, timeout: float | None = None) -> int:
        """Restore deleted items by name or id; return their number."""
        there = self.trash(timeout=timeout)
        ids = [there.find(item).id for item in items]
        return wait_for(self._store, self._store.trash.restore(ids), timeout)

    @check_handle
    def sample(self, *, timeout: float | None = None) -> Answer:
        """Play the shipped sample: read it, search it in a library, ask an agent about it."""
        wait_for(self._store, self._store.sample.play(), timeout)
        turn = self._store.sample.slice.value.answer
        assert turn is not None, "it was played to its end"
        return as_answer(self._store, AGENT, turn)

    @property
    def unfinished(self) -> UnfinishedWork:
        """The uploads, OCR runs and syncs that an earlier kernel left, to resume or drop."""
        wait_for(self._store, self._started)
        return UnfinishedWork(self._store)

    def close(self) -> None:
        """Close the panels and the connection, and stop all running work."""
        atexit.unregister(self.close)
        for panel in self._panels:
            panel.close()
        # A closed bench has no loop to close it on.
        with suppress(Cancelled):
            self._store.loop.run(self._store.close()).result()
        self._store.loop.close()

    def _keep(self, panel: P) -> P:
        self._panels.add(panel)
        return panel

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._store.loop.closed:
            return "<Bench, closed>"
        parts = (header(self._store.session.slice.value), *self._store.unfinished.left)
        return f"<Bench {' · '.join(parts)}>"

    def _ipython_display_(self) -> None:
        self.workbench._ipython_display_()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[Json, Json] | None:
        return self.workbench._repr_mimebundle_(**kwargs)


def _profile(name: str | None, url: str | None, api_key: str | None) -> Profile:
    if url is None:
        if api_key is not None:
            raise TypeError("carrel.connect takes api_key with url; a profile has its own key.")
        return load_profile(name)
    if name is not None:
        raise TypeError("carrel.connect takes a profile or a url, not both.")
    return profile_at(url, api_key)
