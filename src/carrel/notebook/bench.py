"""The bench, the result of `carrel.connect()`: panels and plain calls over one shared state."""

import atexit
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypedDict, TypeVar, Unpack, overload
from weakref import WeakSet

from pydantic import ValidationError

from carrel.config import ConfigError, load_profile
from carrel.notebook import display
from carrel.notebook.activity import ActivityPanel
from carrel.notebook.agent import AgentPanel
from carrel.notebook.agent_fields import AgentFields
from carrel.notebook.calls import as_answer, checked, done, last_answer
from carrel.notebook.chat import ChatPanel
from carrel.notebook.client import SyncClient
from carrel.notebook.compare import ComparePanel
from carrel.notebook.document import DocumentPanel
from carrel.notebook.errors import BenchError
from carrel.notebook.files import FilesPanel
from carrel.notebook.library import LibraryPanel
from carrel.notebook.names import named
from carrel.notebook.panel import Json, Panel, no_option
from carrel.notebook.results import Answer, Reading, Synced
from carrel.notebook.together import Together
from carrel.notebook.waits import reached, read
from carrel.notebook.workbench import Workbench
from carrel.store.agents.drafts import Draft, complaints
from carrel.store.cache.copies import DocumentSource
from carrel.store.chat.service import ChatService
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.documents.service import LARGE
from carrel.store.libraries.phase import document_phase
from carrel.store.sample.service import AGENT
from carrel.store.session.words import header
from carrel.store.store import Store
from carrel.wire.agents import Agent
from carrel.wire.documents import Document
from carrel.wire.files import File
from carrel.wire.libraries import Library

T = TypeVar("T")

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound=Panel)


class AgentOptions(TypedDict, total=False):
    """The fields of an agent. `libraries` are the names or ids of the libraries to search;
    `message` describes the version.
    """

    model: str
    description: str
    instructions: str
    temperature: float | None
    max_tokens: int | None
    message: str
    libraries: Sequence[str | Library]


