"""The player of a demo, on a face that notes the keys."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.chat.state import ChatState
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.slice import Slice
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.demo.player import Player
from carrel.store.demo.script import Demo, Show
from carrel.store.documents.state import DocumentState
from carrel.store.libraries.state import LibrariesState
from carrel.wire.libraries import SearchHit
from support.slices import until


class Face:
    """Notes every key, and shows a text."""

    def __init__(self) -> None:
        self.has_keys = True
        self.pressed: list[str] = []
        self.shown: list[Show] = []
        self.missing = False
        self.text = ""
        self.keys: asyncio.Queue[None] = asyncio.Queue()

    async def show(self, show: Show) -> None:
        if self.missing:
            raise ProblemError(Problem("There is no source 1", "There are none."))
        self.shown.append(show)

    async def focus(self, field: str) -> None:
        self.pressed.append(f"<{field}>")

    async def press(self, key: str) -> None:
        self.pressed.append(key)
        await asyncio.sleep(0)

    async def next_key(self) -> None:
        await self.keys.get()

    def shows(self, text: str) -> bool:
        return text in self.text


async def holds(condition: Callable[[], bool]) -> None:
    """Waits until something is so."""
    async with asyncio.timeout(10):
        while True:
            await asyncio.sleep(0.01)
            if condition():
                return


class Stage:
    """A demo with a face, a chat and a document that a test changes."""

    def __init__(self, *steps: dict[str, Any]) -> None:
        self.face = Face()
        self.chat = Slice(ChatState(session_id="one"))
        self.document = Slice(DocumentState())
        demo = Demo.model_validate({"title": "Leases", "steps": list(steps)})
        self.libraries = Slice(LibrariesState())
        self.player = Player(
            OwnerLoop.running(), demo, self.face, self.libraries, self.document, self.chat
        )

    @property
    def state(self) -> tuple[int, str]:
        now = self.player.slice.value
        return now.played, now.phase

    async def next(self) -> None:
        handle = self.player.next()
        await handle
        assert handle.error is None, handle.error

    def say(self, *turns: Turn, **fields: Any) -> None:
        self.chat.set(conversation=Conversation.of(*turns), **fields)


@pytest.fixture
async def stage() -> AsyncIterator[Callable[..., Stage]]:
    stages: list[Stage] = []

    def make(*steps: dict[str, Any]) -> Stage:
        stages.append(Stage(*steps))
        return stages[-1]

    yield make
    for one in stages:
        await one.player.close()


HIT = SearchHit(document_id="d", document_name="lease.pdf", snippet="Three months.", score=1.0)
Make = Callable[..., Stage]
ASK = {"type": "hi", "pace": "at once", "press": ["enter"], "wait": "answer finished"}


async def test_a_step_types_presses_and_says(stage: Make) -> None:
    play = stage({"say": "Look.", "type": "a b", "press": ["ctrl+t", "?"]}, {"press": ["x"]})
    assert play.player.slice.value.caption == "Leases"
    await play.next()
    assert play.face.pressed == ["a", "space", "b", "ctrl+t", "?"]
    assert (play.state, play.player.slice.value.caption) == ((1, "ready"), "Look.")
    await play.next()
    assert play.player.slice.value.ended
    await play.next()
    assert play.face.pressed[5:] == ["x"]


async def test_each_key_of_a_person_types_one_character(stage: Make) -> None:
    play = stage({"type": "abc", "pace": "each key"})
    playing = play.player.next()
    for count in range(3):
        assert len(play.face.pressed) == count
        play.face.keys.put_nowait(None)
        await holds(lambda count=count: len(play.face.pressed) > count)  # type: ignore[misc]
    await playing
    assert play.state == (1, "ready")


async def test_an_answer_before_the_question_is_not_waited_for(stage: Make) -> None:
    play = stage(ASK)
    play.say(Turn("user", "before"), Turn("assistant", "old"))
    playing = play.player.next()
    await holds(lambda: "enter" in play.face.pressed)
    old = play.chat.value.turns
    play.say(*old, Turn("user", "hi"), Turn("assistant", "Th", status="writing"), phase="writing")
    await asyncio.sleep(0.2)
    assert play.state == (0, "playing")
    play.say(*old, Turn("user", "hi"), Turn("assistant", "Three."), phase="idle")
    await playing
    assert play.state == (1, "ready")


@pytest.mark.parametrize("how", ["failed", "lost", "error", "limit"])
async def test_a_step_that_fails_offers_its_recorded_answer(stage: Make, how: str) -> None:
    play = stage({**ASK, "recorded": "Three months.", "limit": 0.1}, {"press": ["x"]})
    playing = play.player.next()
    if how == "error":
        play.chat.set(error=Problem("No model", "It was killed."))
    elif how != "limit":
        failed: Any = how
        play.say(Turn("user", "hi"), Turn("assistant", "", status=failed))
    await playing
    now = play.player.slice.value
    assert (play.state, now.offers, now.recorded) == ((0, "failed"), True, "")
    assert now.trouble
    await play.next()
    assert (play.state, play.player.slice.value.recorded) == ((0, "recorded"), "Three months.")
    await play.next()
    assert play.state == (2, "ready")
    assert play.face.pressed[-1] == "x"


async def test_a_step_without_a_recorded_answer_is_left_out_or_tried_again(stage: Make) -> None:
    play = stage({"press": ["a"], "wait": {"text": "done"}, "limit": 0.1}, {"press": ["b"]})
    await play.next()
    assert play.state == (0, "failed")
    assert "“done”" in play.player.slice.value.trouble
    await play.player.step_back()
    assert play.state == (0, "ready")
    play.face.text = "done"
    await play.next()
    assert (play.state, play.face.pressed) == ((1, "ready"), ["a", "a"])


async def test_a_pause_holds_the_keys_and_the_limit(stage: Make) -> None:
    play = stage({"type": "abc", "wait": {"text": "done"}, "limit": 0.2})
    playing = play.player.next()
    await until(play.player.slice, lambda now: now.phase == "playing")
    play.player.pause()
    await asyncio.sleep(0.4)
    assert len(play.face.pressed) <= 1
    assert play.player.slice.value.paused
    play.player.pause()
    await holds(lambda: len(play.face.pressed) == 3)
    play.player.pause()
    await asyncio.sleep(0.4)
    assert play.state == (0, "playing")
    play.face.text = "done"
    await play.next()  # goes on, too
    await playing
    assert play.state == (1, "ready")


async def test_back_shows_the_caption_before_and_plays_the_step_again(stage: Make) -> None:
    play = stage({"say": "One.", "press": ["a"]}, {"say": "Two.", "press": ["b"]})
    await play.next()
    await play.next()
    await play.player.step_back()
    assert (play.state, play.player.slice.value.caption) == ((1, "ready"), "One.")
    await play.player.step_back()
    await play.player.step_back()
    assert (play.state, play.player.slice.value.caption) == ((0, "ready"), "Leases")
    await play.next()
    assert play.face.pressed == ["a", "b", "a"]


async def test_back_ends_a_step_that_waits(stage: Make) -> None:
    play = stage({"press": ["a"]}, {"press": ["b"], "wait": {"text": "never"}})
    await play.next()
    waits = play.player.next()
    await until(play.player.slice, lambda now: now.phase == "playing")
    await play.player.step_back()
    await waits.settled()
    assert (waits.outcome, play.state) == ("cancelled", (1, "ready"))


async def test_forward_plays_at_once_past_answers_that_fail(stage: Make) -> None:
    asks = {**ASK, "pace": "each key", "recorded": "Three months.", "limit": 0.1}
    play = stage(asks, {"press": ["b"]}, {"press": ["c"]})
    await play.player.forward(2)
    assert (play.state, play.face.pressed) == ((2, "ready"), ["h", "i", "enter", "b"])


async def test_a_document_is_waited_for(stage: Make) -> None:
    play = stage({"press": ["enter"], "wait": "document ready"})
    playing = play.player.next()
    await asyncio.sleep(0.1)
    assert play.state == (0, "playing")
    play.document.set(page_count=1, read=1, wanted=frozenset({0}))
    await playing
    assert play.state == (1, "ready")


async def test_a_step_shows_searches_and_asks_without_keys(stage: Make) -> None:
    play = stage(
        {"show": {"library": "leases"}},
        {"search": "a b", "wait": "passages found"},
        {"ask": "hi", "pace": "at once", "wait": "answer finished"},
    )
    play.face.has_keys = False
    await play.next()
    assert [one.library for one in play.face.shown] == ["leases"]
    play.libraries.set(query="before", hits=(HIT,))
    playing = play.player.next()
    await holds(lambda: play.face.pressed == ["<search>", "a", "space", "b", "enter"])
    play.libraries.set(query="a b", hits=(), searching=True)
    await asyncio.sleep(0.2)
    assert play.state == (1, "playing")
    play.libraries.set(hits=(HIT,), searching=False)
    await playing
    asking = play.player.next()
    await holds(lambda: play.face.pressed[5:] == ["<question>", "h", "i", "enter"])
    play.say(Turn("user", "hi"), Turn("assistant", "Three."))
    await asking
    assert play.player.slice.value.ended


async def test_a_thing_that_is_not_there_fails_its_step(stage: Make) -> None:
    play = stage({"show": {"source": 1}, "recorded": "Page 7."})
    play.face.missing = True
    await play.next()
    assert (play.state, play.player.slice.value.offers) == ((0, "failed"), True)
    assert "no source 1" in play.player.slice.value.trouble


async def test_steps_of_keys_are_left_out_where_there_are_none(stage: Make) -> None:
    play = stage({"say": "F1.", "press": ["f1"], "wait": {"text": "never"}}, {"say": "The end."})
    play.face.has_keys = False
    await play.next()
    now = play.player.slice.value
    assert (play.state, now.caption, now.left_out) == ((1, "ready"), "F1.", True)
    await play.next()
    assert (play.player.slice.value.left_out, play.face.pressed) == (False, [])
