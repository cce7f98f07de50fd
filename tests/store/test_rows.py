"""What the screens say, from states that were made by hand."""

from datetime import UTC, datetime
from typing import Any

import pytest

from carrel.store.activity import words as activity
from carrel.store.activity.service import ActivityItem, ActivityState
from carrel.store.agents import words as agents
from carrel.store.agents.service import AgentsState
from carrel.store.chat import words as chat
from carrel.store.chat.conversation import Call, Conversation, Turn
from carrel.store.chat.sessions import SessionSummary
from carrel.store.chat.state import ChatState
from carrel.store.core.diff import compare_agents
from carrel.store.core.problem import Problem
from carrel.store.documents import words as documents
from carrel.store.documents.service import DocumentState, Source
from carrel.store.files import words as files
from carrel.store.files.service import FilesState
from carrel.store.libraries import words as libraries
from carrel.store.libraries.service import LibrariesState
from carrel.store.session import words as session
from carrel.store.session.service import Connection, SessionState
from carrel.wire.agents import Agent, AgentAlias
from carrel.wire.completions import Passage, Progress
from carrel.wire.documents import Document
from carrel.wire.files import File
from carrel.wire.libraries import Library, SearchHit
from carrel.wire.ocr import Page, PageScores, WordScore

NOW = 1_800_000_000.0
THEN = datetime.fromtimestamp(NOW - 130, UTC)
HOSTILE = "invoice [/final]\nsecond line.pdf"
FLAT = "invoice [/final] second line.pdf"


def file(**fields: Any) -> File:
    known = {
        "id": "f", "bytes": 1_234_567, "created_at": int(NOW - 130), "filename": "a.pdf",
        "purpose": "ocr", "sample_type": "ocr_input", "source": "upload",
    }  # fmt: skip
    return File.model_validate({**known, **fields})


def document(**fields: Any) -> Document:
    known = {
        "id": "d", "library_id": "l", "name": "a.pdf", "created_at": THEN, "hash": None,
        "mime_type": None, "extension": None, "size": 1, "process_status": "done",
        "processing_status": "Completed", "uploaded_by_id": None, "uploaded_by_type": "User",
        "tokens_processing_total": 0,
    }  # fmt: skip
    return Document.model_validate({**known, **fields})


def library(**fields: Any) -> Library:
    known = {
        "id": "l", "name": "contracts", "created_at": THEN, "updated_at": THEN, "owner_id": None,
        "owner_type": "User", "total_size": 1, "nb_documents": 1204, "chunk_size": None,
    }  # fmt: skip
    return Library.model_validate({**known, **fields})


def agent(**fields: Any) -> Agent:
    known = {
        "id": "a", "name": "support", "model": "large", "version": 0, "versions": [0],
        "created_at": THEN, "updated_at": THEN,
    }  # fmt: skip
    return Agent.model_validate({**known, **fields})


@pytest.mark.parametrize(
    ("connection", "hosted", "read_only", "words"),
    [
        ("ready", False, False, "local ● ready · smollm2 (test model)"),
        ("ready", True, True, "local ▲ hosted, read-only · smollm2 (test model)"),
        ("ready", False, True, "local ● ready, read-only · smollm2 (test model)"),
        ("starting", False, False, "local ◐ starting · smollm2 (test model)"),
        ("slow", False, False, "local ◐ slow · smollm2 (test model)"),
        ("lost", True, False, "local ○ lost · smollm2 (test model)"),
        ("failed", False, False, "local ✕ failed · smollm2 (test model)"),
    ],
)
def test_header(connection: Connection, hosted: bool, read_only: bool, words: str) -> None:
    state = SessionState(
        "local", hosted, read_only, connection=connection, model="smollm2 (test model)"
    )
    assert session.header(state) == words


