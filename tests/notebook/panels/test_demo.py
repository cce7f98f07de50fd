"""A demo in a panel, against a real server."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import carrel
from carrel import samples
from carrel.client import Client
from carrel.notebook.cells.errors import BenchError
from carrel.notebook.panels.demo import DemoPanel
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.demo.script import load_demo
from carrel.store.demo.setting import own_profile
from carrel.store.store import Store
from support.panels import Wire
from support.process import RunningServer
from support.spoken import SpokenModel, searching
from support.workbench import profile_of

FILE = """\
title: Leases for everybody
needs:
  libraries:
  - {name: leases, documents: [lease.txt]}
  agents:
  - {name: clerk, libraries: [leases]}
steps:
- say: A library.
  show: {library: leases}
  wait: {text: lease.txt}
- search: notice
  wait: passages found
- show: {hit: 1}
  wait: document ready
- say: Keys.
  press: [f1]
- show: {chat: clerk}
- say: The clerk is asked.
  ask: Who pays?
  pace: each key
  wait: answer finished
  recorded: The tenant, by a recorded clerk.
- show: {source: 9}
"""
Play = Callable[[Path], Wire]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "lease.txt").write_text("The notice period is three months.")
    path = tmp_path / "demo.yaml"
    path.write_text(FILE)
    return path


@pytest.fixture
def play(talking: tuple[RunningServer, SpokenModel]) -> Iterator[Play]:
    """Opens the panel of a demo; at the end nothing of it is left."""
    server, _ = talking
    loop = OwnerLoop.in_thread()
    panels: list[DemoPanel] = []

    def begin(path: Path) -> Wire:
        store = Store(replace(profile_of(server), home=own_profile().home), loop)
        panel = DemoPanel(store, load_demo(path), path.parent)
        panels.append(panel)
        return Wire(panel)

    async def left() -> list[str | None]:
        async with Client(server.url, server.api_key) as client:
            names: list[str | None] = [one.name async for one in client.agents.every()]
            names += [one.name async for one in client.libraries.every()]
            return names + [one.id async for one in client.conversations.every()]

    yield begin
    for panel in panels:
        panel.close()
    assert loop.run(left()).result(10) == []
    assert not exists()
    loop.close()


def exists() -> bool:
    """Whether anything of the place of demos is left."""
    home = own_profile().home
    return home is not None and home.exists()


def came(wire: Wire, words: str) -> dict[str, Any]:
    return wire.wait_state(lambda state: state["place_words"] == words)


def see(wire: Wire) -> None:
    """Tells what a view does that shows the text which is looked for."""
    text = wire.wait_state(lambda state: state["looks_for"])["looks_for"]
    wire.ask("seen", text=text)


def test_a_demo_is_played_asked_jumped_and_ended(
    play: Play, file: Path, model: SpokenModel
) -> None:
    model.answer = lambda body: {"content": "The tenant."}
    wire = play(file)
    assert came(wire, "0 of 7 steps")["place"] is None
    wire.ask("next")
    see(wire)
    assert came(wire, "1 of 7 steps")["place"] == "libraries"
    wire.ask("next")
    came(wire, "2 of 7 steps")
    wire.ask("next")
    assert came(wire, "3 of 7 steps")["place"] == "document"
    wire.ask("next")
    left_out = came(wire, "4 of 7 steps")
    assert (left_out["caption"], bool(left_out["note"])) == ("Keys.", True)
    wire.ask("next")
    assert came(wire, "5 of 7 steps")["place"] == "chat"
    wire.ask("next")
    for count in range(len("Who pays?")):
        wire.wait_state(
            lambda _, count=count: (  # type: ignore[misc]
                len([one for one in wire.states if one["awaits_key"]]) > count
            )
        )
        wire.ask("key")
    came(wire, "6 of 7 steps")
    assert model.questions == ["Who pays?"]
    wire.ask("next")
    failed = wire.wait_state(lambda state: state["trouble"])
    assert "There is no source 9" in failed["trouble"]
    wire.messages.clear()
    wire.ask("jump", step=3)
    see(wire)
    assert came(wire, "3 of 7 steps")["place"] == "document"
    wire.ask("end")
    wire.wait_state(lambda state: "is removed" in state["place_words"])
    assert wire.ask("next")["kind"] == "error"


def test_an_answer_that_fails_has_a_recorded_one(
    play: Play, file: Path, model: SpokenModel
) -> None:
    def breaks_off(body: object) -> dict[str, str]:
        raise ConnectionResetError

    model.answer = breaks_off
    file.write_text(FILE.replace("pace: each key", "pace: at once"))
    wire = play(file)
    came(wire, "0 of 7 steps")
    wire.ask("jump", step=5)
    see(wire)
    came(wire, "5 of 7 steps")
    wire.ask("next")
    wire.wait_state(lambda state: "recorded answer" in state["trouble"])
    wire.ask("next")
    shown = wire.wait_state(lambda state: state["recorded"])
    assert (shown["phase"], shown["recorded"]) == ("recorded", "The tenant, by a recorded clerk.")
    assert "Recorded" in shown["recorded_title"]
    wire.ask("next")
    wire.wait_state(lambda state: "There is no source 9" in state["trouble"])


def test_the_demo_that_ships_comes_to_its_end(play: Play, model: SpokenModel) -> None:
    model.answer = searching("library", "Documents that an agent can search.")
    wire = play(samples.demo())
    count = len(load_demo(samples.demo()).steps)
    for step in range(count):
        came(wire, f"{step} of {count} steps")
        wire.messages.clear()
        wire.ask("next")
        if load_demo(samples.demo()).steps[step].wait and step in (0, 3, 4):
            see(wire)
        assert not any(state["trouble"] for state in wire.states)
    wire.wait_state(lambda state: state["ended"])


def test_a_panel_that_is_closed_while_it_makes_leaves_nothing(play: Play, file: Path) -> None:
    wire = play(file)
    wire.panel.close()
    assert not exists()


def test_two_demos_are_not_played_at_once(play: Play, file: Path) -> None:
    came(play(file), "0 of 7 steps")
    refused = play(file).wait_state(lambda state: state["problem"])
    assert refused["problem"]["title"] == "A demo is under way"


def test_a_malformed_file_is_refused_with_its_line(file: Path) -> None:
    file.write_text(FILE.replace("ask: Who", "aks: Who"))
    with (
        carrel.connect(url="http://127.0.0.1:9", api_key="none") as bench,
        pytest.raises(BenchError, match="line 19"),
    ):
        bench.demo(file)
