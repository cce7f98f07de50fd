"""What a chat shows."""

from dataclasses import replace

import pytest

from carrel.store.chat import formatting as chat
from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.chat.sessions.saved import SessionSummary
from carrel.store.chat.state import ChatState
from carrel.store.tools.state import AgentCall
from carrel.wire.generation.completions import Passage, Progress

NOW = 1_800_000_000.0

HOSTILE = "invoice [/final]\nsecond line.pdf"

FLAT = "invoice [/final] second line.pdf"


def test_the_transcript() -> None:
    source = Passage(
        index=1, library_id="l", document_id="d", document_name=HOSTILE, page=6, snippet=""
    )
    answer = Turn("assistant", "Three [1].", "stopped", (source,), 3, 0.42, 31.4, 2300, 10)
    state = ChatState(
        session_id="s",
        agent_name="support",
        version=4,
        conversation=Conversation.of(Turn("user", "How long?"), answer),
        sessions=(SessionSummary("s", HOSTILE, "a", "support", NOW - 130, 2),),
        context_length=8192,
        phase="waiting",
        step=Progress(stage="searching"),
        started=NOW - 1.2,
    )
    question, row = chat.turn_rows(state)
    assert (question.speaker, question.figures, question.note) == ("You", "", "")
    assert (row.speaker, row.figures, row.note) == ("support v3", "0.4 s · 31 tok/s", "Stopped.")
    assert row.variant == ""
    assert row.sources == (chat.SourceRow(1, f"[1] {FLAT} p.7", cited=True),)
    assert chat.tokens(state) == "2,310 of 8,192 tokens"
    assert chat.phase_words(state, NOW) == "◐ support v4: searching its libraries … 1.2 s"
    (line,) = chat.session_rows(state, NOW)
    assert (line.title, line.age, line.selected) == (FLAT, "2 min ago", True)
    compared = replace(state.sessions[0], beside=("t",))
    (beside,) = chat.session_rows(replace(state, sessions=(compared,)), NOW)
    assert beside.title == f"⇄ {FLAT}"
    assert (chat.title(ChatState()), chat.tokens(ChatState())) == ("Chat", "")
    assert chat.phase_words(ChatState(), NOW) == ""
    calling = replace(state, step=Progress(stage="calling", tool="mail_find"), started=None)
    assert chat.phase_words(calling, NOW) == "◐ support v4: calling mail_find …"


@pytest.mark.parametrize(
    ("text", "cited", "title"),
    [
        (f"[{'1' * 5000}]", set(), "Sources, none cited"),
        ("Three months [1].", {1}, "Sources"),
        ("Three months [1, 2] and [3].", {1, 2}, "Sources"),
        ("Three months [7].", set(), "Sources, none cited"),
        ("Three months.", set(), "Sources, none cited"),
    ],
)
def test_only_what_the_text_names_and_is_there_is_cited(
    text: str, cited: set[int], title: str
) -> None:
    sources = tuple(
        Passage(index=n, library_id="l", document_id="d", document_name="a.pdf", snippet="")
        for n in (1, 2)
    )
    turn = Turn("assistant", text, sources=sources)
    assert chat.citations_in(turn) == cited
    assert chat.sources_title(turn) == title


def test_an_agent_with_a_library_that_reports_no_search_is_marked() -> None:
    assert chat.end_note(Turn("assistant", "Three.", searches=True)) == chat.NO_SEARCH
    nothing = Turn("assistant", "Three.", searches=True, searched=True)
    assert chat.end_note(nothing) == chat.NOTHING_FOUND
    assert chat.end_note(Turn("assistant", "Three.")) == ""
    assert chat.end_note(Turn("assistant", "Thr", "writing", searches=True)) == ""
    assert chat.end_note(Turn("assistant", "Thr", cut=True)) == chat.CUT


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"city": "Paris", "days": 3}', 'weather(city="Paris", days=3)'),
        ("", "weather()"),
        ("no json\n", "weather(no json )"),
        ("[1]", "weather([1])"),
    ],
)
def test_a_call_in_words(arguments: str, words: str) -> None:
    assert chat.call_words(AgentCall("1", "weather", arguments)) == words


def test_what_waits_for_a_result_is_named_where_it_is_typed() -> None:
    calls = (AgentCall("1", "weather", "{}"), AgentCall("2", "time", "{}"))
    state = ChatState(conversation=Conversation.of(Turn("assistant", "", calls=calls)))
    assert chat.prompt_title(state) == "Result of weather() · 1 more"
    conversation = state.conversation.add(Turn("tool", "sunny", call_id="1"))
    answered = ChatState(conversation=conversation)
    assert chat.prompt_title(answered) == "Result of time()"
    assert [row.speaker for row in chat.turn_rows(answered)][1] == "Result of weather"


def test_variants_are_numbered() -> None:
    conversation = Conversation.of(Turn("user", "How long?"), Turn("assistant", "One"))
    conversation = conversation.cut_before(1).add(Turn("assistant", "Two"))
    question, answer = chat.turn_rows(ChatState(conversation=conversation))
    assert (question.variant, answer.variant, answer.text) == ("", "‹2/2›", "Two")


def test_code_blocks_are_taken_whole() -> None:
    text = "a\n```python\nx = 1\n```\nb\n~~~\n```\n~~~\n"
    assert chat.code_blocks(text) == ("x = 1\n", "```\n")
