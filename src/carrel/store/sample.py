"""Plays the shipped sample: reads a page, fills a library, and answers a question."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from carrel import samples
from carrel.store.activity.uploads import UploadSource
from carrel.store.agents.service import AgentsService
from carrel.store.cache.copies import DocumentSource
from carrel.store.chat.conversation import Turn
from carrel.store.chat.service import ChatService
from carrel.store.core.actions.action import Policy, Service, action
from carrel.store.core.actions.watch import until
from carrel.store.core.formatting import counted
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.documents.service import DocumentsService
from carrel.store.files.service import FilesService
from carrel.store.libraries.phase import check_processed
from carrel.store.libraries.service import LibrariesService
from carrel.store.shared import Area, Shared

if TYPE_CHECKING:
    from carrel.wire.files import File
    from carrel.wire.generation.agents import Agent
    from carrel.wire.libraries import Library

T = TypeVar("T")

LIBRARY = "Sample"
AGENT = "Sample guide"
INSTRUCTIONS = "Answer in one short sentence, from the passages of the library."

ANSWER = 120
"""Token limit of the answer: small models may not stop by themselves."""

ELSEWHERE = Problem("The sample was stopped", "Something else was opened meanwhile.")


StepStatus = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class SampleStep:
    """One step of the sample: its action, its progress and its result."""

    words: str
    status: StepStatus = "waiting"
    result: str = ""


STEPS = (
    SampleStep("Upload the sample, a guide of two pages"),
    SampleStep("Read its pages"),
    SampleStep("Put it into a library, to be searched"),
    SampleStep("Ask an agent that searches the library"),
)


@dataclass(frozen=True, slots=True)
class SampleState:
    """The steps, and the answer with its source once there is one."""

    steps: tuple[SampleStep, ...] = STEPS
    answer: Turn | None = None
    running: bool = False
    error: Problem | None = None

    @property
    def done(self) -> bool:
        """Whether the sample was played to its end."""
        return self.answer is not None and not self.running


class SampleService(Area, Service[SampleState]):
    """Acts like a user through the areas' services, so that each area shows it.

    Resources of an earlier run are used again.
    """

    def __init__(
        self,
        shared: Shared,
        files: FilesService,
        documents: DocumentsService,
        libraries: LibrariesService,
        agents: AgentsService,
        chat: ChatService,
    ) -> None:
        super().__init__(shared, SampleState())
        self._files = files
        self._documents = documents
        self._libraries = libraries
        self._agents = agents
        self._chat = chat

    @action(Policy.SINGLE, changes=True)
    async def play(self) -> None:
        """Play the sample, step by step."""
        self.slice.put(SampleState(running=True))
        try:
            file = await self._step(0, self._upload, lambda file: file.filename)
            pages = await self._step(1, lambda: self._read(file), "{} pages".format)
            assert pages
            library = await self._step(2, self._fill, lambda library: f"ready in “{library.name}”")
            answer = await self._step(
                3,
                lambda: self._ask(library),
                lambda turn: f"{counted(len(turn.sources), 'passage')} found",
            )
            self.slice.set(answer=answer)
        finally:
            self.slice.set(running=False)

    @action(Policy.QUEUE)
    async def stop(self) -> None:
        """Stop the sample."""
        self._lane("play").cancel()

    async def _step(
        self, number: int, do: Callable[[], Coroutine[Any, Any, T]], words: Callable[[T], str]
    ) -> T:
        self._put(number, status="running")
        try:
            result = await do()
        except BaseException:
            self._put(number, status="failed")
            raise
        self._put(number, status="done", result=words(result))
        return result

    def _put(self, number: int, **fields: Any) -> None:
        steps = self.slice.value.steps
        self.slice.set(
            steps=tuple(
                replace(step, **fields) if at == number else step for at, step in enumerate(steps)
            )
        )

    async def _upload(self) -> File:
        client = await self._session.client()
        listed = await client.files.list(search=samples.NAME)
        for file in listed.data:
            if (file.filename, file.bytes) == (samples.NAME, len(samples.content())):
                return file
        return await self._files.upload(_source()).linked()

    async def _read(self, file: File) -> int:
        source = DocumentSource("file", file.id, file.filename)
        await self._documents.open(source).linked()
        state = await until(
            self._documents.slice,
            lambda state: state.source != source or state.complete or state.error is not None,
        )
        if state.source != source:
            raise ProblemError(ELSEWHERE)
        if state.error is not None:
            raise ProblemError(state.error)
        return state.read

    async def _fill(self) -> Library:
        await self._libraries.load().linked()
        known = self._libraries.slice.value.items
        library = next((each for each in known if each.name == LIBRARY), None)
        if library is None:
            library = await self._libraries.create(
                LIBRARY, "The sample of the workbench; delete it any time.", if_absent=True
            ).linked()
        document = await self._libraries.upload(library.id, _source()).linked()
        check_processed(await self._libraries.wait_processed(document).linked())
        return library

    async def _ask(self, library: Library) -> Turn:
        agent = await self._agent(library)
        await self._chat.new(agent.id).linked()
        session_id = self._chat.slice.value.session_id
        await self._chat.send(samples.QUESTION).linked()
        if self._chat.slice.value.session_id != session_id:
            raise ProblemError(ELSEWHERE)
        turn = self._chat.slice.value.turns[-1]
        if turn.status != "done":
            raise ProblemError(self._chat.slice.value.error or Problem("No answer came", ""))
        return turn

    async def _agent(self, library: Library) -> Agent:
        from carrel.wire.generation.agents import AgentCreate, CompletionArgs
        from carrel.wire.generation.tools import LibraryTool

        client = await self._session.client()
        for agent in await client.agents.list(name=AGENT):
            if any(library.id in (tool.get("library_ids") or ()) for tool in agent.tools):
                return agent
        models = self._session.slice.value.models
        if not models:
            raise ProblemError(
                "There is no model here", "An agent needs one.", "Connect a model first."
            )
        made = AgentCreate(
            name=AGENT,
            model=models[0],
            instructions=INSTRUCTIONS,
            completion_args=CompletionArgs(temperature=0, max_tokens=ANSWER),
            tools=[LibraryTool(type="document_library", library_ids=[library.id])],
        )
        return await self._agents.create(made).linked()


def _source() -> UploadSource:
    from carrel.store.files.incoming import as_source  # loads httpx

    return as_source(samples.content(), samples.NAME)