def test_the_status_line_speaks_only_when_something_is_wrong() -> None:
    lost = SessionState(
        "local", False, False, connection="lost", detail="lost the server, retrying"
    )
    assert session.status(lost) == "○ lost the server, retrying"
    assert session.status(SessionState("local", False, False, connection="ready")) == ""


def test_file_rows() -> None:
    state = FilesState(
        items=(file(filename=HOSTILE), file(id="g", num_lines=14_002, purpose="batch", bytes=None)),
        total=1204,
        page=2,
        page_size=20,
        selected="g",
        marked={id: file(id=id) for id in ("f", "elsewhere")},
    )
    first, second = files.file_rows(state, ActivityState(), NOW)
    assert (first.name, first.size, first.created) == (FLAT, "1.2 MB", "2 min ago")
    assert (first.marked, first.selected, first.ocr, first.pages) == (True, False, None, "")
    assert (second.size, second.pages, second.selected) == ("–", "14,002 lines", True)
    assert files.title(state) == "Files · 1,204 · 2 marked"
    assert files.shown(state) == "41–42 of 1,204"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("queued", "○ queued"),
        ("running", "◐ page 4"),
        ("done", "● done"),
        ("failed", "✕ failed"),
        ("cancelled", "○ stopped"),
    ],
)
def test_the_newest_reading_of_a_file_is_in_its_row(status: Any, words: str) -> None:
    newest = ActivityItem("2", "ocr", "a.pdf", status, done=3, total=12, unit="pages", subject="f")
    oldest = ActivityItem("1", "ocr", "a.pdf", "failed", subject="f")
    state = FilesState(items=(file(),))
    (row,) = files.file_rows(state, ActivityState((newest, oldest)), NOW)
    assert (str(row.ocr), row.pages) == (words, "12")


@pytest.mark.parametrize(
    ("status", "older", "words"),
    [
        ("todo", "Running", "○ Queued"),
        ("waiting_for_capacity", "Running", "○ Queued"),
        ("in_progress", "Running", "◐ Processing"),
        ("done", "Completed", "● Ready"),
        ("self_managed", "Completed", "● Ready"),
        ("error", "Error", "✕ Failed"),
        ("missing_content", "Error", "✕ Failed"),
        (None, "Running", "◐ Processing"),
        (None, "Completed", "● Ready"),
        ("brand_new_word", "Error", "✕ Failed"),
        ("brand_new_word", "Another", "● Ready"),
    ],
)
def test_document_status(status: str | None, older: str, words: str) -> None:
    shown = libraries.document_status(document(process_status=status, processing_status=older))
    assert str(shown) == words


def test_library_and_document_rows() -> None:
    waiting = {"process_status": "todo", "processing_status": "Running"}
    state = LibrariesState(
        items=(library(name=HOSTILE), library(id="m")),
        selected="l",
        documents=(
            document(name=HOSTILE, number_of_pages=12, summary="Lease\nbetween A and B"),
            document(id="e", queue_position=3, **waiting),
            document(id="g", process_status="error", error="not a PDF"),
        ),
        total=412,
        document="e",
    )
    one, two = libraries.library_rows(state)
    assert (one.name, one.documents, one.selected, one.busy) == (FLAT, "1,204", True, True)
    assert (two.selected, two.busy) == (False, False)
    ready, queued, failed = libraries.document_rows(state, NOW)
    assert (ready.name, ready.pages, ready.summary) == (FLAT, "12", "Lease between A and B")
    assert (queued.pages, queued.summary, queued.selected) == ("–", "", True)
    assert failed.summary == "not a PDF"
    assert libraries.title(state) == f"{FLAT} · 412 documents · 2 not ready"
    assert libraries.shown(state) == "1–3 of 412"


@pytest.mark.parametrize(
    ("position", "words"), [(1, "1st"), (2, "2nd"), (4, "4th"), (12, "12th"), (23, "23rd")]
)
def test_places_in_the_queue(position: int, words: str) -> None:
    state = LibrariesState(
        documents=(document(process_status="todo", queue_position=position),), total=1
    )
    assert str(libraries.document_rows(state, NOW)[0].status) == f"○ Queued, {words}"


