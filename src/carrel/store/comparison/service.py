"""Comparisons: send one question to several chats, and store the votes on their answers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from itertools import repeat, zip_longest
from typing import TYPE_CHECKING, Any

from carrel.store.agents.formatting import FieldRow
from carrel.store.chat.compared import Comparison, Judgement
from carrel.store.chat.conversation import EMPTY, Conversation
from carrel.store.chat.service import OPENING, ChatService
from carrel.store.chat.state import ChatState
from carrel.store.comparison.formatting import (
    ALIASES,
    agent_differences,
    answer_differences,
    answerer,
    has_answer,
    last_answer,
    questions,
    side_titles,
)
from carrel.store.comparison.state import MOST, ComparisonState, Side, Votes, count_votes
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.handle import Handle
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.requests.service import RequestsService
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.wire.generation.agents import AgentCreate

FULL = Problem("Four sides at most", "", "Go on with one of them, then compare again.")
NOTHING_OPEN = Problem("No chat is open", "", "Begin one, then compare it.")
NOT_COMPARED = Problem("Nothing is compared", "", "Compare the chat with another agent first.")
WRITING = Problem("Not sent yet", "An answer is still being written.", "Wait for it, or stop it.")
LOADING = Problem("The agents are still being loaded", "", "Try again in a moment.")
TWO_ANSWERS = Problem("Not two finished answers", "", "Wait for both, or ask again.")
UNANSWERED = Problem("Nothing to judge yet", "", "Ask something, and wait for the answers.")
VOTE_FIRST = Problem("The names are hidden", "", "Vote first: they are shown then.")


class ComparisonService(Service[ComparisonState]):
    """Chats that get the same questions: `first` and up to three beside it.

    The first chat stores the comparison: opening another session in it opens or closes the chats
    beside it.
    """

    def __init__(
        self,
        loop: OwnerLoop,
        session: SessionService,
        requests: RequestsService,
        first: ChatService,
        another: Callable[[], ChatService],
    ) -> None:
        super().__init__(loop, ComparisonState(), session)
        self._session = session
        self._requests = requests
        self.first = first
        """The chat that stores the comparison."""
        self.every = (first, *(another() for _ in range(MOST - 1)))
        """All chats available as sides, used or not."""
        self._seen: object = None
        self._aliases: dict[int, str] = {}
        for chat in self.every:
            chat.slice.changed.connect(self._look)

    @property
    def record(self) -> Comparison | None:
        """The stored comparison, or None while nothing is compared."""
        return self.first.slice.value.comparison

    @property
    def chats(self) -> tuple[ChatService, ...]:
        """The sides in displayed order, or the first chat alone."""
        return tuple(self.every[number] for number in self.slice.value.order)

    @property
    def titles(self) -> list[str]:
        """The sides' names in displayed order, or aliases while names are hidden."""
        return side_titles([chat.slice.value for chat in self.chats])

    async def close(self) -> None:
        for chat in self.every:
            chat.slice.changed.disconnect(self._look, missing_ok=True)
        if self.slice.value.hidden:
            self._requests.conceal(False)
        await super().close()
        for chat in self.every:
            await chat.close()

    # Sides

    @action(Policy.LATEST, lane="open")
    async def begin(self, sides: Sequence[Side]) -> None:
        """Begin up to four chats with these sides; a single side is no comparison."""
        await _open(self.first, sides[0], EMPTY)
        if len(sides) > 1:
            await self._open_beside(sides[1:])

    @action(Policy.LATEST, lane="open")
    def add(self, side: Side) -> Coroutine[Any, Any, None]:
        """Add a side beside the open chat, with that chat's history."""
        state = self.first.slice.value
        if state.session_id is None:
            raise ProblemError(NOTHING_OPEN)
        if len(self.chats) == MOST:
            raise ProblemError(FULL)
        if any(chat.answering for chat in self.chats):
            raise ProblemError(WRITING)
        return self._open_beside([side])

    async def _open_beside(self, sides: Sequence[Side]) -> None:
        state, record = self.first.slice.value, self.record
        beside = record.beside if record is not None else ()
        history = _history(state)
        free = self.every[len(beside) + 1 :]
        opened = [_open(chat, side, history) for chat, side in zip(free, sides, strict=False)]
        failed = [error for error in await asyncio.gather(*opened, return_exceptions=True) if error]
        still_open = self.first.slice.value.session_id == state.session_id
        if failed or not still_open:
            for chat, _ in zip(free, sides, strict=False):
                chat.leave()
            if failed:
                raise failed[0]
            return
        ids = (*beside, *(chat.slice.value.session_id or "" for chat in free[: len(sides)]))
        order = tuple(range(len(ids) + 1))
        if record is None:
            record = Comparison(ids, order, since=questions(state))
        else:
            record = replace(record, beside=ids, order=(*record.order, *order[len(record.order) :]))
        self.first.set_comparison(record)

    @action(Policy.LATEST, lane="open")
    def go_on(self, number: int) -> Coroutine[Any, Any, None]:
        """Continue with one side alone, by its place; the comparison stays in the list of chats."""
        record = self._require_comparison()
        if self.slice.value.hidden:
            raise ProblemError(VOTE_FIRST)
        return self._go_on(self.chats[number], record)

    @action(Policy.LATEST, lane="open")
    def leave(self) -> Coroutine[Any, Any, None]:
        """Continue with the first chat alone."""
        return self._go_on(self.first, self._require_comparison())

    def _go_on(self, chat: ChatService, record: Comparison) -> Coroutine[Any, Any, None]:
        state = chat.slice.value
        if chat is self.first and questions(state) == record.since:
            return _settle_all([self.first.set_comparison(None)])
        return self._begin_from(state, chat.draft)

    async def _begin_from(self, state: ChatState, draft: AgentCreate | None) -> None:
        side = Side(state.agent_id or "", state.pinned, draft)
        await _open(self.first, side, _history(state))
        await self.first.set_parameters(state.parameters)

    # Questions

    @action(Policy.BESIDE)
    def send(self, text: str) -> Coroutine[Any, Any, None]:
        """Send a question to all sides, with the first chat's attachments.

        On the owner loop the returned handle has already failed if the question was refused. A
        failed or slow side does not delay the others.
        """
        chats = [self.every[number] for number in sorted(self.slice.value.order)]
        if self._lane("open").busy:
            raise ProblemError(OPENING)
        if any(chat.answering for chat in chats):
            raise ProblemError(WRITING)
        if (editing := self.first.slice.value.editing) is not None:
            self._edit(editing, chats[1:])
        for chat in chats:
            chat.check_sendable()
        attached = self.first.slice.value.attached
        for chat in chats[1:]:
            for one in attached:
                chat.attach_known(one)
        handles = [chat.send(text) for chat in chats]
        # The names are hidden by now.
        if (record := self.record) is not None and record.blind_after is not None:
            shuffled = random.SystemRandom().sample(record.order, len(record.order))
            self.first.set_comparison(replace(record, order=tuple(shuffled)))
        return _settle_all(handles)

    def _edit(self, place: int, others: Sequence[ChatService]) -> None:
        """Edit the question at a place of the first chat in the other chats too."""
        asked = sum(turn.role == "user" for turn in self.first.slice.value.turns[:place])
        for chat in others:
            turns = chat.slice.value.turns
            places = [place for place, turn in enumerate(turns) if turn.role == "user"]
            if asked < len(places):
                chat.edit(places[asked])
        if (record := self.record) is not None:
            known = tuple(one for one in record.judgements if one.question <= asked)
            since = min(record.since, asked)
            self.first.set_comparison(replace(record, judgements=known, since=since))

    @action(Policy.BESIDE)
    def retry(self) -> Coroutine[Any, Any, None]:
        """Let every idle side answer the last question again, and drop its vote."""
        chats = [chat for chat in self.chats if not chat.answering]
        handles = [chat.retry() for chat in chats if chat.slice.value.turns]
        if (record := self.record) is not None and handles:
            last = questions(self.first.slice.value)
            others = (one for one in record.judgements if one.question != last)
            handles.append(self._judge(record, others))
        return _settle_all(handles)

    @instant
    def stop(self) -> None:
        """Stop all answers; their text so far is kept."""
        for chat in self.chats:
            chat.stop()

    @instant
    def set_same_seed(self, on: bool) -> None:
        """Give all sides the same random seed, or restore the agents' own."""
        seed = random.SystemRandom().randrange(1, 10**6) if on else None
        for chat in self.chats:
            chat.set_parameters(replace(chat.slice.value.parameters, seed=seed))

    # Differences

    def compare_agents(self, old: int, new: int) -> tuple[FieldRow, ...]:
        """Return the fields in which the agents of two sides differ.

        Raises:
            ProblemError: the names are hidden, or an agent is still being loaded.
        """
        if self.slice.value.hidden:
            raise ProblemError(VOTE_FIRST)
        before, after = (self.chats[side].fields for side in (old, new))
        if before is None or after is None:
            raise ProblemError(LOADING)
        return agent_differences(before, after)

    def compare_answers(self, old: int, new: int) -> tuple[FieldRow, ...]:
        """Return the lines and figures in which the last answers of two sides differ.

        Raises: ProblemError: an answer is not finished.
        """
        before, after = (last_answer(self.chats[side].slice.value) for side in (old, new))
        if before is None or after is None:
            raise ProblemError(TWO_ANSWERS)
        return answer_differences(before, after)

    # Votes

    @instant
    def set_blind(self, blind: bool) -> None:
        """Turn blind mode on or off; names stay hidden until the vote."""
        record = self._require_comparison()
        if self.slice.value.hidden and not blind:
            raise ProblemError(VOTE_FIRST)
        if not blind:
            order = tuple(sorted(record.order))
            self.first.set_comparison(replace(record, blind_after=None, order=order))
        elif record.blind_after is None:
            asked = questions(self.first.slice.value)
            self.first.set_comparison(replace(record, blind_after=asked))

    @action(Policy.BESIDE)
    def vote(self, number: int | None) -> Coroutine[Any, Any, None]:
        """Vote for the answer at a place, or for none (a tie), and reveal the names."""
        record, before = self._open_judgement()
        chat = None if number is None else self.chats[number]
        if chat is not None and not has_answer(chat.slice.value):
            raise ProblemError(UNANSWERED)
        judged = replace(
            before,
            winner=None if chat is None else self.every.index(chat),
            sides=tuple(
                answerer(state) if has_answer(state) else ""
                for state in (one.slice.value for one in self.every[: len(self.chats)])
            ),
            voted=True,
        )
        others = (one for one in record.judgements if one.question != before.question)
        return _settle_all([self._judge(record, (*others, judged))])

    @action(Policy.BESIDE)
    def note(self, text: str) -> Coroutine[Any, Any, None]:
        """Save a note about the last answers; hidden names stay hidden."""
        record, before = self._open_judgement()
        others = (one for one in record.judgements if one.question != before.question)
        return _settle_all([self._judge(record, (*others, replace(before, note=text.strip())))])

    @action(Policy.JOIN)
    async def count_votes(self) -> tuple[Votes, ...]:
        """Return the votes of all comparisons, local and at the service."""
        return count_votes(await self.first.comparisons())

    def _require_comparison(self) -> Comparison:
        if self.record is None:
            raise ProblemError(NOT_COMPARED)
        return self.record

    def _open_judgement(self) -> tuple[Comparison, Judgement]:
        """Return the comparison, and the vote on its last answers so far."""
        record, states = self._require_comparison(), [chat.slice.value for chat in self.chats]
        if any(state.phase != "idle" for state in states) or not any(map(has_answer, states)):
            raise ProblemError(UNANSWERED)
        question = questions(states[0])
        return record, record.judgement(question) or Judgement(question)

    def _judge(self, record: Comparison, judgements: Iterable[Judgement]) -> Handle[None]:
        return self.first.set_comparison(replace(record, judgements=tuple(judgements)))

    # Reactions to the first chat

    def _look(self, _new: ChatState, _old: ChatState) -> None:
        """Open and close the chats beside the first, and hide names in blind mode."""
        state = self.first.slice.value
        record, asked = state.comparison, questions(state)
        if (seen := (state.session_id, record, asked)) != self._seen:
            self._seen = seen
            beside = record.beside if record is not None else ()
            for chat, id in zip_longest(self.every[1:], beside):
                if chat.slice.value.session_id != id:
                    chat.leave() if id is None else chat.resume(id)
            order = record.order if record is not None else (0,)
            hidden = bool(record and record.is_blind(asked))
            # Before the sides change places, so that no place reveals a name.
            self._aliases = dict(zip(order, ALIASES if hidden else repeat(""), strict=False))
            self._hide()
            self._requests.conceal(hidden)
            self.slice.set(order=order, hidden=hidden)
        else:
            self._hide()

    def _hide(self) -> None:
        for number, alias in self._aliases.items():
            if self.every[number].slice.value.alias != alias:
                self.every[number].hide_as(alias)


def _history(state: ChatState) -> Conversation:
    """Return a chat's turns for a chat with another agent; each answer names its own agent."""
    return Conversation.of(
        *(
            replace(turn, agent=turn.agent or state.agent_name)
            if turn.role == "assistant"
            else turn
            for turn in state.turns
        )
    )


async def _open(chat: ChatService, side: Side, after: Conversation) -> None:
    if side.draft is not None:
        await chat.try_draft(side.draft, side.agent_id, after=after)
    else:
        await chat.new(side.agent_id, side.version, after=after)


async def _settle_all(handles: Sequence[Handle[None]]) -> None:
    """Wait for all handles; each failure shows in its own chat."""
    for handle in handles:
        await handle.settled()
