"""The OCR process: started when needed, ended when idle, started again when it dies."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from PIL import Image

from carrel.server.reading.processes.recogniser import MAX_PIXELS, Recogniser
from support.documents import picture
from support.process import children, command

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recogniser() -> AsyncIterator[Recogniser]:
    recogniser = Recogniser()
    yield recogniser
    await recogniser.stop()


@pytest.fixture
def page(tmp_path: Path) -> tuple[int, int, bytes]:
    with Image.open(picture(tmp_path / "a.png", "Whisper near the stairs")) as image:
        return image.width, image.height, image.tobytes()


async def test_lines_have_words_corners_and_confidence(
    recogniser: Recogniser, page: tuple[int, int, bytes]
) -> None:
    (line,) = (await recogniser.look(*page))["lines"]
    assert line["text"] == "Whisper near the stairs"
    assert [word for word, *_ in line["words"]] == ["Whisper", "near", "the", "stairs"]
    assert all(0.5 < certainty <= 1 for _, certainty, *_ in line["words"])
    (left, top), (right, _), (_, bottom), _ = line["quad"]
    assert 0 <= left < right <= page[0]
    assert 0 <= top < bottom <= page[1]
    edges = [edge for _, _, start, end in line["words"] for edge in (start, end)]
    assert edges == sorted(edges) and 0 <= edges[0] < edges[-1] <= 1


async def test_a_killed_process_is_started_again(
    recogniser: Recogniser, page: tuple[int, int, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    await recogniser.look(*page)
    for process in _processes("carrel.server.reading.ocr.process"):
        os.kill(process, signal.SIGKILL)
    (line,) = (await recogniser.look(*page))["lines"]
    assert line["text"] == "Whisper near the stairs"
    assert "the OCR process died" in caplog.text


async def test_a_cancelled_question_leaves_the_next_its_own_answer(
    recogniser: Recogniser, page: tuple[int, int, bytes], tmp_path: Path
) -> None:
    await recogniser.look(*page)
    with Image.open(picture(tmp_path / "b.png", "Another text")) as image:
        other = image.width, image.height, image.tobytes()
    task = asyncio.ensure_future(recogniser.look(*other))
    await asyncio.sleep(0.01)
    task.cancel()
    (line,) = (await recogniser.look(*page))["lines"]
    assert line["text"] == "Whisper near the stairs"


async def test_the_process_ends_when_idle_and_comes_back(
    page: tuple[int, int, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    recogniser = Recogniser(idle_seconds=0.05)
    await recogniser.look(*page)
    async with asyncio.timeout(10):
        while "OCR unloaded" not in caplog.text:  # noqa: ASYNC110 - a process gives no event
            await asyncio.sleep(0.01)
    assert (await recogniser.look(*page))["lines"]
    await recogniser.stop()
    assert caplog.text.count("OCR loaded with openvino in") == 2
    assert caplog.text.count("OCR unloaded") == 2


@pytest.mark.parametrize(
    ("width", "height", "size"), [(10, 10, 299), (0, 10, 0), (MAX_PIXELS, 2, 6 * MAX_PIXELS)]
)
async def test_pixels_must_fit_the_size_and_the_bound(
    recogniser: Recogniser, width: int, height: int, size: int
) -> None:
    with pytest.raises(ValueError, match="pixels"):
        await recogniser.look(width, height, bytes(size))


def _processes(module: str) -> list[int]:
    """The running children of this process that execute a module."""
    return [pid for pid in children(os.getpid()) if module in command(pid)]
