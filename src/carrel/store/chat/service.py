"""Chat: questions to an agent, answers as they are written."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Coroutine
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from carrel.client.http.errors import Unreachable
from carrel.store.activity.uploads import UploadSource
from carrel.store.chat.answering import attachments
from carrel.store.chat.answering.answers import Answers
from carrel.store.chat.answering.session import OpenSession
from carrel.store.chat.compared import Comparison
from carrel.store.chat.conversation import EMPTY, Attachment, Conversation, Turn
from carrel.store.chat.parameters import Parameters
from carrel.store.chat.session_list import HISTORY, SessionList
from carrel.store.chat.sessions.remote_chats import RemoteChats
from carrel.store.chat.sessions.saved import ChatSession, SavedSessions
from carrel.store.chat.state import ChatState
from carrel.store.chat.transcript import ChatFormat, export
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.handle import Handle
from carrel.store.core.deleting import Deleted
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.files.service import FilesService
from carrel.store.shared import Area, Shared
from carrel.store.tools.service import ToolsService

if TYPE_CHECKING:
    from carrel.wire.generation.agents import Agent, AgentCreate

NO_AGENT = Problem("No agent chosen", "", "Choose the agent to chat with first.")
NO_QUESTION = Problem("Nothing was asked yet", "", "Ask something first.")
NOT_OPENED = Problem("Not sent", "Its chat was not opened.", "↑ brings the question back.")
OPENING = Problem("Not yet", "The chat is still being opened.", "Try again in a moment.")
UPLOADING = Problem("Not sent yet", "A file is still being uploaded.", "Send again in a moment.")
UNREADABLE = Problem("This chat cannot be opened", "Its file is missing or damaged.")
WAITS = Problem("The agent waits for a result", "", "Answer its call first, or try again.")


class ChatService(Area, Service[ChatState]):
    """The open session and the list of saved ones; runs the tools that the agent calls.

    With `saved` false its sessions are not saved: it is then a side of a comparison.
    """

    def __init__(
        self,
        shared: Shared,
        files: FilesService,
        tools: ToolsService,
        sessions: SavedSessions,
        remote: RemoteChats,
        *,
        saved: bool = True,
    ) -> None:
        super().__init__(shared, ChatState())
        self._current = OpenSession(self.slice, shared.session)
        self._list = SessionList(self.slice, sessions, remote, keeps=saved)
        self._files = files
        self._uploads: Counter[str] = Counter()  # uploads under way by session
        self._searches = count(1)
        self._answers = Answers(self.slice, shared.session, self._current, tools, self._save)

    # The list of sessions

    @action(Policy.JOIN)
    async def load_sessions(self) -> None:
        """Load the list of saved sessions; the service's sessions join it once they are known."""
        self.load_remote()
        await self._list.load()

    @action(Policy.JOIN)
    async def load_remote(self) -> None:
        """Load the list of the service's sessions, and write the sessions that it lacks."""
        remote = self._list.remote
        before = remote.listed
        await remote.load()
        for session in remote.take_unwritten():
            self._keep(session)
        if remote.listed != before:
            await self.reload().settled()

    @action(Policy.RENEW, lane="load_sessions")
    async def reload(self) -> None:
        """Load again after a change, without joining a load that began before the change."""
        await self._list.refresh()

    @action(Policy.LATEST, lane="load_sessions")
    async def search_sessions(self, text: str) -> None:
        """List only sessions that contain `text`; an empty text lists all."""
        self.slice.set(search=text.strip())
        await self._list.refresh()

    @action(Policy.JOIN)
    async def comparisons(self) -> tuple[Comparison, ...]:
        """Return the comparisons of all chats.

        Local ones only while the service is unreachable.
        """
        try:
            return await self._list.comparisons(await self._session.client())
        except (Unreachable, ProblemError):
            return await self._list.comparisons(None)

    # The open session

    @action(Policy.LATEST, lane="open")
    async def new(
        self, agent_id: str, version: int | None = None, *, after: Conversation = EMPTY
    ) -> None:
        """Begin a session with an agent, or with one of its versions.

        The session is saved with its first new question. `after` is a conversation that it
        continues.
        """
        await self._end_answer()
        self._open(ChatSession(uuid.uuid4().hex, agent_id, "", time.time(), after, version))
        with self._set_loading():
            await self._current.load_agent()

    @action(Policy.LATEST, lane="open")
    async def try_draft(
        self, draft: AgentCreate, agent_id: str = "", *, after: Conversation = EMPTY
    ) -> None:
        """Begin a session with a draft; `agent_id` is the agent of which it may become a version.

        Each answer comes from a trial agent, which is then removed (see `answering.agent`).
        """
        await self._end_answer()
        now = time.time()
        self._open(ChatSession(uuid.uuid4().hex, agent_id, draft.name, now, after, draft=draft))

    @action(Policy.LATEST, lane="open")
    async def choose(self, agent_id: str, version: int | None = None) -> None:
        """Switch the session to another agent or version."""
        await self._end_answer()
        self.slice.set(agent_id=agent_id, pinned=version, draft=False)
        with self._set_loading():
            await self._current.load_agent()

    @action(Policy.LATEST, lane="open")
    async def leave(self) -> None:
        """Close the open session."""
        await self._end_answer()
        self._current.close()

    @action(Policy.LATEST, lane="open")
    async def resume(self, session_id: str, found: int | None = None) -> None:
        """Open a saved session, including turns that were added to it elsewhere.

        `found` is the index of a turn that a search found in it.
        """
        await self._end_answer()
        with self._set_loading():
            session = await self._list.load_file(session_id)
            if session is not None:
                self._open(session)
            there = await self._list.remote.read(session_id)
            if session is not None and there is not None:
                conversation = self.slice.value.conversation
                joined = conversation.with_path(there.conversation.turns)
                if there.updated < session.updated:
                    joined = replace(joined, last=conversation.last)
                self.slice.set(conversation=joined)
            elif there is not None:
                self._open(there)
            elif session is None:
                raise ProblemError(UNREADABLE)
            conversation = self.slice.value.conversation
            # Another copy of the chat, read meanwhile, may have fewer turns.
            if found is not None and found < len(conversation.said):
                conversation, place = conversation.find(found)
                self.slice.set(conversation=conversation, found=(place, next(self._searches)))
            if not self.slice.value.draft:
                await self._load_agent_if_reached()

    async def _load_agent_if_reached(self) -> None:
        """Load the agent if the service is reached; otherwise the next question loads it."""
        try:
            await self._current.load_agent()
        except Unreachable:
            self._session.check_connection()
        except ProblemError:
            if not self._session.offline:
                raise

    @action(Policy.QUEUE)
    async def delete_session(self, session_id: str) -> None:
        """Delete a saved session and the sessions compared to it; close it if it is open."""
        await self._list.delete(session_id)
        if session_id == self.slice.value.session_id:
            await self._end_answer()
            self._current.close()
        rest = (session for session in self.slice.value.sessions if session.id != session_id)
        self.slice.set(sessions=tuple(rest))
        deleted = Deleted(1, 0, (), None, (session_id,))
        self._trash.note_deletion("chats", deleted, ("chat", "chats"), self.reload, self.restore)
        await self.reload().settled()

    async def restore(self, session_id: str) -> None:
        """Restore a chat from the trash, here and at the service."""
        await self._list.restore(session_id)

    @action(Policy.QUEUE)
    def set_comparison(self, comparison: Comparison | None) -> Coroutine[Any, Any, None]:
        """Set the chats compared with the open one, and the votes.

        A new session's comparison is saved with its next question, a saved session's at once.
        """
        state = self.slice.set(comparison=comparison)
        asked = sum(turn.role == "user" for turn in state.turns)
        kept = comparison is not None and asked > comparison.since
        return self._save() if kept else asyncio.sleep(0)

    @instant
    def hide_as(self, alias: str) -> None:
        """Hide the agent's name behind an alias; an empty alias shows it again."""
        self.slice.set(alias=alias)

    @property
    def fields(self) -> Agent | AgentCreate | None:
        """The answering agent, or None until it is loaded."""
        return self._current.agent.fields if self._current.agent is not None else None

    @property
    def draft(self) -> AgentCreate | None:
        """The unsaved agent that answers, or None."""
        return self._current.draft

    @action(Policy.QUEUE)
    def set_parameters(self, parameters: Parameters) -> Coroutine[Any, Any, None]:
        """Set the parameters of later answers; a running answer keeps its own."""
        model = parameters.model or self.slice.value.model
        context = None if model is None else self._current.context_length(model)
        state = self.slice.set(parameters=parameters, context_length=context)
        return self._save() if state.turns else asyncio.sleep(0)

    def export(self, form: ChatFormat) -> str:
        """Return the open session as Markdown, or as JSON with every variant."""
        return export(self._current.snapshot(), form)

    # Attachments of the next question

    def attach(self, source: UploadSource) -> Handle[None]:
        """Upload a file and attach it to the next question of the session that is open now."""
        session_id = self.slice.value.session_id or ""
        self._loop.call(lambda: self._count_uploads(session_id, 1))
        handle = self._upload(session_id, source)
        handle.add_done_callback(lambda _: self._count_uploads(session_id, -1))
        return handle

    @action(Policy.BESIDE)
    async def _upload(self, session_id: str, source: UploadSource) -> None:
        file = await self._files.upload(source)
        if session_id == self.slice.value.session_id:
            self.attach_known(Attachment("file", file.id, file.filename))

    def _count_uploads(self, session_id: str, more: int) -> None:
        self._uploads[session_id] += more
        if session_id == (self.slice.value.session_id or ""):
            self.slice.set(uploading=self._uploads[session_id])

    @instant
    def attach_known(self, attachment: Attachment) -> None:
        """Attach a file or document of the service, unless it is attached already."""
        attached = self.slice.value.attached
        if attachment not in attached:
            self.slice.set(attached=(*attached, attachment))

    @instant
    def detach(self, attachment: Attachment) -> None:
        """Remove an attachment."""
        attached = (known for known in self.slice.value.attached if known != attachment)
        self.slice.set(attached=tuple(attached))

    @action(Policy.LATEST)
    async def names_like(self, text: str) -> tuple[Attachment, ...]:
        """Suggest attachments whose name contains `text`."""
        client = await self._session.client()
        return await attachments.names_like(client, text, self._current.library_ids)

    # Questions

    @action(Policy.SINGLE, lane="ask")
    def send(self, text: str) -> Coroutine[Any, Any, None]:
        """Send a question with its attachments; the answer grows in the slice.

        Names after an `@` are attached if they are found in the agent's libraries or the files. The
        question waits until its session is open. On the owner loop the returned handle has already
        failed if the question was refused.
        """
        opening = self._lane("open").last
        if opening is None:
            return self._send(text).check().linked()
        self.slice.set(history=self._with_question(text))
        return self._send_once_open(opening, text)

    async def _send_once_open(self, opening: asyncio.Task[Any], text: str) -> None:
        await asyncio.wait([opening])
        if opening.cancelled() or opening.exception() is not None:
            raise ProblemError(NOT_OPENED)
        await self._send(text).check().linked()

    @action(Policy.SINGLE, lane="send")
    def _send(self, text: str) -> Coroutine[Any, Any, None]:
        state = self.slice.value
        self.check_sendable()
        conversation = state.conversation
        if state.editing is not None:
            conversation = conversation.cut_before(state.editing)
        conversation = conversation.add(Turn("user", text, attachments=state.attached))
        history = self._with_question(text)
        self.slice.set(conversation=conversation, attached=(), editing=None, history=history)
        return self._answer(conversation)

    def _with_question(self, text: str) -> tuple[str, ...]:
        """Return the history of questions with a new one at the end."""
        before = (one for one in self.slice.value.history if one != text)
        return (*before, text)[-HISTORY:]

    @action(Policy.SINGLE, lane="send")
    def retry(self) -> Coroutine[Any, Any, None]:
        """Answer the last question again; the previous answer remains as a variant."""
        conversation = self.slice.value.conversation
        turns = conversation.turns
        self._check_open()
        if not turns:
            raise ProblemError(NO_QUESTION)
        if turns[-1].role == "assistant" or conversation.open_calls():
            answers = [place for place, turn in enumerate(turns) if turn.role == "assistant"]
            conversation = conversation.cut_before(answers[-1])
        return self._answer(conversation)

    @action(Policy.SINGLE, lane="send")
    def answer_call(self, call_id: str, result: str) -> Coroutine[Any, Any, None]:
        """Answer a function call by hand. After the last open call the agent continues.

        On the owner loop the returned handle has already failed if the result was refused.
        """
        self._check_open()
        conversation = self.slice.value.conversation
        if call_id not in {call.id for call in conversation.open_calls()}:
            raise ProblemError("Nothing waits for this result")
        conversation = conversation.add(Turn("tool", result, call_id=call_id))
        self.slice.set(conversation=conversation)
        return self._save() if conversation.open_calls() else self._answer(conversation)

    @instant
    def edit(self, place: int | None) -> None:
        """Begin to edit the question at a place of the path; None cancels the edit."""
        state = self.slice.value
        if place is None:
            self.slice.set(editing=None, attached=())
        elif not self._lane("send").busy and state.turns[place].role == "user":
            self.slice.set(editing=place, attached=state.turns[place].attachments)

    @action(Policy.QUEUE)
    async def choose_variant(self, place: int, number: int) -> None:
        """Choose the variant at a place, from 1, that is shown and sent."""
        state = self.slice.value
        if self._lane("send").busy:
            return
        if 1 <= number <= state.conversation.variant(place)[1]:
            self.slice.set(conversation=state.conversation.choose(place, number), editing=None)
            await self._save()
            self._keep_open()

    @instant
    def stop(self) -> None:
        """Stop the answer; its text so far is kept."""
        self._lane("send").cancel()
        self._lane("ask").cancel()

    @property
    def answering(self) -> bool:
        """Whether an answer is under way."""
        return self._lane("send").busy

    def check_sendable(self) -> None:
        """Raise ProblemError where a question cannot be sent now."""
        state = self.slice.value
        self._check_open()
        conversation = state.conversation
        if state.editing is not None:
            conversation = conversation.cut_before(state.editing)
        if conversation.open_calls():
            raise ProblemError(WAITS)
        if state.uploading:
            raise ProblemError(UPLOADING)

    def _check_open(self) -> None:
        if self._lane("open").busy:
            raise ProblemError(OPENING)
        if self.slice.value.agent_id is None:
            raise ProblemError(NO_AGENT)

    def _open(self, session: ChatSession) -> None:
        self._current.open(session, self._uploads[session.id])

    def _answer(self, conversation: Conversation) -> Coroutine[Any, Any, None]:
        """Answer the last turn with the parameters set at the time of the call."""
        return self._answer_with(conversation, self.slice.value.parameters)

    async def _answer_with(self, conversation: Conversation, parameters: Parameters) -> None:
        try:
            await self._answers.answer(conversation, parameters)
        finally:
            # Shielded: a stopped answer is saved too.
            await asyncio.shield(asyncio.ensure_future(self._save()))
            self._keep_open()

    def _save(self) -> Coroutine[Any, Any, None]:
        """Save the open session."""
        return self._list.save(self._current.snapshot())

    def _keep_open(self) -> None:
        """Start writing the open session to the service."""
        session = self._current.snapshot()
        if self._list.is_kept_remotely(session):
            self._keep(session)

    @action(Policy.QUEUE)
    async def _keep(self, session: ChatSession) -> None:
        """Write a session to the service; turns added elsewhere meanwhile become a variant."""
        turns = await self._list.remote.keep(session)
        state = self.slice.value
        if turns and state.session_id == session.id:
            joined = replace(state.conversation.with_path(turns), last=state.conversation.last)
            if joined != state.conversation:
                self.slice.set(conversation=joined)
                await self._save()

    async def _end_answer(self) -> None:
        """Stop the answer and wait until it is shown and saved."""
        await asyncio.gather(*self._lane("send").cancel(), return_exceptions=True)
