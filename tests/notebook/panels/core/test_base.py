import asyncio
import gc
import json
import threading
import weakref
from pathlib import Path

import pytest

import carrel.notebook
from carrel.notebook.panels.activity import ActivityPanel
from carrel.notebook.panels.agent import AgentPanel
from carrel.notebook.panels.chat import ChatPanel
from carrel.notebook.panels.compare import ComparePanel
from carrel.notebook.panels.core import assets
from carrel.notebook.panels.core.base import Panel
from carrel.notebook.panels.document import DocumentPanel
from carrel.notebook.panels.files import FilesPanel
from carrel.notebook.panels.library import LibraryPanel
from carrel.notebook.panels.workbench import Workbench
from carrel.store.core.actions.handle import Handle
from carrel.store.core.problem import Problem
from carrel.store.session.state import Connection
from carrel.store.store import Store
from carrel.wire.files import File
from support.panels import Wire

PANELS = [FilesPanel, LibraryPanel, DocumentPanel, AgentPanel, ChatPanel, ActivityPanel]


def file(name: str, number: int = 1) -> File:
    return File(
        id=f"f{number}",
        bytes=310_000,
        created_at=0,
        filename=name,
        purpose="ocr",
        sample_type="ocr_input",
        source="upload",
    )


def show(store: Store, *files: File) -> None:
    """Puts files into the state, on the loop that owns it."""
    state = store.files.slice

    async def put() -> None:
        state.set(items=files, total=len(files), loaded=True)

    store.loop.run(put()).result(10)


def test_hello_is_answered_to_the_view_that_said_it(store: Store) -> None:
    wire = Wire(FilesPanel(store))
    wire.send({"kind": "hello", "view": "v7", "rid": "v7-1"})
    answer = wire.wait(lambda content: content.get("rid") == "v7-1")
    assert answer == {"kind": "done", "rid": "v7-1", "result": None, "to": "v7"}


def test_an_intent_is_acknowledged_before_it_is_done(store: Store) -> None:
    show(store, file("a.pdf"))
    wire = Wire(FilesPanel(store))
    wire.ask("mark", id="f1")
    assert [content["kind"] for content in wire.contents] == ["ack", "done"]
    assert [*store.files.slice.value.marked] == ["f1"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("format_disk", {}),
        ("mark", {}),
        ("mark", {"id": ["f1"]}),
        ("mark", {"id": "f1", "more": 1}),
        ("close", {}),
        ("dispatch", {}),
    ],
)
def test_what_is_not_an_intent_is_refused_in_words(
    store: Store, name: str, arguments: dict[str, object]
) -> None:
    wire = Wire(FilesPanel(store))
    answer = wire.ask(name, **arguments)
    assert answer["kind"] == "error"
    assert answer["problem"]["advice"] == "Run the cell again."


@pytest.mark.parametrize("content", ["hello", None, [], {}, {"kind": "intent"}, {"kind": "chunk"}])
def test_a_message_without_meaning_does_no_harm(store: Store, content: object) -> None:
    wire = Wire(FilesPanel(store))
    wire.send(content)
    assert wire.ask("mark", id="f1")["kind"] == "done"


def test_a_failed_action_answers_with_the_store_s_words(store: Store) -> None:
    async def lock() -> None:
        store.session.slice.set(read_only=True)

    wire = Wire(FilesPanel(store))
    store.loop.run(lock()).result(10)
    answer = wire.ask("delete", ids=["f1"])
    assert answer["kind"] == "error"
    assert answer["problem"]["title"] == "Read-only profile"


def test_only_the_store_s_thread_sends(store: Store) -> None:
    wire = Wire(FilesPanel(store))
    caller = threading.Thread(target=lambda: wire.ask("mark", id="f1"), name="a-subshell")
    caller.start()
    caller.join()
    show(store, file("report.pdf"))
    wire.wait_state(lambda state: state["rows"])
    assert wire.threads == {"carrel-store"}


@pytest.mark.parametrize(("count", "buttons"), [(3, 3), (50_000, 0)])
def test_the_pages_of_a_long_document_are_not_sent(store: Store, count: int, buttons: int) -> None:
    async def put() -> None:
        store.documents.slice.set(pages=(None,) * count, page_count=count)

    store.loop.run(put()).result(10)
    panel = DocumentPanel(store)
    assert len(panel.state["pages"]) == buttons
    assert panel.state["page_count"] == count


