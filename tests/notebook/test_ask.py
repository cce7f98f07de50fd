"""Questions from code, against a service that answers as it is told."""

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

import carrel
from carrel.notebook.bench.bench import Bench
from carrel.notebook.cells import cell
from carrel.notebook.cells.errors import BenchError
from carrel.notebook.results.answer import Answer
from carrel.store.tools.loop import STEPS
from support.panels import Wire
from support.scripted import ScriptedService, scripted_service


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    """A scripted service on a loop in a thread of its own: the bench's calls block this one."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    manager = scripted_service()
    service = asyncio.run_coroutine_threadsafe(manager.__aenter__(), loop).result(10)
    put = service._events.put_nowait

    def say(item: tuple[str, str] | None) -> None:
        loop.call_soon_threadsafe(put, item)

    service._events.put_nowait = say  # type: ignore[method-assign]
    yield service
    asyncio.run_coroutine_threadsafe(manager.__aexit__(None, None, None), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture
def bench(service: ScriptedService, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("CARREL_URL", service.url)
    monkeypatch.setenv("CARREL_API_KEY", "key")
    with carrel.connect() as bench:
        yield bench


def test_an_answer_is_text_sources_usage_and_version(
    bench: Bench, service: ScriptedService
) -> None:
    service.say("Three months.")
    service.finish(tokens=(20, 5))
    answer = bench.ask("support", "How long?", timeout=30)
    assert (answer.text, answer.sources, answer.version) == ("Three months.", (), 4)
    assert (answer.usage.prompt_tokens, answer.usage.total_tokens) == (20, 25)


def test_an_answer_that_was_cut_off_says_so(bench: Bench, service: ScriptedService) -> None:
    service.say("Three months and")
    service.finish(reason="length")
    answer = bench.ask("support", "How long?", timeout=30)
    assert answer.finish_reason == "length"
    assert repr(answer).endswith("\nCut off at the token limit.")
    assert "<em>Cut off at the token limit.</em>" in answer._repr_html_()


def test_an_answer_that_fails_or_is_stopped_keeps_its_text(
    bench: Bench, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[object] = []
    monkeypatch.setattr(cell, "get_ipython", lambda: SimpleNamespace(kernel=True))
    monkeypatch.setattr(cell, "_display", lambda one, **_: shown.append(one))
    monkeypatch.setattr(cell, "_update", lambda one, **_: None)
    service.say("Three months")
    with pytest.raises(BenchError) as stopped:
        bench.ask("support", "How long?", timeout=2)
    partial = stopped.value.partial
    assert partial is not None and (partial.text, partial.finish_reason) == (
        "Three months",
        "cancelled",
    )
    assert "it was stopped" in repr(partial) and shown[-1] == partial


def test_a_question_in_a_panel_that_is_stopped_keeps_its_text_on_the_error(
    bench: Bench, service: ScriptedService
) -> None:
    talk = bench.chat("support")
    service.say("Nine.")
    service.finish()
    assert talk.ask("How many keys?", timeout=30).text == "Nine."
    with pytest.raises(BenchError) as refused:
        talk.ask(" ", timeout=30)
    assert refused.value.partial is None
    service.say("Three months")
    with pytest.raises(BenchError) as stopped:
        talk.ask("How long?", timeout=2)
    partial = stopped.value.partial
    assert partial is not None
    assert (partial.text, partial.finish_reason) == ("Three months", "cancelled")


def test_a_question_takes_what_was_said_before_and_files_along(
    bench: Bench, service: ScriptedService
) -> None:
    service.say("Three months.")
    service.finish()
    first = bench.ask("support", "How long?", timeout=30)
    service.say("Two.")
    service.finish()
    system = {"role": "assistant", "content": "Ask me."}
    bench.ask("support", "And for workers?", history=[system, first], timeout=30)
    said = [(one["role"], one["content"]) for one in service.requests[-1]["messages"]]
    assert said == [
        ("assistant", "Ask me."),
        ("user", "How long?"),
        ("assistant", "Three months."),
        ("user", "And for workers?"),
    ]
    with pytest.raises(BenchError, match="no message"):
        bench.ask("support", "And?", history=[{"text": "?"}])


def test_another_version_answers_and_leaves_nothing_behind(
    bench: Bench, service: ScriptedService
) -> None:
    service.say("Three.")
    service.finish()
    assert bench.ask("support", "How long?", version=3, timeout=30).version == 3
    assert (len(service.made), service.removed) == (1, ["trial"])


def test_a_registered_function_answers_the_calls(bench: Bench, service: ScriptedService) -> None:
    @bench.tool
    def weather(city: str) -> str:
        """The weather in a city."""
        return f"sunny in {city}"

    service.call(("a23456789", "weather", '{"city": "Paris"}'))
    asking = threading.Thread(target=lambda: said.append(bench.ask("support", "?", timeout=30)))
    said: list[object] = []
    asking.start()
    while len(service.requests) < 2:
        threading.Event().wait(0.01)
    service.say("Sunny.")
    service.finish()
    asking.join()
    assert [repr(one) for one in said] == ["support v4: Sunny."]
    assert service.requests[1]["messages"][-1]["content"] == "sunny in Paris"
    assert weather("Rome") == "sunny in Rome"


def test_an_interrupt_stops_the_answer(
    bench: Bench, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Answer] = []

    def interrupt(bundle: dict[str, str] | Answer, **_: object) -> None:
        if isinstance(bundle, Answer):
            shown.append(bundle)
        elif "Once upon" in bundle["text/html"]:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(cell, "get_ipython", lambda: SimpleNamespace(kernel=True))
    monkeypatch.setattr(cell, "_display", interrupt)
    monkeypatch.setattr(cell, "_update", interrupt)
    service.say("Once upon")
    with pytest.raises(KeyboardInterrupt):
        bench.ask("support", "?", timeout=60)
    assert [one.text for one in shown] == ["Once upon"], "what was written stays in the cell"
    deadline = time.monotonic() + 30
    while not service.closed.is_set() and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    assert service.closed.is_set(), "the service hears of it"


def test_an_answer_is_shown_while_it_is_written(
    bench: Bench, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    def put(bundle: dict[str, str], **_: object) -> None:
        shown.append(bundle["text/html"])
        if "Three" in shown[-1] and len(service.requests) == 1:
            service.requests.append({})
            service.finish()

    monkeypatch.setattr(cell, "get_ipython", lambda: SimpleNamespace(kernel=True))
    monkeypatch.setattr(cell, "_display", put)
    monkeypatch.setattr(cell, "_update", put)
    service.say("Three **months**.")
    assert bench.ask("support", "?", timeout=60).text == "Three **months**."
    assert any("<strong>months</strong>" in one for one in shown)
    assert shown[-1] == "", "the result takes its place"


def test_a_call_that_nobody_answers_is_an_error_in_words(
    bench: Bench, service: ScriptedService
) -> None:
    service.call(("a23456789", "weather", "{}"))
    with pytest.raises(BenchError, match=r"weather\(\).*@bench.tool"):
        bench.ask("support", "?", timeout=30)


def test_an_agent_that_only_calls_functions_is_an_error_in_words(
    bench: Bench, service: ScriptedService
) -> None:
    @bench.tool
    def noon() -> str:
        """When it is noon."""
        return "12:00"

    for number in range(STEPS):
        service.call((f"a2345678{number}", "noon", "{}"))
    with pytest.raises(BenchError, match="Paused after 8 steps"):
        bench.ask("support", "?", timeout=30)
    assert noon() == "12:00"


def test_two_versions_stand_side_by_side(bench: Bench, service: ScriptedService) -> None:
    panel = bench.chat("support", versions=[3, 4])
    assert [chat.state["title"] for chat in panel.chats] == ["support v3", "support v4"]


def test_a_chat_panel_asks_from_code_and_shows_it(bench: Bench, service: ScriptedService) -> None:
    panel = bench.chat("support", height=300)
    service.say("Three months.")
    service.finish(tokens=(20, 5))
    answer = panel.ask("How long?", timeout=30)
    assert (repr(answer), answer.usage.total_tokens) == ("support v4: Three months.", 25)
    state = Wire(panel).wait_state(
        lambda state: not state["busy"] and any(turn["blocks"] for turn in state["turns"][1:])
    )
    assert "Three months." in state["turns"][1]["blocks"][0]
    with pytest.raises(BenchError, match=r"stopped after 0\.05 seconds"):
        panel.ask("And then?", timeout=0.05)


def test_versions_side_by_side_are_asked_from_code(bench: Bench, service: ScriptedService) -> None:
    panel = bench.chat("support", versions=[4, 4])
    for _ in panel.chats:
        service.say("Three.")
        service.finish()
    assert [answer.text for answer in panel.ask("How long?", timeout=30)] == ["Three."] * 2
