import asyncio
from collections.abc import AsyncIterable, Callable
from typing import Any

import pytest

from carrel.notebook.panels.core import uploads
from carrel.notebook.panels.core.uploads import AHEAD, CHUNK, BrowserFiles, Offer
from carrel.store.core.problem import ProblemError


class View:
    """A browser's end that holds one file."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.asked: list[int] = []
        self.forgotten: list[str] = []
        self.heard = asyncio.Event()
        self.files = BrowserFiles(self.take)

    def take(self, view: str | None, message: dict[str, Any]) -> None:
        assert view == "v"
        if message["kind"] == "forget":
            self.forgotten.append(message["key"])
        else:
            assert message["length"] <= CHUNK
            self.asked.append(message["offset"])
        self.heard.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self.heard.clear()
            await self.heard.wait()

    def answer(self, offset: int) -> None:
        self.files.receive("k", offset, self.content[offset : offset + CHUNK], None)

    def source(self, size: int | None = None, name: str = "a.bin") -> AsyncIterable[bytes]:
        offer = Offer(
            view="v", key="k", name=name, size=len(self.content) if size is None else size
        )
        chunks = self.files.source(offer)
        assert isinstance(chunks, tuple)
        return chunks[2]


async def drain(source: AsyncIterable[bytes]) -> bytes:
    return b"".join([chunk async for chunk in source])


async def asked(view: View, offset: int) -> None:
    await view.until(lambda: offset in view.asked)


@pytest.mark.parametrize("size", [0, 1, CHUNK, CHUNK + 1, 5 * CHUNK + 17])
async def test_a_file_arrives_whole_and_is_then_forgotten(size: int) -> None:
    view = View(bytes(index * 7 % 251 for index in range(size)))
    task = asyncio.create_task(drain(view.source()))
    for offset in range(0, size, CHUNK):
        await asked(view, offset)
        view.answer(offset)
    assert await task == view.content
    assert view.forgotten == ["k"]


async def test_no_more_than_two_ranges_are_under_way() -> None:
    view = View(bytes(6 * CHUNK))
    task = asyncio.create_task(drain(view.source()))
    for done in range(6):
        await asked(view, done * CHUNK)
        await asyncio.sleep(0)
        assert len(view.asked) <= done + AHEAD
        view.answer(done * CHUNK)
    await task


async def test_ranges_may_arrive_in_any_order() -> None:
    view = View(b"a" * CHUNK + b"b" * CHUNK)
    task = asyncio.create_task(drain(view.source()))
    await asked(view, CHUNK)
    view.answer(CHUNK)
    view.answer(0)
    assert await task == view.content


async def test_a_page_that_is_closed_ends_its_uploads_in_words() -> None:
    view = View(bytes(3 * CHUNK))
    task = asyncio.create_task(drain(view.source()))
    await asked(view, CHUNK)
    view.files.leave_view("v")
    with pytest.raises(ProblemError) as error:
        await task
    assert error.value.problem.detail == "The page was closed."


async def test_another_page_s_end_changes_nothing() -> None:
    view = View(b"abc")
    task = asyncio.create_task(drain(view.source()))
    await asked(view, 0)
    view.files.leave_view("w")
    view.answer(0)
    assert await task == b"abc"


async def test_a_range_that_cannot_be_read_says_why() -> None:
    view = View(b"abc")
    task = asyncio.create_task(drain(view.source()))
    await asked(view, 0)
    view.files.receive("k", 0, b"", "it was moved")
    with pytest.raises(ProblemError) as error:
        await task
    assert error.value.problem.detail == "it was moved"


async def test_a_file_that_shrank_is_not_uploaded() -> None:
    view = View(b"abc")
    task = asyncio.create_task(drain(view.source(size=4)))
    await asked(view, 0)
    view.answer(0)
    with pytest.raises(ProblemError) as error:
        await task
    assert error.value.problem.detail == "The file has changed."


async def test_a_cancelled_upload_can_be_begun_anew() -> None:
    view = View(bytes(range(200)) * (CHUNK // 100))
    source = view.source()
    task = asyncio.create_task(drain(source))
    await asked(view, CHUNK)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    view.answer(0)  # what arrives late is not taken
    assert view.forgotten == []
    view.asked.clear()
    task = asyncio.create_task(drain(source))
    await asked(view, CHUNK)
    view.answer(0)
    view.answer(CHUNK)
    assert await task == view.content
    assert view.forgotten == ["k"]


async def test_a_stop_that_comes_with_a_range_still_stops() -> None:
    view = View(bytes(3 * CHUNK))
    task = asyncio.create_task(drain(view.source()))
    await asked(view, CHUNK)
    view.answer(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert view.asked == [0, CHUNK]


async def test_a_page_that_is_gone_is_not_asked_again() -> None:
    view = View(b"abc")
    view.files.leave_view("v")
    with pytest.raises(ProblemError) as error:
        await drain(view.source())
    assert error.value.problem.detail == "The page was closed."
    assert view.asked == []


async def test_a_silent_page_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "PATIENCE", 0.01)
    view = View(b"abc")
    with pytest.raises(ProblemError) as error:
        await drain(view.source())
    assert error.value.problem.detail == "The page did not answer."


def test_a_name_with_control_characters_is_cleaned() -> None:
    offer = Offer(view="v", key="k", name="invoice [/final] \x1b]0;x\x07.pdf", size=0)
    source = View(b"").files.source(offer)
    assert isinstance(source, tuple)
    assert source[0] == "invoice [/final] ]0;x.pdf"


async def test_a_view_that_comes_back_uploads_again() -> None:
    view = View(b"abc")
    view.files.leave_view("v")
    with pytest.raises(ProblemError):
        await drain(view.source())
    view.files.resume_view("v")
    task = asyncio.create_task(drain(view.source()))
    await asked(view, 0)
    view.answer(0)
    assert await task == b"abc"