def test_hit_rows() -> None:
    hit = SearchHit(
        document_id="d", document_name=HOSTILE, page=6, snippet="the\n«notice»", score=1
    )
    (row,) = libraries.hit_rows(LibrariesState(hits=(hit,)))
    assert (row.number, row.name, row.page, row.passage) == (1, FLAT, "7", "the «notice»")


def page(index: int, *scores: float) -> Page:
    words = [WordScore(text="w", confidence=score, start_index=0) for score in scores]
    average = sum(scores) / len(scores) if scores else 1.0
    return Page(
        index=index,
        markdown="text",
        dimensions=None,
        confidence_scores=PageScores(
            average_page_confidence_score=average,
            minimum_page_confidence_score=min(scores, default=1.0),
            word_confidence_scores=words,
        ),
    )


def test_the_open_document() -> None:
    state = DocumentState(
        source=Source("file", "f", HOSTILE),
        page_count=4,
        pages=(page(0), page(1), None, None),
        wanted=frozenset(range(4)),
        current=1,
        reading=True,
        read=2,
        read_before=1,
        started=NOW - 3,
    )
    assert documents.title(state) == f"{FLAT} · page 2 of 4"
    assert [mark.text for mark in documents.page_marks(state)] == ["1", "[2]", "◐3", "○4"]
    assert documents.progress(state, NOW) == "Reading page 3 of 4 · about 6 s left"
    assert documents.progress(DocumentState(), NOW) == ""
    assert documents.title(DocumentState()) == "Document"


def test_confidence() -> None:
    assert documents.confidence(page(0, 0.99, 0.97)) == "98 % sure"
    assert documents.confidence(page(0, 0.9, 0.5, 0.4)) == "2 doubtful · 60 % sure"
    assert documents.confidence(page(0, *[1.0] * 999, 0.4)) == "1 doubtful · 99 % sure"
    assert documents.confidence(page(0, 0.9999)) == "99 % sure"
    assert documents.confidence(None) == ""


def test_agents_versions_and_changes() -> None:
    old = agent(version=3, model="large", tools=[{"type": "web_search"}])
    new = agent(
        version=4,
        version_message="shorter,\ncites pages",
        tools=[
            {"type": "web_search"},
            {"type": "document_library", "library_ids": ["0b1c"]},
        ],
        completion_args={"temperature": 0.3},
    )
    alias = AgentAlias(alias="prod", version=4, created_at=THEN, updated_at=THEN)
    state = AgentsState(
        items=(new,), selected="a", versions=(new, old), aliases=(alias,), marked=(4, 3),
        diff=compare_agents(old, new),
    )  # fmt: skip
    (row,) = agents.agent_rows(state)
    assert (row.name, row.version, row.selected) == ("support", "v4", True)
    newest, older = agents.version_rows(state, NOW)
    assert (newest.active, newest.aliases, newest.note) == (True, "prod", "shorter, cites pages")
    assert (older.active, older.marked, older.age) == (False, True, "2 min ago")
    assert agents.diff_title(state) == "v3 → v4 · 2 changes"
    words = [
        (row.field, row.words) for row in agents.change_rows(state.diff, {"0b1c": "contracts"})
    ]
    assert words == [
        ("model", "large (same)"),
        ("instructions", "(same)"),
        ("tools", "web_search (same)"),
        ("tools", "+ document_library: contracts"),
        ("temperature", "+ 0.3"),
    ]


def test_changed_instructions_count_lines() -> None:
    old, new = agent(instructions="a\nb\nc"), agent(instructions="a\nB\nc\nd")
    change = compare_agents(old, new)[1]
    assert agents.change_words(change) == "2 of 4 lines"


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
    assert (chat.title(ChatState()), chat.tokens(ChatState())) == ("Chat", "")
    assert chat.phase_words(ChatState(), NOW) == ""


