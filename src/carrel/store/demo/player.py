"""Plays the steps of a demo in a face."""

import asyncio
import random
from collections.abc import Callable
from typing import Literal, Protocol

from carrel.store.chat.state import ChatState
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.slice import Slice
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.demo.script import Demo, OnScreen, Show, Step
from carrel.store.demo.state import DemoState
from carrel.store.documents.state import DocumentState
from carrel.store.libraries.state import LibrariesState

LOOK = 0.05
"""Seconds between two checks of a step's condition."""
FASTEST, SLOWEST = 0.03, 0.11
"""Seconds between two typed characters at a human pace."""


Field = Literal["search", "question"]


class Face(Protocol):
    """The face as the player uses it."""

    @property
    def has_keys(self) -> bool:
        """Whether the face can press keys; steps of keys are skipped otherwise."""

    async def show(self, show: Show) -> None:
        """Show an item.

        Raises:
            ProblemError: the item does not exist.
        """

    async def focus(self, field: Field) -> None:
        """Focus an empty field for the following keys; enter submits it.

        Raises:
            ProblemError: there is no library to search, or no agent to ask.
        """

    async def press(self, key: str) -> None:
        """Press a key or type a character; return once it was handled."""

    async def next_key(self) -> None:
        """Wait for the user's next key, which has no other effect."""

    def shows(self, text: str) -> bool:
        """Return whether a line of the screen contains a text."""


class StepError(Exception):
    """A step did not finish; the message gives the reason."""


