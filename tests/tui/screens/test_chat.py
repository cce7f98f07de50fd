import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual import events
from textual.strip import Strip
from textual.widgets import Button

from carrel.config.profiles import Profile
from carrel.config.settings import settings_file
from carrel.tui.widgets.chat import transcript
from carrel.tui.widgets.chat.prompt import Prompt
from carrel.tui.widgets.chat.transcript import TurnView
from carrel.tui.widgets.inputs.fields import Field
from carrel.tui.widgets.tables.table import VirtualTable
from carrel.wire.generation.agents import Agent
from support import hostile
from support.hostile import ANSWER, LONG, UNSAFE
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
        bench.store.agents.slice.set(items=(Agent.model_validate(service.agent),), loaded=True)
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
    assert not bench.app.screen.query(TurnView)
    await bench.press("escape", "right_square_bracket", "right_square_bracket")
    await bench.shows("“passage 2: the «notice period»", "three months”", "] next")
    await bench.press("escape")
    assert "passage 2" not in bench.text()
    lines = bench.text().splitlines()
    row = next(y for y, line in enumerate(lines) if "quarter [1]." in line)
    await bench.pilot.click(offset=(lines[row].index("[1]") + 1, row))
    await bench.shows("“passage 1")


async def test_a_text_pasted_beside_the_field_goes_into_it(bench: Workbench) -> None:
    await bench.press("escape")
    bench.app.screen.post_message(events.Paste("What about\nthe rent?"))
    await bench.until(lambda: bench.app.screen.query_one(Prompt).text == "What about\nthe rent?")
    await bench.type(" And the fee?")
    await bench.shows("the rent? And the fee?")