@pytest.mark.parametrize(
    ("text", "cited", "title"),
    [
        (f"[{'1' * 5000}]", set(), "Passages given"),
        ("Three months [1].", {1}, "Sources"),
        ("Three months [1, 2] and [3].", {1, 2}, "Sources"),
        ("Three months [7].", set(), "Passages given"),
        ("Three months.", set(), "Passages given"),
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
    assert chat.cited(turn) == cited
    assert chat.sources_title(turn) == title


def test_an_agent_with_a_library_that_reports_no_search_is_marked() -> None:
    assert chat.ended(Turn("assistant", "Three.", searches=True)) == chat.NO_SEARCH
    nothing = Turn("assistant", "Three.", searches=True, searched=True)
    assert chat.ended(nothing) == chat.NOTHING_FOUND
    assert chat.ended(Turn("assistant", "Three.")) == ""
    assert chat.ended(Turn("assistant", "Thr", "writing", searches=True)) == ""
    assert chat.ended(Turn("assistant", "Thr", cut=True)) == chat.CUT


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
    assert chat.call_words(Call("1", "weather", arguments)) == words


def test_what_waits_for_a_result_is_named_where_it_is_typed() -> None:
    calls = (Call("1", "weather", "{}"), Call("2", "time", "{}"))
    state = ChatState(conversation=Conversation.of(Turn("assistant", "", calls=calls)))
    assert chat.prompt_title(state) == "Result of weather() · 1 more"
    conversation = state.conversation.add(Turn("tool", "sunny", call_id="1"))
    answered = ChatState(conversation=conversation)
    assert chat.prompt_title(answered) == "Result of time()"
    assert [row.speaker for row in chat.turn_rows(answered)][1] == "Result of weather"


def test_variants_are_numbered() -> None:
    conversation = Conversation.of(Turn("user", "How long?"), Turn("assistant", "One"))
    conversation = conversation.before(1).add(Turn("assistant", "Two"))
    question, answer = chat.turn_rows(ChatState(conversation=conversation))
    assert (question.variant, answer.variant, answer.text) == ("", "‹2/2›", "Two")


def test_code_blocks_are_taken_whole() -> None:
    text = "a\n```python\nx = 1\n```\nb\n~~~\n```\n~~~\n"
    assert chat.code_blocks(text) == ("x = 1\n", "```\n")


def test_activity_rows_show_failures_first_and_what_is_left() -> None:
    state = ActivityState(
        (
            ActivityItem("1", "download", "b.pdf", "done", done=5, total=5, finished=NOW - 130),
            ActivityItem(
                "2", "upload", HOSTILE, "running", done=61_000_000, total=100_000_000, rate=4e6
            ),
            ActivityItem("3", "upload", "c.pdf"),
            ActivityItem("4", "ocr", "d.pdf", "failed", error=Problem("Not read", "Page 3.")),
            ActivityItem("5", "ocr", "e.pdf", "running", done=3, total=12, unit="pages", rate=0.5),
        )
    )
    rows = activity.activity_rows(state, NOW)
    assert [row.id for row in rows] == ["4", "2", "5", "3", "1"]
    failed, upload, ocr, queued, done = rows
    assert (str(failed.status), failed.error) == ("✕ Failed", "Not read. Page 3.")
    assert (upload.name, upload.progress, upload.rate) == (FLAT, "61 %", "4.0 MB/s")
    assert (upload.left, upload.fraction) == ("10 s left", 0.61)
    assert (ocr.progress, ocr.rate, ocr.left) == ("3 of 12 pages", "0.5 pages/s", "18 s left")
    assert (str(queued.status), queued.progress) == ("○ Queued", "")
    assert (str(done.status), done.when, done.fraction) == ("● Done", "2 min ago", 1.0)
    assert activity.activity_badge(state) == "↑2 ◐1 ✕1"
    assert activity.activity_badge(ActivityState()) == ""
