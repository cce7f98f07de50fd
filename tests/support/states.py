"""States of the store as tests want to see them shown."""

import time
from datetime import UTC, datetime, timedelta

from carrel.store.activity.state import ActivityItem
from carrel.store.agents.compare import compare_agents
from carrel.store.cache.copies import DocumentSource
from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.chat.sessions.saved import SessionSummary
from carrel.store.core.problem import Problem
from carrel.store.store import Store
from carrel.wire.documents import Document
from carrel.wire.files import File
from carrel.wire.generation.agents import Agent
from carrel.wire.generation.completions import Passage
from carrel.wire.libraries import Library, SearchHit
from carrel.wire.ocr import Dimensions, Page, PageScores, WordScore

TEXT = """# Term and termination

The **notice period** is three months to the end of a quarter.

1. Notice is given in writing.
2. It goes to the address above.

| Year | Rent     |
|------|----------|
| 2024 | 1,200.00 |
| 2025 | 1,240.00 |
"""


def fill(store: Store, name: str = "lease-2024.pdf") -> None:
    """Puts something into every slice; whatever has a name is called `name`."""
    now = time.time()
    store.session.slice.set(
        connection="ready", detail="", model="smollm2 (test model)", models=("smollm2",)
    )
    _fill_files(store, name, now)
    _fill_libraries(store, name, now)
    _fill_document(store, name)
    _fill_agents(store, name, now)
    _fill_chat(store, name, now)


def _fill_files(store: Store, name: str, now: float) -> None:
    names = (name, "annex-b.docx", "batch-07.jsonl", "photo.png")
    files = tuple(
        File(
            id=f"file-{number}",
            bytes=1_200_000 // (number + 1),
            created_at=int(now - 120 - number * 86_400),
            filename=each,
            purpose="batch" if each.endswith("jsonl") else "ocr",
            sample_type="ocr_input",
            source="upload",
            num_lines=14_002 if each.endswith("jsonl") else None,
            mimetype="application/pdf",
        )
        for number, each in enumerate(names)
    )
    store.files.slice.set(items=files, total=len(files), loaded=True, marked={"file-3": files[3]})
    store.activity.slice.set(
        items=(
            ActivityItem(
                id="upload-1", kind="upload", name=name, status="running", done=61, total=100,
                rate=14.0,
            ),
            ActivityItem(
                id="upload-2", kind="upload", name="gone.pdf", status="failed",
                error=Problem("No such file", "/tmp/gone.pdf"),
            ),
            ActivityItem(
                id="ocr-1", kind="ocr", name=name, status="done", done=12, total=12,
                unit="pages", subject="file-0",
            ),
        )
    )  # fmt: skip


def _fill_libraries(store: Store, name: str, now: float) -> None:
    then = datetime.now(UTC) - timedelta(minutes=2, seconds=30)
    libraries = tuple(
        Library(
            id=f"library-{number}", name=each, created_at=then, updated_at=then, owner_id="me",
            owner_type="User", total_size=10, nb_documents=3, chunk_size=None,
        )
        for number, each in enumerate((name, "handbook"))
    )  # fmt: skip
    states = (("done", 12, None), ("in_progress", None, None), ("error", None, "not a PDF"))
    documents = tuple(
        Document(
            id=f"document-{number}", library_id="library-0", name=name, created_at=then,
            hash=None, mime_type="application/pdf", extension="pdf", size=1_200_000,
            process_status=status, processing_status="Running", uploaded_by_id=None,
            uploaded_by_type="User", tokens_processing_total=2310, number_of_pages=pages,
            error=error, summary="Lease between two parties." if pages else None,
        )
        for number, (status, pages, error) in enumerate(states)
    )  # fmt: skip
    store.libraries.slice.set(
        items=libraries, selected="library-0", documents=documents, total=3, loaded=True
    )


def searched(store: Store, name: str = "lease-2024.pdf") -> None:
    """Puts the hits of a search into the libraries."""
    hits = tuple(
        SearchHit(
            document_id=f"document-{number}", document_name=name, page=6 - number,
            snippet=f"… the «notice period» is {number + 3} months to the end …", score=0.9,
        )
        for number in range(3)
    )  # fmt: skip
    store.libraries.slice.set(query="notice period", hits=hits)


def _fill_document(store: Store, name: str) -> None:
    scores = PageScores(
        average_page_confidence_score=0.98,
        minimum_page_confidence_score=0.6,
        word_confidence_scores=[
            WordScore(text="writing", confidence=0.6, start_index=TEXT.index("writing"))
        ],
    )
    page = Page(
        index=0,
        markdown=TEXT,
        dimensions=Dimensions(dpi=72, height=842, width=595),
        confidence_scores=scores,
    )
    store.documents.slice.set(
        source=DocumentSource("file", "file-0", name),
        page_count=3,
        pages=(page, page.model_copy(update={"index": 1}), None),
        wanted=frozenset(range(3)),
        current=0,
        read=2,
        no_picture="There is no picture of this kind of document.",
    )


def agent(version: int, name: str, instructions: str) -> Agent:
    """A version of an agent."""
    then = datetime.now(UTC) - timedelta(days=2 - version, minutes=5)
    return Agent(
        id="agent-0",
        name=name,
        model="smollm2",
        instructions=instructions,
        tools=[{"type": "document_library", "library_ids": ["library-0"]}],
        completion_args={"temperature": 0.7 - version / 10},
        version=version,
        versions=[0, 1],
        version_message="cites pages" if version else None,
        created_at=then,
        updated_at=then,
    )


def _fill_agents(store: Store, name: str, now: float) -> None:
    old = agent(0, name, "Answer politely and at length.\nUse plain words.")
    new = agent(1, name, "Answer politely and in three sentences.\nUse plain words.")
    store.agents.slice.set(
        items=(new,), selected="agent-0", versions=(new, old), loaded=True, marked=(0, 1),
        diff=compare_agents(old, new),
    )  # fmt: skip


def _fill_chat(store: Store, name: str, now: float) -> None:
    source = Passage(
        index=1,
        library_id="library-0",
        document_id="document-0",
        document_name=name,
        page=6,
        snippet="The «notice period» is three months to the end of a quarter.",
    )
    answer = Turn(
        "assistant", "Three months to the end of a quarter [1].\n\n- in writing\n- by post",
        sources=(source,), version=1, first_token=0.4, rate=31.0, prompt_tokens=2300,
        completion_tokens=10,
    )  # fmt: skip
    store.chat.slice.set(
        session_id="session-0", agent_id="agent-0", agent_name=name, version=1,
        conversation=Conversation.of(
            Turn("user", f"How long is the notice period of {name}?"), answer
        ),
        context_length=8192,
        sessions=(SessionSummary("session-0", name, "agent-0", name, now - 30, 2),),
    )  # fmt: skip
