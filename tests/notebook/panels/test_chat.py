import time
from pathlib import Path

import pytest

from carrel.notebook.panels.chat import ChatPanel
from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.evals.cases import load_set
from carrel.store.store import Store
from carrel.wire.generation.completions import Passage
from support.panels import Wire


def put(store: Store, *turns: Turn, **fields: object) -> None:
    """Sets the open session's turns, on the loop that owns the state."""

    async def change() -> None:
        conversation = Conversation.of(*turns)
        store.chat.slice.set(
            session_id="s1", agent_name="support", conversation=conversation, **fields
        )

    store.loop.run(change()).result(10)


def text_of(wire: Wire) -> str:
    """The answer as a view has it that applied every delta so far."""
    blocks: list[str] = []
    for content in wire.contents:
        if content["kind"] == "delta":
            blocks[content["from"] :] = content["blocks"]
    return "".join(blocks)


def test_an_answer_under_way_goes_in_deltas_and_its_end_in_the_state(store: Store) -> None:
    wire = Wire(ChatPanel(store))
    question = Turn("user", "How long?")
    words = [f"word{number} " for number in range(300)]
    began = time.monotonic()
    for number in range(0, 300, 3):
        text = "# Answer\n\n" + "".join(words[:number])
        put(store, question, Turn("assistant", text, "writing"), phase="writing", started=1.0)
    whole = "# Answer\n\n" + "".join(words)
    put(store, question, Turn("assistant", whole, "writing"))
    wire.wait(lambda content: "word299" in str(content))
    seconds = time.monotonic() - began
    assert text_of(wire).startswith("<h1>Answer</h1>")
    assert len(wire.messages) < 40 * (1 + seconds)
    assert not any("word0" in str(state) for state in wire.states)
    put(store, question, Turn("assistant", whole, "done"), phase="idle", started=None)
    state = wire.wait_state(lambda state: not state["busy"] and state["turns"])
    assert "".join(state["turns"][1]["blocks"]) == text_of(wire)


def test_a_heading_that_is_finished_is_not_sent_again(store: Store) -> None:
    wire = Wire(ChatPanel(store))
    put(store, Turn("assistant", "# Answer\n\nOne", "writing"))
    wire.wait(lambda content: "One" in str(content))
    put(store, Turn("assistant", "# Answer\n\nOne and two", "writing"))
    delta = wire.wait(lambda content: "two" in str(content))
    assert (delta["from"], delta["blocks"]) == (1, ("<p>One and two</p>\n",))


def test_a_view_that_comes_late_gets_what_is_written(store: Store) -> None:
    wire = Wire(ChatPanel(store))
    put(store, Turn("assistant", "One", "writing"))
    wire.wait(lambda content: content["kind"] == "delta")
    wire.send({"kind": "hello", "view": "late", "rid": "r1"})
    delta = wire.wait(lambda content: content["kind"] == "delta" and content.get("to") == "late")
    assert delta["blocks"] == ("<p>One</p>\n",)


def test_a_question_is_sent_as_it_was_typed(store: Store) -> None:
    wire = Wire(ChatPanel(store))
    put(store, Turn("user", "Which?\n* this *"), Turn("assistant", "*This*"))
    state = wire.wait_state(lambda state: len(state["turns"]) == 2)
    assert [turn["blocks"] for turn in state["turns"]] == [
        ["<p>Which?<br>* this *</p>"],
        ["<p><em>This</em></p>\n"],
    ]


def test_another_answer_begins_from_nothing(store: Store) -> None:
    wire = Wire(ChatPanel(store))
    put(store, Turn("assistant", "One", "writing"))
    wire.wait(lambda content: "One" in str(content))
    put(store, Turn("assistant", "One"), Turn("user", "?"), Turn("assistant", "One", "writing"))
    delta = wire.wait(lambda content: content["kind"] == "delta" and content["turn"] == 2)
    assert delta["from"] == 0


@pytest.mark.parametrize(
    ("status", "note"),
    [
        ("stopped", "Stopped."),
        ("failed", "Cut off: the service failed. Retry asks again."),
        ("lost", "Cut off: the connection was lost. Retry asks again."),
    ],
)
def test_an_answer_that_ended_early_says_so(store: Store, status: str, note: str) -> None:
    wire = Wire(ChatPanel(store))
    put(store, Turn("assistant", "One", status))  # type: ignore[arg-type]
    state = wire.wait_state(lambda state: state["turns"])
    assert state["turns"][0]["note"] == note


def test_sources_stand_beside_the_answer_as_text(store: Store) -> None:
    passage = Passage(
        index=1,
        library_id="l",
        document_id="d",
        document_name="lease.pdf",
        page=6,
        snippet="<b>three</b> months",
    )
    wire = Wire(ChatPanel(store))
    put(store, Turn("assistant", "Three.", sources=(passage,)))
    source = wire.wait_state(lambda state: state["turns"])["turns"][0]["sources"][0]
    assert source["label"] == "[1] lease.pdf p.7"
    assert source["title"] == "Source 1 · lease.pdf p. 7"
    assert source["snippet"] == "<b>three</b> months"


def test_an_answer_becomes_a_test_case(store: Store, tmp_path: Path) -> None:
    wire = Wire(ChatPanel(store))
    put(store, Turn("user", "How long?"), Turn("assistant", "Three months."))
    wire.wait_state(lambda state: len(state["turns"]) == 2)
    file = tmp_path / "cases.yaml"
    answer = wire.ask("take_case", turn=1, good=True, file=str(file))
    assert answer["result"] == "cases.yaml"
    [case] = load_set(file).cases
    assert case.question == "How long?"
    refused = wire.ask("take_case", turn=0, good=True, file=str(file))
    assert refused["problem"]["title"] == "No answer to take"
