"""Versions side by side, against the real server."""

from collections.abc import Iterator

import pytest

import carrel
from carrel.notebook.bench.bench import Bench
from carrel.notebook.cells.errors import BenchError
from carrel.notebook.panels.compare import ComparePanel
from carrel.store.chat.formatting import HIDDEN
from support.panels import Wire
from support.process import RunningServer
from support.spoken import SpokenModel


@pytest.fixture
def bench(talking: tuple[RunningServer, SpokenModel]) -> Iterator[Bench]:
    server, _ = talking
    with carrel.connect(url=server.url, api_key=server.api_key) as bench:
        yield bench


@pytest.fixture
def panel(bench: Bench) -> ComparePanel:
    agent = bench.create_agent("compared", instructions="Answer at length.")
    bench.edit_agent(agent, instructions="Answer in one sentence.")
    return bench.chat("compared", versions=[0, 1], blind=True)


def test_versions_are_asked_judged_and_gone_on_with(bench: Bench, panel: ComparePanel) -> None:
    wire = Wire(panel)
    answers = panel.ask("How long is the notice period?", timeout=60)
    assert [answer.version for answer in answers] == [0, 1]
    state = wire.wait_state(lambda state: state["answered"] and not state["busy"])
    assert (state["names"], state["hidden"]) == (["A", "B"], True)
    for chat in panel.chats:
        hidden = Wire(chat).wait_state(lambda state: state["title"] in ("A", "B"))
        assert (hidden["agent"], hidden["model"], hidden["agents"]) == (None, "", [])
        assert hidden["turns"][-1]["speaker"] in ("A", "B")
    assert wire.ask("agents_differ", old=0, new=1)["problem"]["title"] == "The names are hidden"
    assert wire.ask("answers_differ", old=0, new=1)["result"]["title"] == "A → B"
    assert wire.ask("vote", place=0)["kind"] == "done"
    shown = wire.wait_state(lambda state: state["judged"] and not state["hidden"])
    assert panel.votes == f"{shown['names'][0]} 1"
    assert wire.ask("note", text="clearer")["kind"] == "done"
    wire.wait_state(lambda state: ": clearer" in state["judged"])
    found = wire.ask("agents_differ", old=0, new=1)["result"]
    assert [row["field"] for row in found["rows"]] == ["instructions"]
    panel.ask("And who pays?", timeout=60)
    older = Wire(panel.chats[0]).wait_state(lambda state: len(state["turns"]) == 4)["turns"][1]
    assert (older["note"], older["blocks"]) == (HIDDEN, [])
    assert wire.ask("go_on", place=0)["kind"] == "error"
    wire.ask("vote", place=None)
    assert wire.ask("go_on", place=1)["kind"] == "done"
    alone = wire.wait_state(lambda state: not state["compared"])
    assert [chat["place"] for chat in alone["chats"]] == [0, None]
    panel.close()
    assert all(chat.comm is None for chat in panel.chats)


def test_one_version_is_no_comparison(bench: Bench) -> None:
    with pytest.raises(TypeError, match="2 to 4 versions or agents"):
        bench.chat("compared", versions=[0])


def test_a_version_that_is_not_there_is_an_error_in_words(bench: Bench) -> None:
    agent = bench.create_agent("counted", instructions="One.")
    with pytest.raises(BenchError, match="counted has version 0; there is no version 9"):
        bench.chat(agent, versions=[0, 9])
    bench.edit_agent(agent, instructions="Two.")
    for ask in (
        lambda: bench.chat("counted", beside=[("counted", 9)]),
        lambda: bench.ask("counted", "Hello?", version=9),
    ):
        with pytest.raises(BenchError, match="counted has versions 0–1; there is no version 9"):
            ask()


def test_agents_versions_and_drafts_are_asked_beside_each_other(bench: Bench) -> None:
    bench.create_agent("first", instructions="One.")
    second = bench.create_agent("second", instructions="Two.")
    bench.edit_agent(second, instructions="Two, shorter.")
    draft = bench.draft("first", instructions="One, tried.")
    panel = bench.chat("first", beside=["second", ("second", 0), draft])
    answers = panel.ask("Hello?", timeout=60)
    named = [(answer.agent, answer.version) for answer in answers]
    assert named == [("first", 0), ("second", 1), ("second", 0), ("first", None)]
    wire = Wire(panel)
    found = wire.ask("agents_differ", old=0, new=3)["result"]
    assert [row["field"] for row in found["rows"]] == ["instructions"]
    assert wire.ask("vote", place=1)["kind"] == "done"
    count = bench.votes()
    assert "second v1: 1 won, 0 lost, 0 tied" in repr(count)
    assert "<td>second v1</td><td>1</td>" in count._repr_html_()
    rows = wire.ask("votes")["result"]["rows"]
    assert ["first draft", "0", "1", "0", "0 %"] in [list(row) for row in rows]
    assert bench.agent("first").versions[0].instructions == "One.", "a draft is never saved"
    alone = bench.chat(bench.draft("first", instructions="Alone."))
    assert alone.ask("Hello?", timeout=60).version is None
    with pytest.raises(carrel.BenchError, match="There is no agent “nobody”"):
        bench.chat("first", beside=["nobody"])
    with pytest.raises(TypeError, match="2 to 4 versions or agents"):
        bench.chat("first", beside=["second"] * 4)
    with pytest.raises(carrel.BenchError, match="less than or equal to 1"):
        bench.draft("first", temperature=3.0)
