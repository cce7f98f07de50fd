"""Chat: questions to an agent, answers as they are written."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from carrel.store.chat import attachments
from carrel.store.chat.answer import GrowingAnswer
from carrel.store.chat.asking import Asked
from carrel.store.chat.conversation import Attachment, Conversation, Turn
from carrel.store.chat.keeping import HISTORY, KeptChats
from carrel.store.chat.messages import messages
from carrel.store.chat.parameters import Parameters
from carrel.store.chat.sessions import SavedSessions, Session
from carrel.store.chat.state import ChatState, Phase
from carrel.store.chat.tools import Toolbox
from carrel.store.chat.transcript import Format, export
from carrel.store.core.action import Policy, action, instant
from carrel.store.core.handle import Handle
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.files.service import FilesService, UploadSource
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.agents import AgentCreate
    from carrel.wire.completions import CompletionRequest, Progress

ROUNDS = 8
"""How often in a row functions of this program are called before a person has to go on."""

NO_AGENT = Problem("No agent chosen", "", "Choose the agent to chat with first.")
NO_QUESTION = Problem("Nothing was asked yet", "", "Ask something first.")
OPENING = Problem("Not sent yet", "The chat is still being opened.", "Send again in a moment.")
UPLOADING = Problem("Not sent yet", "A file is still being uploaded.", "Send again in a moment.")
WAITS = Problem("The agent waits for a result", "", "Answer its call first, or try again.")


class ChatService(KeptChats):
    """One open session and the list of the saved ones; `tools` are called as agents ask for it.

    With `saved` false its sessions are not kept: it stands beside another chat to compare.
    """

    def __init__(
        self,
        loop: OwnerLoop,
        session: SessionService,
        files: FilesService,
        tools: Toolbox,
        kept: SavedSessions,
        *,
        saved: bool = True,
    ) -> None:
        super().__init__(loop, session, kept, keeps=saved)
        self._files = files
        self._uploads: Counter[str] = Counter()  # by the session they are for
        self._asked: Asked | None = None
        self.tools = tools

    # Sessions

    @action(Policy.LATEST, lane="open")
    async def new(self, agent_id: str, version: int | None = None) -> None:
        """Begins a session with an agent, or with one of its versions.

        It is saved with its first question.
        """
        await self._end_answer()
        self._open(Session(uuid.uuid4().hex, agent_id, "", time.time(), pinned=version))
        with self._loading():
            await self._load_agent()

    @action(Policy.LATEST, lane="open")
    async def try_draft(self, draft: AgentCreate, agent_id: str = "") -> None:
        """Begins a session with an agent that is not saved; `agent_id` is the one it may become.

        Each answer comes from an agent made for it and removed after it (see `asking`).
        """
        await self._end_answer()
        self._open(Session(uuid.uuid4().hex, agent_id, draft.name, time.time()))
        self._asked = Asked(draft, active=False)
        self.slice.set(draft=True, model=draft.model, context_length=self._context(draft.model))

    @action(Policy.LATEST, lane="open")
    async def choose(self, agent_id: str, version: int | None = None) -> None:
        """Has another agent, or another version, answer from here on in the same session."""
        await self._end_answer()
        self.slice.set(agent_id=agent_id, pinned=version, draft=False)
        with self._loading():
            await self._load_agent()

    @action(Policy.LATEST, lane="open")
    async def leave(self) -> None:
        """Closes the session: nothing is open then."""
        await self._end_answer()
        self._close()

    @action(Policy.LATEST, lane="open")
    async def resume(self, session_id: str) -> None:
        """Opens a saved session, to read it and to go on."""
        await self._end_answer()
        with self._loading():
            try:
                session = await asyncio.to_thread(self._saved.load, session_id)
            except (OSError, ValueError):
                raise ProblemError(
                    Problem("This session cannot be opened", "Its file is missing or damaged.")
                ) from None
            self._open(session)
            await self._load_agent()

    @action(Policy.QUEUE)
    async def delete_session(self, session_id: str) -> None:
        """Deletes a saved session; when it is the open one, nothing is open then."""
        # First: what is saved of it from here on is left out.
        await asyncio.to_thread(self._saved.delete, session_id)
        if session_id == self.slice.value.session_id:
            await self._end_answer()
            self._close()
        rest = (one for one in self.slice.value.sessions if one.id != session_id)
        self.slice.set(sessions=tuple(rest))
        await self.reload()

    @instant
    def set_parameters(self, parameters: Parameters) -> None:
        """Has the next answers of this session drawn in another way."""
        self.slice.set(parameters=parameters)

    def export(self, form: Format) -> str:
        """The open session as Markdown, as it is shown, or as JSON with every variant."""
        return export(self._session_now(), form)

    # Questions

    @action(Policy.SINGLE)
    def send(self, text: str) -> Coroutine[Any, Any, None]:
        """Sends a question with what is attached; the answer grows in the slice.

        Names after an `@` are attached where the agent's libraries or the files have them.
        On the owner loop the handle has failed already if the question was not accepted.
        """
        state = self.slice.value
        self._check_open()
        conversation = state.conversation
        if state.editing is not None:
            conversation = conversation.before(state.editing)
        if conversation.open_calls():
            raise ProblemError(WAITS)
        if state.uploading:
            raise ProblemError(UPLOADING)
        conversation = conversation.add(Turn("user", text, attachments=state.attached))
        history = (*(one for one in state.history if one != text), text)[-HISTORY:]
        self.slice.set(conversation=conversation, attached=(), editing=None, history=history)
        return self._answer(conversation)

    @action(Policy.SINGLE, lane="send")
    def retry(self) -> Coroutine[Any, Any, None]:
        """Has the last question answered again; the answer before stays as a variant."""
        conversation = self.slice.value.conversation
        turns = conversation.turns
        self._check_open()
        if not turns:
            raise ProblemError(NO_QUESTION)
        if turns[-1].role == "assistant" or conversation.open_calls():
            answers = [place for place, turn in enumerate(turns) if turn.role == "assistant"]
            conversation = conversation.before(answers[-1])
        return self._answer(conversation)

    @action(Policy.SINGLE, lane="send")
    def answer_call(self, call_id: str, result: str) -> Coroutine[Any, Any, None]:
        """Gives the result of a call by hand. With the last one the agent goes on.

        On the owner loop the handle has failed already if the result was not accepted.
        """
        self._check_open()
        conversation = self.slice.value.conversation
        if call_id not in {call.id for call in conversation.open_calls()}:
            raise ProblemError(Problem("Nothing waits for this result", ""))
        conversation = conversation.add(Turn("tool", result, call_id=call_id))
        self.slice.set(conversation=conversation)
        return self._save() if conversation.open_calls() else self._answer(conversation)

    @instant
    def edit(self, place: int | None) -> None:
        """Takes up the question at a place of the path to send it changed; None leaves it."""
        state = self.slice.value
        if place is None:
            self.slice.set(editing=None, attached=())
        elif not self._lane("send").busy and state.turns[place].role == "user":
            self.slice.set(editing=place, attached=state.turns[place].attachments)

    @action(Policy.QUEUE)
    async def choose_variant(self, place: int, number: int) -> None:
        """Shows, and sends on, another variant of the turn at a place; numbers from 1."""
        state = self.slice.value
        if self._lane("send").busy:
            return
        if 1 <= number <= state.conversation.variant(place)[1]:
            self.slice.set(conversation=state.conversation.choose(place, number), editing=None)
            await self._save()

    @instant
    def stop(self) -> None:
        """Stops the answer. What is written of it stays."""
        self._lane("send").cancel()

    # What goes with the next question

    def attach(self, source: UploadSource) -> Handle[None]:
        """Uploads a file, to go with the next question of the session that is open now."""
        session_id = self.slice.value.session_id or ""
        self._loop.call(lambda: self._uploading(session_id, 1))
        handle = self._attach_upload(session_id, source)
        handle.add_done_callback(lambda _: self._uploading(session_id, -1))
        return handle

    @action(Policy.BESIDE)
    async def _attach_upload(self, session_id: str, source: UploadSource) -> None:
        handle = self._files.upload(source)
        file = await handle
        if handle.error is not None:
            raise ProblemError(handle.error)
        if file is not None and session_id == self.slice.value.session_id:
            self._attach(Attachment("file", file.id, file.filename))

    def _uploading(self, session_id: str, more: int) -> None:
        self._uploads[session_id] += more
        if session_id == (self.slice.value.session_id or ""):
            self.slice.set(uploading=self._uploads[session_id])

    @instant
    def attach_known(self, attachment: Attachment) -> None:
        """Has a file or document of the service go with the next question."""
        self._attach(attachment)

    @instant
    def detach(self, attachment: Attachment) -> None:
        """Takes something away again."""
        left = (one for one in self.slice.value.attached if one != attachment)
        self.slice.set(attached=tuple(left))

    @action(Policy.LATEST)
    async def names_like(self, text: str) -> tuple[Attachment, ...]:
        """What could be attached whose name contains `text`, a few at most."""
        client = await self._session.client()
        return await attachments.names_like(client, text, self._library_ids())

    def _attach(self, attachment: Attachment) -> None:
        attached = self.slice.value.attached
        if attachment not in attached:
            self.slice.set(attached=(*attached, attachment))

    # Answering

    async def _answer(self, conversation: Conversation) -> None:
        """Has the last turn answered, and goes on as long as functions of ours are called."""
        try:
            for _ in range(ROUNDS):
                await self._write(conversation)
                if not await self._call_functions():
                    break
                conversation = self.slice.value.conversation
        finally:
            self.slice.set(phase="idle", started=None)
            # Shielded: a stopped answer is saved too.
            await asyncio.shield(asyncio.ensure_future(self._save()))

    async def _write(self, conversation: Conversation) -> None:
        """Streams an answer to the last turn."""
        state = self.slice.value
        begun = Turn("assistant", "", "writing", version=state.version)
        answer = GrowingAnswer(self._grown, begun)
        self.slice.set(
            conversation=conversation.add(begun),
            phase="connecting",
            step=None,
            started=time.time(),
            error=None,
        )
        from carrel.client.errors import Unreachable

        status: Literal["done", "stopped", "failed", "lost"] = "failed"
        try:
            await self._save()
            client = await self._session.client()
            asked = await self._who_is_asked()
            answer.trial = asked.needs_trial(state.parameters)
            if answer.trial:
                self._check_allowed()
            answer.turn = replace(
                answer.turn, version=asked.version, searches=bool(asked.library_ids)
            )
            await self._find_mentions(client)
            request = await self._request(client, asked)
            self.slice.set(phase="waiting")
            async with asked.answering(client, state.parameters) as agent_id:
                request = request.model_copy(update={"agent_id": agent_id})
                async with client.completions.stream(request, self._stepped) as chunks:
                    async for chunk in chunks:
                        answer.take(chunk)
            status = "done"
        except asyncio.CancelledError:
            status = "stopped"
            raise
        except Unreachable:
            status = "lost"
            raise
        finally:
            answer.end(status)

    def _stepped(self, progress: Progress) -> None:
        """Takes in the service's step before the first word."""
        self.slice.set(step=progress)

    def _grown(self, turn: Turn) -> None:
        """Puts the answer as it is now into the slice."""
        state = self.slice.value
        phase: Phase = "writing" if turn.text and turn.status == "writing" else state.phase
        version = state.version if turn.version is None else turn.version
        conversation = state.conversation.with_turn(-1, turn)
        self.slice.set(conversation=conversation, phase=phase, version=version)

    async def _call_functions(self) -> bool:
        """Calls the functions of ours that the answer asks for; whether every call is answered."""
        called = False
        for call in self.slice.value.conversation.open_calls():
            if call.name in self.tools:
                called = True
                self.slice.set(phase="calling")
                result = Turn("tool", await self.tools.result(call), call_id=call.id)
                self.slice.set(conversation=self.slice.value.conversation.add(result))
        return called and not self.slice.value.conversation.open_calls()

    async def _find_mentions(self, client: Client) -> None:
        """Attaches what the last question names."""
        turns = self.slice.value.turns
        question = turns[-2]
        if question.role != "user":
            return
        found = list(question.attachments)
        for name in attachments.mentions(question.text):
            self.slice.set(phase="attaching")
            if any(one.name == name for one in found):
                continue
            path = attachments.local_path(name)
            if path is not None:
                self._check_allowed()
                file = await client.files.upload(path)
                found.append(Attachment("file", file.id, file.filename))
            elif one := await attachments.named(client, name, self._library_ids()):
                found.append(one)
        question = replace(question, attachments=tuple(dict.fromkeys(found)))
        self.slice.set(conversation=self.slice.value.conversation.with_turn(-2, question))

    async def _request(self, client: Client, asked: Asked) -> CompletionRequest:
        from carrel.wire.completions import CompletionRequest

        state = self.slice.value
        *before, _ = state.turns
        # Who has to call a function with every answer would never come to one.
        has_called = asked.must_call and before[-1].role == "tool"
        return CompletionRequest(
            agent_id="",
            messages=await messages(client, before),
            tools=self.tools.offered(asked.functions) or None,
            tool_choice="auto" if has_called else None,
            **state.parameters.request(),
        )

    def _check_open(self) -> None:
        if self._lane("open").busy:
            raise ProblemError(OPENING)
        if self.slice.value.agent_id is None:
            raise ProblemError(NO_AGENT)

    def _library_ids(self) -> tuple[str, ...]:
        return self._asked.library_ids if self._asked else ()

    def _close(self) -> None:
        self._asked = None
        state = self.slice.value
        self.slice.put(
            ChatState(sessions=state.sessions, search=state.search, history=state.history)
        )

    def _open(self, session: Session) -> None:
        self._asked, self._kept = None, session
        state = self.slice.value
        self.slice.put(
            ChatState(
                session_id=session.id,
                agent_id=session.agent_id,
                agent_name=session.agent_name,
                pinned=session.pinned,
                parameters=session.parameters,
                conversation=session.conversation,
                uploading=self._uploads[session.id],
                sessions=state.sessions,
                search=state.search,
                history=state.history,
            )
        )

    async def _who_is_asked(self) -> Asked:
        # Which version is active may have changed; only then is a pinned one another.
        if self._asked is None or self.slice.value.pinned is not None:
            return await self._load_agent()
        return self._asked

    async def _load_agent(self) -> Asked:
        """Loads who is asked: the pinned version of the agent, or the active one."""
        state = self.slice.value
        client = await self._session.client()
        agent = active = await client.agents.get(state.agent_id or "")
        if state.pinned is not None and state.pinned != active.version:
            agent = await client.agents.version(active.id, state.pinned)
        self._asked = Asked(agent, active=agent is active)
        self.slice.set(
            agent_name=active.name,
            model=agent.model,
            version=agent.version,
            versions=tuple(sorted(active.versions, reverse=True)),
            context_length=self._context(agent.model),
        )
        return self._asked

    def _context(self, model: str) -> int | None:
        card = self._session.card(model)
        return card.max_context_length if card else None

    async def _end_answer(self) -> None:
        """Stops the answer, and waits until its last word is in the slice and on disk."""
        await asyncio.gather(*self._lane("send").cancel(), return_exceptions=True)
        await self._save_unsaved()