@pytest.mark.parametrize("way", ["key", "click"])
async def test_earlier_turns_of_a_long_chat_are_shown_on_request(
    bench: Workbench, service: ScriptedService, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(transcript, "MAX_TURNS", 4)
    for question in ("First?", "Second?", "Third?"):
        await bench.type(question)
        await bench.press("enter")
        await bench.shows(question)
        service.say(f"Answer to {question}")
        service.finish(tokens=(10, 10))
        await bench.shows(f"Answer to {question}")
    await bench.shows("▸ 2 earlier turns")
    assert "Answer to First?" not in bench.text()
    await bench.press("escape")
    if way == "key":
        await bench.press("home", "g")
    else:
        lines = bench.text().splitlines()
        row = next(y for y, line in enumerate(lines) if "earlier turns" in line)
        await bench.pilot.click(offset=(lines[row].index("earlier"), row))
    await bench.shows("Answer to First?", "Answer to Third?")
    assert "earlier turn" not in bench.text()


async def test_a_question_is_shown_as_it_was_typed(bench: Workbench) -> None:
    await bench.type("def fee(rent):")
    await bench.press("alt+enter")
    await bench.type("    return __rent__ * 2")
    await bench.press("enter")
    await bench.shows("   def fee(rent):", "       return __rent__ * 2")


async def test_a_transcript_stays_at_its_end_in_a_smaller_window(
    bench: Workbench, service: ScriptedService
) -> None:
    await bench.pilot.resize_terminal(200, 60)
    await bench.type("How long?")
    await bench.press("enter")
    service.say(f"Opening {'and so on ' * 300}closing")
    service.finish()
    await bench.shows("Opening", "closing", "of 8,192 tokens")
    await bench.until(lambda: bench.store.chat.slice.value.phase == "idle")
    await bench.pilot.resize_terminal(80, 24)
    await bench.shows("closing")
    assert "Opening" not in bench.text()
    await bench.press("pageup", "pageup", "pageup")
    await bench.shows("Opening")
    await bench.pilot.resize_terminal(70, 24)
    await bench.shows("Opening")
    assert "closing" not in bench.text()


async def test_a_hostile_answer_is_text(bench: Workbench, service: ScriptedService) -> None:
    await bench.type("How long?")
    await bench.press("enter")
    await bench.shows("Stop")
    for part in (ANSWER, LONG, ANSWER):
        service.say(part)
    service.finish(sources=hostile.SOURCES)
    await bench.shows("of 8,192 tokens")
    for keys in ((), ("escape", "right_square_bracket"), ("escape", "home")):
        await bench.press(*keys)
        assert not UNSAFE.search(bench.text().replace("\n", "")), ascii(bench.text())
        shown = [segment.style for strip in _strips(bench) for segment in strip if segment.style]
        assert not [style.link for style in shown if style.link]
        assert not [style.meta for style in shown if "quit" in str(style.meta)]


def _strips(bench: Workbench) -> list[Strip]:
    return bench.app.screen._compositor.render_strips()


async def test_thinking_is_folded(bench: Workbench, service: ScriptedService) -> None:
    await bench.type("How long?")
    await bench.press("enter")
    service.think("The lease says three.")
    await bench.shows("▸ thinking")
    service.say("Three months")
    service.cite(1)
    service.finish(sources=SOURCES)
    await bench.shows("▸ thought for", "Three months [1]")
    assert "says three" not in bench.text()
    await bench.press("alt+t")
    await bench.shows("▾ thought for", "The lease says three.")
    lines = bench.text().splitlines()
    row = next(y for y, line in enumerate(lines) if "▾ thought" in line)
    await bench.pilot.click(offset=(lines[row].index("thought"), row))
    await bench.shows("▸ thought for")
    assert "says three" not in bench.text()


async def test_esc_from_a_page_comes_back_to_its_source_in_a_narrow_window(
    bench: Workbench, service: ScriptedService
) -> None:
    await bench.pilot.resize_terminal(80, 24)
    await bench.type("How long?")
    await bench.press("enter")
    service.say("Three months [1].")
    service.finish(tokens=(2300, 10), sources=SOURCES)
    await bench.shows("Sources  [1] lease [/final].pdf p.7")
    await bench.press("escape", "right_square_bracket")
    await bench.shows("“passage 1")
    await bench.press("enter")
    await bench.shows("[3 Document]")
    await bench.press("escape")
    await bench.shows("[5 Chat]", "“passage 1")
    await bench.press("escape")
    await bench.shows("Three months [1].")


async def test_words_are_found_in_what_was_said(bench: Workbench, service: ScriptedService) -> None:
    await bench.type("Go")
    await bench.press("enter")
    for number in range(60):
        service.say(f"Paragraph {number} of the answer.\n\n")
    service.say("It ends in 文字 and NOTHING else.")
    service.finish()
    await bench.until(lambda: bench.store.chat.slice.value.phase == "idle")
    await bench.shows("NOTHING else.")
    assert "Paragraph 7 of" not in bench.text()
    await bench.press("escape", "slash")
    await bench.type("nothing")
    await bench.shows("find: ", "1 line ·")
    await bench.press(*["backspace"] * 7)
    await bench.type("paragraph 7")
    await bench.shows("1 line ·", "Paragraph 7 of")
    await bench.press(*["backspace"] * 11)
    await bench.type("graph 5")
    await bench.shows("11 lines ·", "Paragraph 5 of")
    await bench.press("enter", "left_square_bracket")
    await bench.shows("Paragraph 59 of")
    await bench.press("escape")
    await bench.until(lambda: "find: " not in bench.text())


async def test_the_cursor_of_the_list_is_on_the_chat_that_was_begun(
    bench: Workbench, service: ScriptedService
) -> None:
    chat = bench.store.chat.slice
    sessions = bench.app.screen.query_one("#sessions", VirtualTable)
    for question in ("First?", "Second?"):
        await bench.type(question)
        await bench.press("enter")
        service.say("Yes.")
        service.finish()
        await bench.until(lambda: chat.value.phase == "idle" and chat.value.sessions)
        await bench.until(lambda: sessions.key == chat.value.session_id)
        await bench.press("escape", "n")
        await bench.until(lambda: not chat.value.turns)


async def test_esc_twice_stops_the_answer_and_keeps_its_text(
    bench: Workbench, service: ScriptedService
) -> None:
    await bench.type("Tell me everything")
    await bench.press("enter")
    service.say("Once upon a time")
    await bench.shows("Once upon a time")
    await bench.press("escape")
    assert bench.store.chat.slice.value.phase == "writing"
    await bench.shows("◐ support v4", "■ Stop  esc again")
    await bench.press("escape")
    await bench.shows("Once upon a time", "Stopped.")
    await service.closed.wait()


async def test_esc_long_after_another_does_not_stop_the_answer(
    bench: Workbench, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.tui.base.screen.ARMED", 0.1)
    await bench.type("Tell me everything")
    await bench.press("enter")
    service.say("Once upon a time")
    await bench.press("escape")
    await asyncio.sleep(0.2)
    await bench.shows("■ Stop  esc esc")
    await bench.press("escape")
    assert bench.store.chat.slice.value.phase == "writing"
    await bench.press("ctrl+c")
    await bench.shows("Stopped.")


async def test_a_notice_is_seen_while_an_answer_is_written(
    bench: Workbench, service: ScriptedService
) -> None:
    await bench.type("Tell me everything")
    await bench.press("enter")
    service.say("Once upon a time")
    await bench.shows("Once upon a time")
    await bench.type("And then?")
    await bench.press("enter")
    await bench.shows("The answer is still being written: esc esc stops it.", "■ Stop")
    await bench.press("ctrl+c")
    await bench.shows("Stopped.")


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
    await bench.shows("Half an ans", "Cut off: the connection was lost. Retry asks again.")
    await bench.type("Go on")
    await bench.shows("Go on")


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
    await bench.until(lambda: not any(turn.live for turn in bench.app.screen.query(TurnView)))
    assert len(bench.app.screen.query("*")) < 400
    assert "Paragraph 199 of a long answer." in bench.text()
    # The field keeps the focus; it has no page of its own.
    await bench.press("pageup")
    await bench.until(lambda: "Paragraph 199 of a long answer." not in bench.text())
    await bench.press("pagedown")
    await bench.shows("Paragraph 199 of a long answer.")


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


async def answered(bench: Workbench, service: ScriptedService, question: str, answer: str) -> None:
    await bench.type(question)
    await bench.press("enter")
    service.say(answer)
    service.finish()
    await bench.shows(answer)
    await bench.until(lambda: bench.store.chat.slice.value.phase == "idle")


async def test_a_retry_keeps_the_answer_before(bench: Workbench, service: ScriptedService) -> None:
    await answered(bench, service, "How long?", "Three months.")
    await bench.press("ctrl+r")
    service.say("A quarter.")
    service.finish()
    await bench.shows("A quarter.", "‹ 2/2 ›")
    await bench.press("escape", "less_than_sign")
    await bench.shows("Three months.", "‹ 1/2 ›")
    await bench.pilot.click("Transcript Rendered", offset=_offset(bench, " ›"))
    await bench.shows("A quarter.", "‹ 2/2 ›")


def _offset(bench: Workbench, words: str) -> tuple[int, int]:
    """Where words of the transcript stand in its last turn, for a click."""
    lines = bench.text().splitlines()
    row = next(row for row, line in enumerate(lines) if words in line)
    column = lines[row].index(words) + len(words) - 1
    region = bench.app.screen.query("Transcript Rendered").last().region
    first = bench.app.screen.query("Transcript Rendered").first().region
    assert region.y >= first.y
    return (column - first.x, row - first.y)


async def test_the_last_question_is_changed_and_sent_again(
    bench: Workbench, service: ScriptedService
) -> None:
    await answered(bench, service, "How long?", "Three months.")
    await bench.press("escape", "e")
    await bench.shows("Edit question")
    await bench.press("escape")
    assert "Edit question" not in bench.text()
    await bench.press("escape", "e")
    await bench.type(" Exactly")
    await bench.press("enter")
    service.say("90 days.")
    service.finish()
    await bench.shows("How long? Exactly", "90 days.", "‹ 2/2 ›")
    assert [one["content"] for one in service.requests[-1]["messages"]] == ["How long? Exactly"]


async def test_what_was_asked_comes_back_with_the_arrows(
    bench: Workbench, service: ScriptedService
) -> None:
    await answered(bench, service, "One", "1")
    await answered(bench, service, "Two", "2")
    await bench.type("unsent")
    await bench.press("up", "up")
    assert bench.app.screen.query_one(Prompt).text == "One"
    await bench.press("down", "down")
    assert bench.app.screen.query_one(Prompt).text == "unsent"


async def test_a_call_is_shown_and_answered_in_the_field(
    bench: Workbench, service: ScriptedService
) -> None:
    await bench.type("Weather?")
    await bench.press("enter")
    service.call(("a23456789", "weather", '{"city": "[/b] Paris"}'))
    await bench.shows('calls weather(city="[/b] Paris")', 'Result of weather(city="[/b] Paris")')
    await bench.shows("What the function returned, or why it was not run")
    await bench.type("sunny")
    await bench.press("enter")
    service.say("It is sunny.")
    service.finish()
    await bench.shows("Result of weather", "sunny", "It is sunny.")
    assert service.requests[-1]["messages"][-1]["content"] == "sunny"


async def test_a_pasted_path_is_attached_and_can_be_taken_away(
    bench: Workbench, service: ScriptedService, tmp_path: Path
) -> None:
    path = tmp_path / "a b.pdf"
    path.write_bytes(b"abc")
    bench.app.screen.query_one(Prompt).post_message(events.Paste(f"'{path}'"))
    await bench.shows("▣ uploaded", "takes one away")
    await bench.press("backspace")
    await bench.until(lambda: not bench.store.chat.slice.value.attached)
    bench.app.screen.query_one(Prompt).post_message(events.Paste(str(path)))
    await bench.shows("▣ uploaded")
    await answered(bench, service, "What is it?", "A lease.")
    document, text = service.requests[-1]["messages"][-1]["content"]
    assert document["type"] == "document_url" and text["text"] == "What is it?"
    assert "▣ uploaded" in bench.text()


async def test_a_name_after_an_at_sign_is_offered(
    bench: Workbench, service: ScriptedService
) -> None:
    service.files = ["lease one.pdf", "lease two.pdf"]
    await bench.type("See @lease")
    await bench.shows("lease one.pdf", "lease two.pdf")
    await bench.press("down", "enter")
    await bench.shows('See @"lease two.pdf"', "▣ lease two.pdf")
    assert "lease one.pdf" not in bench.text()
    assert service.requests == []


async def test_another_model_answers_from_the_next_question_on(
    bench: Workbench, service: ScriptedService
) -> None:
    bench.store.session.slice.set(models=("large", "small"))
    await bench.press("alt+m")
    await bench.shows("Model of the next answers", "the agent's own")
    await bench.press("down", "enter")
    await bench.shows("support v4 · small")
    await answered(bench, service, "Hi", "Ho")
    assert [made["model"] for made in service.made] == ["small"]


async def test_parameters_hold_for_this_chat(bench: Workbench, service: ScriptedService) -> None:
    await bench.press("escape", "p")
    await bench.shows("Parameters of this chat")
    await bench.press("tab")
    await bench.type("warm")
    await bench.press("enter")
    await bench.shows("temperature is a number from 0 to 1.")
    await bench.press("ctrl+u")
    await bench.press("tab", "tab", "tab")
    await bench.type("7")
    await bench.press("enter")
    await bench.shows("seed 7")
    await bench.press("tab")
    await answered(bench, service, "Hi", "Ho")
    assert service.requests[-1]["random_seed"] == 7


async def test_a_chat_is_exported_and_never_over_a_file(
    bench: Workbench, service: ScriptedService, tmp_path: Path
) -> None:
    await answered(bench, service, "How long?", "Three months.")
    (tmp_path / "there.md").write_text("mine")
    for name, words in (("there.md", "There is a file of this name"), ("new.md", "Saved")):
        await bench.press("escape", "w", "ctrl+u")
        await bench.fill(str(tmp_path / name))
        await bench.press("enter")
        await bench.shows(words)
        await bench.press("escape")
    assert (tmp_path / "there.md").read_text() == "mine"
    assert "Three months." in (tmp_path / "new.md").read_text()


async def test_sessions_are_searched_by_what_was_said(
    bench: Workbench, service: ScriptedService
) -> None:
    await answered(bench, service, "How long?", "Three months.")
    await bench.store.chat.new("agent")
    await answered(bench, service, "Who pays?", "The landlord.")
    await bench.press("escape", "escape", "slash")
    await bench.type("months")
    await bench.shows("Chats with “months”")
    await bench.until(lambda: len(bench.store.chat.slice.value.sessions) == 1)
    await bench.press("enter", "enter")
    await bench.shows("Three months.")


async def test_a_question_stays_in_the_field_until_it_is_accepted(
    bench: Workbench, service: ScriptedService
) -> None:
    release = asyncio.Event()

    async def content() -> AsyncIterator[bytes]:
        await release.wait()
        yield b"abc"

    upload = bench.store.chat.attach(("lease.txt", 3, content()))
    await bench.shows("1 uploading")
    await bench.type("How long?")
    await bench.press("enter")
    await bench.shows("A file is still being uploaded.")
    prompt = bench.app.screen.query_one(Prompt)
    assert (prompt.text, service.requests) == ("How long?", [])
    release.set()
    await upload
    await bench.press("enter")
    service.say("Three months.")
    service.finish()
    await bench.shows("Three months.", "▣ uploaded")
    assert prompt.text == ""


async def test_the_question_that_is_changed_gives_back_what_was_typed(
    bench: Workbench, service: ScriptedService
) -> None:
    await answered(bench, service, "How long?", "Three months.")
    await bench.type("And then")
    prompt = bench.app.screen.query_one(Prompt)
    await bench.press("escape", "e")
    await bench.shows("Edit question")
    assert prompt.text == "How long?"
    await bench.press("escape")
    await bench.until(lambda: prompt.text == "And then")


async def test_a_command_is_allowed_before_it_answers_a_call(
    bench: Workbench, service: ScriptedService
) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(
        f"[tools.weather]\ncommand = ['{sys.executable}', '-c', 'print(\"Sunny.\")']\n"
    )
    await bench.press("escape", "p")
    await bench.shows("Tools of the settings: weather")
    bench.app.screen.query_one("#tools", Field).value = "weather"
    bench.app.screen.query_one("#save", Button).press()
    await bench.shows("tools weather")
    bench.app.screen.query_one(Prompt).focus()
    await bench.type("Weather?")
    await bench.press("enter")
    service.call(("a23456789", "weather", '{"city": "Paris"}'))
    await bench.shows("Let agents run this command?", "weather:", 'with {"city": "Paris"}')
    # What is typed meanwhile allows nothing.
    await bench.leave("enter")
    await bench.shows('Result of weather(city="Paris")')
    bench.store.chat.answer_call("a23456789", "Rain.")
    service.call(("b23456789", "weather", "{}"))
    await bench.shows("Let agents run this command?")
    await bench.press("right", "left", "right")
    await bench.leave("enter")
    await bench.shows("Sunny.")
    # This time only.
    service.call(("c23456789", "weather", "{}"))
    await bench.shows("Let agents run this command?", "In this chat")
    await bench.press("right", "right")
    await bench.leave("enter")
    service.call(("d23456789", "weather", "{}"))
    service.say("It is fine.")
    service.finish()
    await bench.shows("Sunny.", "It is fine.")


async def test_the_tools_of_a_chat_are_chosen_among_its_parameters(
    bench: Workbench, service: ScriptedService
) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text("[tools.weather]\ncommand = ['true']\ndescription = 'Weather.'\n")
    await bench.press("escape", "p")
    await bench.shows("Tools of the settings: weather")
    bench.app.screen.query_one("#tools", Field).value = "weather"
    bench.app.screen.query_one("#save", Button).press()
    await bench.shows("tools weather")
    assert bench.store.chat.slice.value.parameters.tools == ("weather",)
    bench.store.chat.send("Weather?")
    service.say("Fine.")
    service.finish()
    await bench.shows("Fine.")
    assert service.requests[-1]["tools"][0]["function"]["description"] == "Weather."