class Bench:
    """The workbench in a notebook.

    Shown in a cell, it is the whole workbench with six tabs; `files`, `libraries`, `document`,
    `agents` and `activity` are one panel each. Calls wait for their result, at most `timeout`
    seconds; an error is a BenchError in plain words.
    """

    def __init__(self, profile: str | None = None) -> None:
        """Starts to connect in the background."""
        try:
            self._store = Store(load_profile(profile), OwnerLoop.in_thread())
        except ConfigError as error:
            raise BenchError(Problem.of(error)) from None
        self._together = Together(self._store)
        self._panels: WeakSet[Panel] = WeakSet()
        self.client = SyncClient(self._store)
        self._store.loop.run(self._store.start())
        atexit.register(self.close)
        display.register()

    # panels

    @cached_property
    def files(self) -> FilesPanel:
        """The Files panel."""
        return self._kept(FilesPanel(self._store))

    @cached_property
    def libraries(self) -> LibraryPanel:
        """The Libraries panel: a list of all libraries."""
        return self._kept(LibraryPanel(self._store))

    @cached_property
    def document(self) -> DocumentPanel:
        """The Document panel: the document last opened in another panel."""
        return self._kept(DocumentPanel(self._store))

    @cached_property
    def agents(self) -> AgentPanel:
        """The Agents panel: a list of all agents."""
        return self._kept(AgentPanel(self._store))

    @cached_property
    def activity(self) -> ActivityPanel:
        """The Activity panel."""
        return self._kept(ActivityPanel(self._store))

    @cached_property
    def _chats(self) -> ChatPanel:
        return self._kept(ChatPanel(self._store))

    @cached_property
    def _workbench(self) -> Workbench:
        panels: dict[str, Panel] = {
            "Files": self.files,
            "Libraries": self.libraries,
            "Document": self.document,
            "Agents": self.agents,
            "Chat": self._chats,
            "Activity": self.activity,
        }
        return self._kept(Workbench(self._store, panels))

    @checked
    def library(self, library: str | Library, **options: Any) -> LibraryPanel:
        """A panel of one library, by name or id: documents, upload, search."""
        store, chosen = self._store, self._library(library)
        service = store.another_libraries()
        done(self._store, service.select(chosen.id))
        done(self._store, service.load())
        panel = LibraryPanel(store, service, **options)
        leave = self._together.join(service, rests=lambda: panel.rests)
        return self._kept(panel.at_end(leave))

    @checked
    def agent(self, agent: str | Agent, **options: Any) -> AgentPanel:
        """A panel of one agent, by name or id: versions, differences, activation, editing."""
        store, chosen = self._store, self._agent(agent)
        service = store.another_agents()
        done(self._store, service.select(chosen.id))
        done(self._store, service.load())
        panel = AgentPanel(store, service, **options)
        leave = self._together.join(service, rests=lambda: panel.rests)
        return self._kept(panel.at_end(leave))

    @overload
    def chat(
        self, agent: str | Agent | None = None, *, versions: None = None, **options: Any
    ) -> ChatPanel: ...

    @overload
    def chat(
        self, agent: str | Agent, *, versions: Sequence[int], **options: Any
    ) -> ComparePanel: ...

    @checked
    def chat(
        self,
        agent: str | Agent | None = None,
        *,
        versions: Sequence[int] | None = None,
        **options: Any,
    ) -> ChatPanel | ComparePanel:
        """A panel of a new conversation with an agent; without an agent, all saved conversations.

        With `versions`, every question goes to each of them, side by side.
        """
        if agent is None:
            if versions is not None or options:
                raise TypeError("bench.chat() takes versions, height and layout with an agent.")
            return self._chats
        chosen = self._agent(agent)
        if versions is None:
            return self._kept(ChatPanel(self._store, self._begun(chosen), **options))
        services = [self._begun(chosen, version) for version in versions]
        return self._kept(ComparePanel(self._store, services, **options))

    def _begun(
        self, agent: Agent, version: int | None = None, *, saved: bool = True
    ) -> ChatService:
        """A chat of its own with an agent."""
        service = self._store.another_chat(saved=saved)
        done(self._store, service.new(agent.id, version))
        return service

    def tool(self, function: F) -> F:
        """Registers a function that agents may call; a decorator.

            @bench.tool
            def weather(city: str) -> str:
                "The weather in a city."

        Its name, parameters and docstring are told to the model. It runs in a thread of its own.
        """
        self._store.tools.add(function)
        return function

    def _kept(self, panel: P) -> P:
        self._panels.add(panel)
        return panel

    # calls

    @checked
    def upload(self, path: str | Path, *, timeout: float | None = None) -> File:
        """Uploads a file."""
        return done(self._store, self._store.files.upload(Path(path)), timeout)

    @checked
    def ocr(
        self,
        document: str | Path | File,
        *,
        max_pages: int = LARGE,
        timeout: float | None = None,
    ) -> Reading:
        """Reads a document: a path, which is uploaded first, or a file of the service.

        A hosted service bills pages: more than `max_pages` unread pages raise an error that
        gives their number.
        """
        file = document if isinstance(document, File) else self.upload(document, timeout=timeout)
        service = self._store.another_document()
        source = DocumentSource("file", file.id, file.filename)
        pages = self._run(read(self._store, service, source, max_pages), timeout)
        return Reading(
            file.filename,
            pages,
            lambda **options: self._kept(DocumentPanel(self._store, service, **options)),
        )

    @checked
    def create_library(self, name: str, description: str | None = None) -> Library:
        """Creates a library."""
        return done(self._store, self._store.libraries.create(name, description))

    @checked
    def add(
        self,
        library: str | Library,
        document: str | Path | File,
        *,
        wait: bool = True,
        timeout: float | None = None,
    ) -> Document:
        """Adds a path or a file to a library and waits until it is searchable."""
        libraries, library_id = self._store.libraries, self._library(library).id
        added = done(
            self._store,
            libraries.add_file(library_id, document.id)
            if isinstance(document, File)
            else libraries.upload(library_id, Path(document)),
            timeout,
        )
        return self.wait_ready(added, timeout=timeout) if wait else added

    @checked
    def sync(
        self,
        library: str | Library,
        folder: str | Path,
        *,
        delete: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_delete: int | None = None,
        wait: bool = True,
        timeout: float | None = None,
    ) -> Synced:
        """Brings a library in step with a folder that the kernel can read.

        Waits until every document of the library is processed; the library shows those that
        failed. `delete` deletes the documents of deleted files. `include` and `exclude` are
        patterns as in `.gitignore`. More than `max_delete` deletions, by default half of the
        documents that the folder brought, raise an error before any change.
        """
        library_id, path = self._library(library).id, Path(folder).expanduser().resolve()
        sync = self._store.sync
        handle = sync.sync(library_id, path, delete, include, exclude, max_delete=max_delete)
        done(self._store, handle, timeout)
        if wait:
            done(self._store, self._store.libraries.wait_all_processed(library_id), timeout)
        (state,) = (each for each in sync.slice.value.of(library_id) if each.path == path)
        assert state.summary is not None, "it has ended"
        return Synced(path, state.summary)

    @checked
    def wait_ready(self, document: Document, *, timeout: float | None = None) -> Document:
        """Waits until a library's document is processed and returns it."""
        ready = done(self._store, self._store.libraries.wait_processed(document), timeout)
        if document_phase(ready) == "failed":
            reason = ready.error or "The service gives no reason."
            raise BenchError(Problem(f"{ready.name} was not processed", reason))
        return ready

    @checked
    def create_agent(self, name: str, **fields: Unpack[AgentOptions]) -> Agent:
        """Creates an agent. The default model is the service's first."""
        self._run(reached(self._store))
        models = self._store.session.slice.value.models
        blank = Draft.blank(models[0] if models else "").changed(name=name)
        with _in_words():
            made = self._changed(blank, **fields).create()
        return done(self._store, self._store.agents.create(made))

    @checked
    def edit_agent(self, agent: str | Agent, **fields: Unpack[AgentOptions]) -> Agent:
        """Creates the next version of an agent with these fields changed."""
        old = self._agent(agent)
        with _in_words():
            change = self._changed(Draft.of(old), **fields).update(old)
        if change is None:
            raise BenchError(
                Problem("Nothing changed", "The agent is as it was.", "Give a field that differs.")
            )
        return done(self._store, self._store.agents.update(old.id, change))

    @checked
    def ask(
        self,
        agent: str | Agent,
        text: str,
        *,
        version: int | None = None,
        timeout: float | None = None,
    ) -> Answer:
        """Asks one question of the active version, or of another, and returns the answer.

        Registered functions are called when the agent asks for them.
        """
        asked = self._agent(agent)
        service = self._begun(asked, version, saved=False)
        try:
            done(self._store, service.send(text), timeout)
            return last_answer(service.slice.value)
        finally:
            self._store.let_go(service)

    @checked
    def sample(self, *, timeout: float | None = None) -> Answer:
        """Plays the shipped sample: reads it, searches it in a library, asks an agent about it."""
        done(self._store, self._store.sample.play(), timeout)
        turn = self._store.sample.slice.value.answer
        assert turn is not None, "it was played to its end"
        return as_answer(AGENT, turn)

    def close(self) -> None:
        """Closes the panels and the connection and stops everything that runs."""
        atexit.unregister(self.close)
        for panel in self._panels:
            panel.close()
        self._store.loop.run(self._store.close()).result()
        self._store.loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._store.loop.closed:
            return "<Bench, closed>"
        return f"<Bench {header(self._store.session.slice.value)}>"

    def _ipython_display_(self) -> None:
        self._workbench._ipython_display_()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[Json, Json] | None:
        return self._workbench._repr_mimebundle_(**kwargs)

    # waiting for results

    def _run(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        return done(self._store, self._store.loop.run(coroutine), timeout)

    def _library(self, library: str | Library) -> Library:
        if isinstance(library, Library):
            return library
        return named("library", library, done(self._store, self._store.libraries.every()))

    def _agent(self, agent: str | Agent) -> Agent:
        if isinstance(agent, Agent):
            return agent
        return named("agent", agent, done(self._store, self._store.agents.every()))

    def _changed(self, draft: Draft, **options: Unpack[AgentOptions]) -> Draft:
        changes: dict[str, Any] = {**options}
        for name in changes.keys() - AgentOptions.__annotations__.keys():
            raise TypeError(no_option("An agent", name, AgentOptions.__annotations__))
        if "libraries" in options:
            changes["libraries"] = [self._library(one).id for one in options["libraries"]]
        known = AgentFields.of(draft).model_dump()
        try:
            fields = AgentFields.model_validate({**known, **changes})
        except ValidationError as error:
            wrong = " ".join(complaints(error))
            raise BenchError(Problem("An agent cannot be like this", wrong)) from None
        return fields.onto(draft)


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except ProblemError as error:
        raise BenchError(error.problem) from None