def test_the_state_follows_the_store(store: Store) -> None:
    wire = Wire(FilesPanel(store))
    show(store, file("report.pdf"))
    state = wire.wait_state(lambda state: state["rows"])
    assert state["rows"][0]["cells"][:3] == ["report.pdf", "ocr", "310 kB"]
    assert json.loads(json.dumps(state)) == state


def test_a_state_that_is_the_same_is_not_sent_again(store: Store) -> None:
    panel = FilesPanel(store)
    wire = Wire(panel)
    show(store, file("report.pdf"))
    wire.wait_state(lambda state: state["rows"])
    before = len(wire.states)

    async def refresh() -> None:
        panel.refresh()

    store.loop.run(refresh()).result(10)
    assert len(wire.states) == before


def test_a_lost_server_is_said_in_every_panel(store: Store) -> None:
    wires = [Wire(kind(store)) for kind in PANELS]

    async def lose() -> None:
        store.session.slice.set(connection="lost", since=1.0)

    store.loop.run(lose()).result(10)
    for wire in wires:
        wire.wait_state(lambda state: state["connection"].startswith("○ Offline: showing a copy"))


def test_an_unknown_option_names_the_right_one(store: Store) -> None:
    with pytest.raises(TypeError, match="did you mean height"):
        FilesPanel(store, heigth=300)


@pytest.mark.parametrize("kind", PANELS)
def test_a_panel_says_what_it_is_in_one_line(store: Store, kind: type[Panel]) -> None:
    panel = kind(store)
    assert repr(panel) == f"<{kind.__name__} of profile test>"


