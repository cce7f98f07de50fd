"""Chat: questions to an agent, answers as they are written."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from carrel.store.chat.answers import Answers
from carrel.store.chat.asked import Asked
from carrel.store.chat.compared import Comparison
from carrel.store.chat.conversation import EMPTY, Conversation, Turn
from carrel.store.chat.kept import KeptChats
from carrel.store.chat.parameters import Parameters
from carrel.store.chat.session_list import HISTORY
from carrel.store.chat.sessions import ChatSession, SavedSessions
from carrel.store.chat.state import ChatState
from carrel.store.chat.transcript import ChatFormat, export
from carrel.store.core.action import Policy, action, instant
from carrel.store.core.deleting import Deleted
from carrel.store.core.handle import Handle
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.files.service import FilesService
from carrel.store.session.service import SessionService
from carrel.store.tools.service import ToolsService
from carrel.store.trash.service import TrashService

if TYPE_CHECKING:
    from carrel.wire.agents import Agent, AgentCreate

NO_AGENT = Problem("No agent chosen", "", "Choose the agent to chat with first.")
NO_QUESTION = Problem("Nothing was asked yet", "", "Ask something first.")
NOT_OPENED = Problem("Not sent", "Its chat was not opened.", "↑ brings the question back.")
OPENING = Problem("Not yet", "The chat is still being opened.", "Try again in a moment.")
UPLOADING = Problem("Not sent yet", "A file is still being uploaded.", "Send again in a moment.")
UNREADABLE = Problem("This session cannot be opened", "Its file is missing or damaged.")
WAITS = Problem("The agent waits for a result", "", "Answer its call first, or try again.")


class ChatService(Answers):
    """One open session and the list of the saved ones; tools are called as agents ask for it.

    With `saved` false its sessions are not kept: it stands beside another chat to compare.
    """

    def __init__(
        self,
        loop: OwnerLoop,
        session: SessionService,
        files: FilesService,
        tools: ToolsService,
        sessions: SavedSessions,
        kept: KeptChats,
        trash: TrashService,
        *,
        saved: bool = True,
    ) -> None:
        super().__init__(loop, session, files, tools, sessions, kept, keeps=saved)
        self._trash = trash

    # Sessions

    @action(Policy.LATEST, lane="open")
    async def new(
        self, agent_id: str, version: int | None = None, *, after: Conversation = EMPTY
    ) -> None:
        """Begins a session with an agent, or with one of its versions.

        It is saved with its next question, and begins with what was said `after` which it goes on.
        """
        await self._end_answer()
        self._open(ChatSession(uuid.uuid4().hex, agent_id, "", time.time(), after, version))
        with self._loading():
            await self._load_agent()

    @action(Policy.LATEST, lane="open")
    async def try_draft(
        self, draft: AgentCreate, agent_id: str = "", *, after: Conversation = EMPTY
    ) -> None:
        """Begins a session with an agent that is not saved; `agent_id` is the one it may become.

        Each answer comes from an agent made for it and removed after it (see `asked`).
        """
        await self._end_answer()
        now = time.time()
        self._open(ChatSession(uuid.uuid4().hex, agent_id, draft.name, now, after, draft=draft))

    @action(Policy.LATEST, lane="open")
    async def choose(self, agent_id: str, version: int | None = None) -> None:
        """Switches the session to another agent or version."""
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
        """Opens a saved session, to read it and to go on, with what was said in it elsewhere."""
        await self._end_answer()
        with self._loading():
            session: ChatSession | None = None
            with contextlib.suppress(OSError, ValueError):
                session = await asyncio.to_thread(self._saved.load, session_id)
            if session is not None:
                self._open(session)
            there = await self._kept.read(session_id)
            if session is not None and there is not None:
                conversation = self.slice.value.conversation
                joined = conversation.joined(there.conversation.turns)
                if there.updated < session.updated:
                    joined = replace(joined, last=conversation.last)
                self.slice.set(conversation=joined)
            elif there is not None:
                self._open(there)
            elif session is None:
                raise ProblemError(UNREADABLE)
            if not self.slice.value.draft:
                await self._load_agent_if_reached()

    async def _load_agent_if_reached(self) -> None:
        """Loads the agent; a chat is read without it, and the next question asks for it again."""
        from carrel.client.errors import Unreachable

        try:
            await self._load_agent()
        except Unreachable:
            self._session.doubt()
        except ProblemError:
            if not self._session.offline:
                raise

    @action(Policy.QUEUE)
    async def delete_session(self, session_id: str) -> None:
        """Deletes a saved session with those beside it; an open one is closed."""
        for id in (*await self._copy_here(session_id), session_id):
            await self._copy_here(id)
            await self._kept.delete(id)
            # Before the answer ends, so that a late save is ignored.
            await asyncio.to_thread(self._saved.delete, id)
        if session_id == self.slice.value.session_id:
            await self._end_answer()
            self._close()
        rest = (one for one in self.slice.value.sessions if one.id != session_id)
        self.slice.set(sessions=tuple(rest))
        deleted = Deleted(1, 0, (), None, (session_id,))
        self._trash.deleted("chats", deleted, ("chat", "chats"), self.reload, self._restore)
        await self.reload()

    async def _copy_here(self, session_id: str) -> tuple[str, ...]:
        """Saves a session that only the service has: one that is deleted is restored from here.

        Returns the ids of those beside it.
        """
        try:
            return (await asyncio.to_thread(self._saved.load, session_id)).beside
        except (OSError, ValueError):
            there = await self._kept.read(session_id)
            if there is None:
                return ()
            await asyncio.to_thread(self._saved.save, there)
            return there.beside

    async def _restore(self, session_id: str) -> None:
        await asyncio.to_thread(self._saved.restore, session_id)
        await self._kept.restore(session_id)
        await self._restore_beside(session_id)

    async def restore_deleted(self, session_id: str) -> None:
        """Takes a chat out of the trash, here and at the service, where each has it."""
        with contextlib.suppress(FileNotFoundError):
            await asyncio.to_thread(self._saved.restore, session_id)
        await self._kept.restore(session_id)
        await self._restore_beside(session_id)

    async def _restore_beside(self, session_id: str) -> None:
        """Restores the chats beside one that was restored."""
        beside: tuple[str, ...] = ()
        with contextlib.suppress(OSError, ValueError):
            beside = (await asyncio.to_thread(self._saved.load, session_id)).beside
        for id in beside:
            # One that got no question was never saved.
            with contextlib.suppress(FileNotFoundError):
                await asyncio.to_thread(self._saved.restore, id)
            await self._kept.restore(id)

    @action(Policy.QUEUE)
    def set_comparison(self, comparison: Comparison | None) -> Coroutine[Any, Any, None]:
        """Names the chats beside the open one, and how they were judged.

        Like those, it is saved with the next question, and from then on at once.
        """
        state = self.slice.set(comparison=comparison)
        asked = sum(turn.role == "user" for turn in state.turns)
        kept = comparison is not None and asked > comparison.since
        return self._save() if kept else asyncio.sleep(0)

    @instant
    def hide_as(self, alias: str) -> None:
        """Hides who answers behind an alias; "" shows it again."""
        self.slice.set(alias=alias)

    @property
    def fields(self) -> Agent | AgentCreate | None:
        """The agent that answers, as far as it is loaded."""
        return self._asked.fields if self._asked is not None else None

    @action(Policy.QUEUE)
    def set_parameters(self, parameters: Parameters) -> Coroutine[Any, Any, None]:
        """Sets the model and the sampling parameters of the next answers, not of a running one."""
        model = parameters.model or self.slice.value.model
        context = None if model is None else self._context(model)
        state = self.slice.set(parameters=parameters, context_length=context)
        return self._save() if state.turns else asyncio.sleep(0)

    def export(self, form: ChatFormat) -> str:
        """The open session as Markdown, as it is shown, or as JSON with every variant."""
        return export(self._session_now(), form)

    # Questions

    @action(Policy.SINGLE, lane="ask")
    def send(self, text: str) -> Coroutine[Any, Any, None]:
        """Sends a question with what is attached; the answer grows in the slice.

        Names after an `@` are attached where the agent's libraries or the files have them. While
        its session is being opened, the question waits for it.
        On the owner loop the handle has failed already if the question was not accepted.
        """
        opening = self._lane("open").last
        if opening is None:
            return _end_of(_accepted(self._send(text)))
        self.slice.set(history=self._with_question(text))
        return self._send_once_open(opening, text)

    async def _send_once_open(self, opening: asyncio.Task[Any], text: str) -> None:
        await asyncio.wait([opening])
        if opening.cancelled() or opening.exception() is not None:
            raise ProblemError(NOT_OPENED)
        await _end_of(_accepted(self._send(text)))

    @action(Policy.SINGLE, lane="send")
    def _send(self, text: str) -> Coroutine[Any, Any, None]:
        state = self.slice.value
        self.check_sendable()
        conversation = state.conversation
        if state.editing is not None:
            conversation = conversation.before(state.editing)
        conversation = conversation.add(Turn("user", text, attachments=state.attached))
        history = self._with_question(text)
        self.slice.set(conversation=conversation, attached=(), editing=None, history=history)
        return self._answer(conversation)

    def _with_question(self, text: str) -> tuple[str, ...]:
        """The questions asked so far with one more, the newest."""
        before = (one for one in self.slice.value.history if one != text)
        return (*before, text)[-HISTORY:]

    @action(Policy.SINGLE, lane="send")
    def retry(self) -> Coroutine[Any, Any, None]:
        """Answers the last question again; the previous answer stays as a variant."""
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
        """Answers a function call by hand. After the last open one the agent continues.

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
        """Starts to edit the question at a place of the path; None cancels."""
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
            self._keep_open()

    @instant
    def stop(self) -> None:
        """Stops the answer; the text so far stays."""
        self._lane("send").cancel()
        self._lane("ask").cancel()

    @property
    def answering(self) -> bool:
        """Whether an answer is under way."""
        return self._lane("send").busy

    def check_sendable(self) -> None:
        """Raises ProblemError where a question cannot be sent now."""
        state = self.slice.value
        self._check_open()
        conversation = state.conversation
        if state.editing is not None:
            conversation = conversation.before(state.editing)
        if conversation.open_calls():
            raise ProblemError(WAITS)
        if state.uploading:
            raise ProblemError(UPLOADING)

    def _check_open(self) -> None:
        if self._lane("open").busy:
            raise ProblemError(OPENING)
        if self.slice.value.agent_id is None:
            raise ProblemError(NO_AGENT)

    def _close(self) -> None:
        self._asked = None
        state = self.slice.value
        self.slice.put(
            ChatState(sessions=state.sessions, search=state.search, history=state.history)
        )

    def _open(self, session: ChatSession) -> None:
        draft = session.draft
        self._asked = None if draft is None else Asked(draft, active=False)
        model = None if draft is None else draft.model
        state = self.slice.value
        self.slice.put(
            ChatState(
                session_id=session.id,
                agent_id=session.agent_id,
                agent_name=session.agent_name,
                model=model,
                pinned=session.pinned,
                draft=draft is not None,
                parameters=session.parameters,
                comparison=session.comparison,
                context_length=None if model is None else self._context(model),
                conversation=session.conversation,
                uploading=self._uploads[session.id],
                sessions=state.sessions,
                search=state.search,
                history=state.history,
            )
        )

    async def _end_answer(self) -> None:
        """Stops the answer, and waits until its last word is in the slice and on disk."""
        await asyncio.gather(*self._lane("send").cancel(), return_exceptions=True)


def _accepted(handle: Handle[None]) -> Handle[None]:
    """The handle of an action, which is not refused."""
    if handle.error is not None:
        raise ProblemError(handle.error)
    return handle


async def _end_of(handle: Handle[None]) -> None:
    try:
        await handle
    except asyncio.CancelledError:
        handle.cancel()
        await handle
        raise
    _accepted(handle)
    if handle.outcome == "cancelled":
        raise asyncio.CancelledError