class Player(Service[DemoState]):
    """Plays a demo step by step. It watches the search, the open document and the open chat."""

    def __init__(
        self,
        loop: OwnerLoop,
        demo: Demo,
        face: Face,
        libraries: Slice[LibrariesState],
        document: Slice[DocumentState],
        chat: Slice[ChatState],
    ) -> None:
        super().__init__(loop, DemoState(demo.title, len(demo.steps), caption=demo.title))
        self._steps = demo.steps
        self._face = face
        self._libraries = libraries
        self._document = document
        self._chat = chat
        self._runs = asyncio.Event()
        self._runs.set()
        self._pace = random.Random(0)

    @action(Policy.JOIN, lane="play")
    async def next(self) -> None:
        """Play the next step; after a failed one, offer its recorded answer first."""
        self._resume()
        state = self.slice.value
        if state.phase == "failed" and state.offers:
            recorded = self._steps[state.played].recorded or ""
            self.slice.set(phase="recorded", recorded=recorded)
            return
        if state.phase in ("failed", "recorded"):
            self._count_step()
        if self.slice.value.played < len(self._steps):
            await self._play(fast=False)

    @action(Policy.LATEST, lane="play")
    async def forward(self, played: int) -> None:
        """Play fast until `played` steps are done; failed answers are replaced by recorded ones."""
        while self.slice.value.played < min(played, len(self._steps)):
            await self._play(fast=True)
            state = self.slice.value
            if state.phase == "failed":
                if not state.offers:
                    return
                self._count_step()

    @action(Policy.LATEST, lane="play")
    async def step_back(self) -> None:
        """Go back before the current or failed step, else before the last one.

        Its caption is shown again and `next` replays it; the screen stays unchanged.
        """
        self._resume()
        state = self.slice.value
        played = max(state.played - 1, 0) if state.phase == "ready" else state.played
        said = [step.say for step in self._steps[:played] if step.say]
        self._put(played, said[-1] if said else state.title)

    @instant
    def pause(self) -> None:
        """Pause the current step and its time limit, or resume it."""
        if self._runs.is_set() and self.slice.value.phase == "playing":
            self._runs.clear()
            self.slice.set(paused=True)
        else:
            self._resume()

    def _resume(self) -> None:
        self._runs.set()
        self.slice.set(paused=False)

    def _put(self, played: int, caption: str, *, left_out: bool = False) -> None:
        self.slice.set(
            played=played,
            phase="ready",
            caption=caption,
            trouble="",
            offers=False,
            recorded="",
            left_out=left_out,
        )

    def _count_step(self) -> None:
        state = self.slice.value
        self._put(state.played + 1, state.caption)

    async def _play(self, *, fast: bool) -> None:
        played = self.slice.value.played
        step = self._steps[played]
        caption = step.say or self.slice.value.caption
        if step.presses_keys and not self._face.has_keys:
            self._put(played + 1, caption, left_out=True)
            return
        self.slice.set(
            phase="playing", caption=caption, trouble="", offers=False, recorded="", left_out=False
        )
        try:
            holds = self._condition(step)
            await self._do(step, fast=fast)
            if holds is not None:
                await self._wait_until(holds, step)
        except (StepError, ProblemError) as error:
            trouble = str(error.problem) if isinstance(error, ProblemError) else str(error)
            offers = step.recorded is not None
            self.slice.set(phase="failed", trouble=trouble, offers=offers)
        else:
            self._count_step()

    async def _do(self, step: Step, *, fast: bool) -> None:
        keys = step.press
        if step.show is not None:
            await self._runs.wait()
            await self._face.show(step.show)
        elif step.search or step.ask:
            await self._runs.wait()
            await self._face.focus("search" if step.search else "question")
            keys = ["enter"]
        await self._type(step, fast=fast)
        for key in keys:
            await self._runs.wait()
            await self._face.press(key)

    async def _type(self, step: Step, *, fast: bool) -> None:
        for character in step.search or step.ask or step.type or "":
            await self._runs.wait()
            if step.pace == "each key" and not fast:
                await self._face.next_key()
            await self._face.press("space" if character == " " else character)
            if step.pace == "human" and not fast:
                await asyncio.sleep(self._pace.uniform(FASTEST, SLOWEST))

    async def _wait_until(self, holds: Callable[[], bool], step: Step) -> None:
        loop = asyncio.get_running_loop()
        left = step.limit
        while not holds():
            if left <= 0:
                raise StepError(f"No {_words(step)} within {step.limit:g} s")
            began = loop.time()
            await asyncio.sleep(LOOK)
            # A pause does not count towards the limit.
            left -= loop.time() - began if self._runs.is_set() else 0

    def _condition(self, step: Step) -> Callable[[], bool] | None:
        """Return the step's end condition, relative to the state before the step; None without a
        wait."""
        match step.wait:
            case None:
                return None
            case OnScreen(text=text):
                return lambda: self._face.shows(text)
            case "document ready":
                old = self._document.value.error
                return lambda: self._has_document(old)
            case "passages found":
                known = self._libraries.value.error
                return lambda: self._has_found(step.search, known)
        before = self._chat.value
        return lambda: self._has_answer(before)

    def _has_answer(self, before: ChatState) -> bool:
        chat = self._chat.value
        if chat.phase != "idle":
            return False
        if chat.error is not None and chat.error is not before.error:
            raise StepError(str(chat.error))
        said = chat.conversation.said
        if not said or (chat.session_id, said) == (before.session_id, before.conversation.said):
            return False
        last = said[-1]
        if last.status in _ENDS:
            raise StepError(f"The answer {_ENDS[last.status]}")
        return last.role == "assistant" and last.status == "done"

    def _has_document(self, old: Problem | None) -> bool:
        document = self._document.value
        if document.error is not None and document.error is not old:
            raise StepError(str(document.error))
        return document.complete and not document.loading

    def _has_found(self, query: str | None, old: Problem | None) -> bool:
        search = self._libraries.value
        if search.error is not None and search.error is not old:
            raise StepError(str(search.error))
        asked = query is None or search.query.strip() == query.strip()
        return asked and not search.searching and bool(search.hits)


_ENDS = {"stopped": "was stopped", "failed": "failed", "lost": "was cut off"}


def _words(step: Step) -> str:
    match step.wait:
        case OnScreen(text=text):
            return f"“{text}” on the screen"
        case "document ready":
            return "document ready"
        case "passages found":
            return "passages found"
    return "finished answer"
