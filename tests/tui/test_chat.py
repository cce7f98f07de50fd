from collections.abc import AsyncIterator

import pytest

from carrel.config import Profile
from carrel.tui.widgets.transcript import Live
from support.scripted import ScriptedService, scripted_service
from support.workbench import Workbench, workbench

SOURCES = [
    {
        "index": number,
        "library_id": "l",
        "document_id": "d",
        "document_name": "lease [/final].pdf",
        "page": 6,
        "snippet": f"passage {number}: the «notice period» is three months",
    }
    for number in (1, 2)
]


@pytest.fixture
async def service() -> AsyncIterator[ScriptedService]:
    async with scripted_service() as service:
        yield service


@pytest.fixture
async def bench(service: ScriptedService) -> AsyncIterator[Workbench]:
    async with workbench(Profile("test", service.url, "key")) as bench:
        await bench.store.chat.new("agent")
        await bench.press("5")
        await bench.shows("support v4", "Ask something.")
        yield bench


async def test_an_answer_grows_on_screen_and_shows_its_sources(
    bench: Workbench, service: ScriptedService
) -> None:
    await bench.type("How long?")
    await bench.press("enter")
    await bench.shows("You", "How long?", "support v4", "Stop")
    service.say("Three **months** to ")
    await bench.shows("Three months to")
    service.say("the end of a quarter [1].")
    service.finish(tokens=(2300, 10), sources=SOURCES)
    await bench.shows(
        "Three months to the end of a quarter [1].",
        "Sources  [1] lease [/final].pdf p.7",
        "2,310 of 8,192 tokens",
    )
    assert not bench.app.screen.query(Live)
    await bench.press("escape", "right_square_bracket", "right_square_bracket")
    await bench.shows("passage 2: the «notice period» is")
    await bench.press("escape")
    assert "passage 2" not in bench.text()


async def test_esc_twice_stops_the_answer_and_keeps_its_text(
    bench: Workbench, service: ScriptedService
) -> None:
    await bench.type("Tell me everything")
    await bench.press("enter")
    service.say("Once upon a time")
    await bench.shows("Once upon a time")
    await bench.press("escape")
    assert bench.store.chat.slice.value.phase == "writing"
    await bench.press("escape")
    await bench.shows("Once upon a time", "Stopped.")
    await service.closed.wait()


async def test_ctrl_c_stops_too(bench: Workbench, service: ScriptedService) -> None:
    await bench.type("Go")
    await bench.press("enter")
    service.say("Well")
    await bench.shows("Well")
    await bench.press("ctrl+c")
    await bench.shows("Stopped.")


async def test_a_cut_answer_keeps_its_text(bench: Workbench, service: ScriptedService) -> None:
    await bench.type("Go")
    await bench.press("enter")
    service.say("Half an ans")
    await bench.shows("Half an ans")
    service.break_off()
    await bench.until(lambda: bench.store.chat.slice.value.phase == "idle")
    await bench.press("escape")
    await bench.shows("Half an ans", "Failed.")


async def test_a_long_answer_is_drawn_with_few_widgets(
    bench: Workbench, service: ScriptedService
) -> None:
    await bench.type("Go")
    await bench.press("enter")
    for number in range(200):
        service.say(f"Paragraph {number} of a long answer. {'word ' * 60}\n\n")
    await bench.shows("Paragraph 199 of a long answer.")
    assert len(bench.app.screen.query("*")) < 400
    service.finish()
    await bench.until(lambda: not bench.app.screen.query(Live))
    assert "Paragraph 199 of a long answer." in bench.text()


async def test_alt_enter_begins_a_line_and_enter_sends(
    bench: Workbench, service: ScriptedService
) -> None:
    await bench.type("one")
    await bench.press("alt+enter")
    await bench.type("two")
    await bench.press("enter")
    await bench.until(lambda: service.requests)
    assert service.requests[0]["messages"][-1]["content"] == "one\ntwo"
    service.finish()


async def test_digits_are_text_in_the_prompt_and_places_with_alt(bench: Workbench) -> None:
    await bench.type("1 of 2")
    await bench.shows("1 of 2")
    await bench.press("alt+1")
    assert bench.app.place is not None and bench.app.place.PLACE == "files"
    await bench.press("5")
    await bench.shows("1 of 2")