def test_without_a_kernel_a_table_stands_in(store: Store) -> None:
    panel = FilesPanel(store)
    wire = Wire(panel)
    show(store, file("<script>alert(1)</script>.pdf"))
    wire.wait_state(lambda state: state["rows"])
    bundle = panel._repr_mimebundle_()
    assert bundle is not None
    assert "&lt;script&gt;" in bundle[0]["text/html"]
    assert "<script>" not in bundle[0]["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle[0]


def test_a_closed_panel_hears_nothing_more_and_is_collected(store: Store) -> None:
    panel = FilesPanel(store)
    wire = Wire(panel)
    show(store, file("one.pdf"))
    wire.wait_state(lambda state: state["rows"])
    with panel:
        pass
    sent = len(wire.messages)
    show(store, file("two.pdf"))
    assert len(wire.messages) == sent
    gone = weakref.ref(panel)
    del panel, wire
    gc.collect()
    assert gone() is None


def test_a_closed_workbench_closes_its_panels(store: Store) -> None:
    files = FilesPanel(store)
    workbench = Workbench(store, {"Files": files})
    assert workbench.state["tabs"][0]["panel"] == f"anywidget:{files.model_id}"
    workbench.close()
    assert files.comm is None


@pytest.mark.parametrize("kind", [*PANELS, ComparePanel, Workbench])
def test_a_panel_s_module_is_small_and_asks_no_network(kind: type[Panel]) -> None:
    module = str(kind._esm)
    assert len(module.encode()) < 50_000
    for text in (module, str(kind._css)):
        assert "//cdn" not in text
        assert "http" not in text
        assert "import(" not in text
        assert "@import" not in text


def test_every_static_text_belongs_to_a_panel() -> None:
    folder = Path(carrel.notebook.__path__[0]) / "static"
    panels = {kind.__name__[: -len("Panel")].lower() for kind in PANELS}
    parts = {*assets.SHARED, *(part for parts in assets.PARTS.values() for part in parts)}
    named = parts | {"compare", "demo", "evals", "workbench", "still"} | panels
    assert {path.stem for path in folder.iterdir()} == named


def test_a_page_that_comes_and_goes_leaves_one_clock(store: Store) -> None:
    panel = FilesPanel(store)
    wire = Wire(panel)
    before = len(tasks(store))
    for number in range(9):
        wire.send({"kind": "hello", "view": f"v{number}", "rid": f"v{number}-1"})
        if number < 8:
            wire.send({"kind": "goodbye", "view": f"v{number}"})
    wire.wait(lambda content: content.get("rid") == "v8-1")
    assert len([name for name in tasks(store) if "tick" in name]) == 1
    wire.send({"kind": "goodbye", "view": "v8"})
    settle(store)
    assert len(tasks(store)) == before


def tasks(store: Store) -> list[str]:
    """The coroutines that run on the store's loop."""

    async def running() -> list[str]:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        return [str(task.get_coro()) for task in others]

    found = store.loop.run(running()).result(10)
    assert found is not None
    return found


def settle(store: Store) -> None:
    """Waits until what was sent is taken in."""
    for _ in range(3):
        store.loop.run(asyncio.sleep(0)).result(10)


def test_a_panel_that_no_page_shows_rests_until_one_does(store: Store) -> None:
    wire = Wire(ActivityPanel(store))
    wire.send({"kind": "hello", "view": "v", "rid": "v-1"})
    wire.send({"kind": "goodbye", "view": "v"})
    settle(store)
    sent = len(wire.messages)
    store.activity.begin("upload", "a.pdf")
    settle(store)
    assert len(wire.messages) == sent
    wire.send({"kind": "hello", "view": "w", "rid": "w-1"})
    assert wire.wait_state(lambda state: state["rows"])["rows"][0]["cells"][1] == "a.pdf"


def test_what_failed_without_the_server_is_loaded_again_once_it_is_back(store: Store) -> None:
    loads: list[str] = []

    class Counting(FilesPanel):
        def _loads(self) -> list[Handle[object]]:
            loads.append("files")
            return []

    Wire(Counting(store))

    async def pass_through(*connections: Connection) -> None:
        for connection in connections:
            store.session.slice.set(connection=connection)
            await asyncio.sleep(0.1)

    store.loop.run(pass_through("ready", "slow", "ready")).result(10)
    assert loads == []
    store.loop.run(pass_through("lost", "starting", "ready")).result(10)
    assert loads == ["files"]


def test_the_static_page_has_neither_paths_nor_addresses_nor_ages(store: Store) -> None:
    async def begin() -> None:
        store.activity.begin("sync", "/srv/secret/contracts")
        entry = store.activity.begin("upload", "a.pdf")
        problem = Problem("Lost", "The connection to 127.0.0.1:9 was lost.")
        store.activity.change(entry.id, status="failed", error=problem)

    store.loop.run(begin()).result(10)
    show(store, file("report.pdf"))
    workbench = Workbench(store, {"Files": FilesPanel(store), "Activity": ActivityPanel(store)})
    bundle = workbench._repr_mimebundle_()
    assert bundle is not None
    page = bundle[0]["text/html"]
    for name in ("report.pdf", "contracts", "a.pdf"):
        assert name in page
    for private in ("/srv/secret", "127.0.0.1", " ago", "now<"):
        assert private not in page


def test_a_question_goes_to_the_chat_that_the_view_showed(store: Store) -> None:
    wire = Wire(ChatPanel(store))

    async def open_chat() -> None:
        store.chat.slice.set(session_id="second", agent_id="a1")

    store.loop.run(open_chat()).result(10)
    message = {"kind": "intent", "view": "v", "name": "send", "args": {"text": "How long?"}}
    wire.send({**message, "rid": "r1", "of": "first"})
    answer = wire.wait(lambda content: content.get("rid") == "r1" and content["kind"] != "ack")
    assert answer["problem"]["title"] == "The panel shows something else by now"
    assert store.chat.slice.value.turns == ()
    wire.send({**message, "rid": "r2", "of": "second"})
    answer = wire.wait(lambda content: content.get("rid") == "r2" and content["kind"] != "ack")
    assert answer["kind"] == "done"


@pytest.mark.parametrize("kind", PANELS)
def test_completion_lists_public_names_of_the_panel_alone(store: Store, kind: type[Panel]) -> None:
    names = dir(kind(store))
    assert {"close", "height"} <= {*names}
    assert not [name for name in names if name.startswith("_")]
    assert not {"comm", "observe", "trait_names", "touch_still", "state"} & {*names}
