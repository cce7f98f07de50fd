"""Every sentence that a face can show about state, with the condition that makes it true.

Each row of the tables says a sentence from two states: one in which it holds, and the nearest one
in which it does not. A sentence of the modules below that no row has fails the last test: write
the row with the sentence.
"""

import ast
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import carrel.store
from carrel.client.http import errors
from carrel.config.profiles import ConfigError, Profile
from carrel.local.installed import LocalError, NotInstalled
from carrel.pages.errors import NoPicture
from carrel.store.activity import formatting as activity
from carrel.store.activity.state import ActivityItem, ActivityState
from carrel.store.cache.copies import DocumentSource
from carrel.store.cache.readings import PagesRead
from carrel.store.chat import formatting as chat
from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.chat.state import ChatState
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import Problem
from carrel.store.documents import boxes
from carrel.store.documents import formatting as documents
from carrel.store.documents.marks import doubtful_marks
from carrel.store.documents.state import DocumentState
from carrel.store.files import formatting as files
from carrel.store.files.state import FilesState
from carrel.store.libraries import formatting as libraries
from carrel.store.libraries.state import LibrariesState
from carrel.store.session import formatting as session
from carrel.store.session.state import SessionState
from carrel.store.store import Store
from carrel.store.sync import formatting as sync
from carrel.store.sync.state import FolderState, SyncState
from carrel.sync.errors import SyncError, TooManyDeletions
from carrel.sync.ledger import SyncSettings
from carrel.sync.plan import Plan, Removal, Rename, Upload
from carrel.sync.progress import Failure, Preview, Summary, SyncProgress
from carrel.wire.documents import Document
from carrel.wire.files import File
from carrel.wire.generation.completions import Passage
from carrel.wire.generation.completions import Progress as Step
from carrel.wire.libraries import Library
from carrel.wire.ocr import Page
from carrel.yamlfile import FileError
from support.process import RunningServer, serve
from support.slices import until

NOW = 1_800_000_000.0
THEN = datetime.fromtimestamp(NOW - 130, UTC)
HERE = Path(__file__)


@dataclass(frozen=True)
class Row:
    """Texts as their module spells them, shown in a state, and one where none of them is."""

    texts: tuple[str, ...]
    shown: str
    not_shown: str


def row(*texts: str, so: object, not_so: object) -> Row:
    return Row(texts, str(so), str(not_so))


# Connection


def connected(**fields: Any) -> SessionState:
    ready = SessionState("local", hosted=False, read_only=False, connection="ready")
    return replace(ready, **fields)


HOSTED = connected(hosted=True, url="https://api.example.com")

CONNECTION = (
    row("hosted", so=session.connection(HOSTED), not_so=session.connection(connected())),
    row(
        "hosted, read-only",
        so=session.connection(replace(HOSTED, read_only=True)),
        not_so=session.connection(HOSTED),
    ),
    row("ready", so=session.connection(connected()), not_so=session.connection(HOSTED)),
    row(
        "ready, read-only",
        so=session.connection(connected(read_only=True)),
        not_so=session.connection(connected()),
    ),
    row(
        "lost",
        so=session.connection(connected(connection="lost")),
        not_so=session.connection(connected(connection="slow")),
    ),
    row(
        "failed",
        so=session.connection(connected(connection="failed")),
        not_so=session.connection(connected(connection="lost")),
    ),
    row(
        " Offline: showing a copy from ",
        so=session.status(connected(connection="lost", since=NOW - 27), NOW),
        # Nothing was ever loaded.
        not_so=session.status(connected(connection="lost", since=0.0), NOW),
    ),
    row(
        *("Sent to ", ", a hosted service that bills for requests."),
        so=session.service_words(HOSTED),
        not_so=session.service_words(connected()),
    ),
)


# Failures


def problem(error: Exception) -> str:
    return str(Problem.of(error))


FAILURES = tuple(
    row(*texts, so=problem(error), not_so=problem(other))
    for texts, error, other in (
        (
            ("The connection failed",),
            errors.Unreachable("No server answers at 127.0.0.1:1."),
            errors.ServiceError("Full.", 507),
        ),
        (
            ("The file is too large",),
            errors.TooLarge("a.bin has 600.0 MB; 127.0.0.1:1 takes 536.9 MB at most."),
            errors.Unreachable("The connection was lost."),
        ),
        (
            ("The key was refused", "Give another: F3 and e in the app, api_key in a notebook."),
            errors.Unauthorized("Not accepted.", 401),
            errors.ServiceError("Not allowed.", 403),
        ),
        (
            ("Not there any more", "Reload the list."),
            errors.NotFound("There is no file “f”.", 404),
            errors.ServiceError("Full.", 507),
        ),
        (
            ("The service did not accept this",),
            errors.Invalid("name: too long", 422),
            errors.ServiceError("Full.", 507),
        ),
        (
            ("The service answered with an error",),
            errors.ServiceError("Broken.", 500),
            errors.ServiceError("Full.", 507),
        ),
        (
            ("Not stored",),
            errors.ServiceError("Full.", 507),
            errors.ServiceError("Broken.", 500),
        ),
        (
            ("This file can't be read", "Check it and try again."),
            errors.UnreadableFile("a.pdf changed while it was sent."),
            errors.TooLarge("a.pdf is too large."),
        ),
        (
            ("The server on this machine did not start",),
            LocalError("It ended at once."),
            errors.Unreachable("The connection was lost."),
        ),
        (
            ("The local server is not installed", "This installation has the workbench alone."),
            NotInstalled(),
            LocalError("It ended at once."),
        ),
        (
            ("Too many deletions", "Look at the preview, then confirm."),
            TooManyDeletions(19, 20, 10),
            SyncError("It is gone."),
        ),
        (("The folder was not synced",), SyncError("It is gone."), ConfigError("It is gone.")),
        (("The settings cannot be used",), ConfigError("It is gone."), SyncError("It is gone.")),
        (
            ("The file cannot be used", "Correct it and try again."),
            FileError(Path("set.yaml"), 2, "question is missing."),
            ConfigError("It is gone."),
        ),
        (("No picture of this page",), NoPicture("It is no PDF."), SyncError("It is gone.")),
        (
            ("No such file", "Check the path and try again."),
            FileNotFoundError(2, "No such file or directory", "a.pdf"),
            PermissionError(13, "Permission denied", "a.pdf"),
        ),
        (
            ("This is a folder, not a file", "Choose the files inside it."),
            IsADirectoryError(21, "Is a directory", "a"),
            FileNotFoundError(2, "No such file or directory", "a"),
        ),
        (
            ("No permission", "Check who may read and write it."),
            PermissionError(13, "Permission denied", "a.pdf"),
            OSError(28, "No space left on device", "a.pdf"),
        ),
        (
            ("The system refused",),
            OSError(28, "No space left on device", "a.pdf"),
            PermissionError(13, "Permission denied", "a.pdf"),
        ),
        (
            ("Something went wrong inside the workbench", "The report is in "),
            ZeroDivisionError(),
            errors.ServiceError("Full.", 507),
        ),
    )
)


# Answers


def asked(phase: Any, step: Step | None = None) -> str:
    return chat.phase_words(ChatState(agent_name="support", phase=phase, step=step), NOW)


def ended(**fields: Any) -> str:
    return chat.end_note(Turn("assistant", **{"text": "Three", **fields}))


WAITING = asked("waiting")
FOUND = Passage(index=1, library_id="l", document_id="d", document_name="a.pdf", snippet="x")
VOTED = Conversation.of(
    Turn("user", "What?"), Turn("assistant", "Three."), Turn("user", "And?"), Turn("assistant", "4")
)

ANSWERING = (
    row("connecting", so=asked("connecting"), not_so=WAITING),
    row("attaching its files", so=asked("attaching"), not_so=WAITING),
    # All that is known of a service that tells no steps.
    row("waiting for the first word", so=WAITING, not_so=asked("writing")),
    row("writing", so=asked("writing"), not_so=WAITING),
    row("waiting for a tool", so=asked("calling"), not_so=WAITING),
    row("loading the model", so=asked("waiting", Step(stage="loading")), not_so=WAITING),
    row(
        "reading the attached documents",
        so=asked("waiting", Step(stage="documents")),
        not_so=WAITING,
    ),
    row("searching its libraries", so=asked("waiting", Step(stage="searching")), not_so=WAITING),
    row(
        *("in the queue", " at place "),
        so=asked("waiting", Step(stage="queued", place=2)),
        not_so=asked("writing", Step(stage="queued", place=2)),
    ),
    row(
        "reading the prompt",
        so=asked("waiting", Step(stage="reading", done=1, total=2)),
        not_so=asked("writing", Step(stage="reading", done=2, total=2)),
    ),
    row("Stopped.", so=ended(status="stopped"), not_so=ended(status="done")),
    row(
        "Stopped before an answer.",
        so=ended(status="stopped", text=""),
        not_so=ended(status="stopped"),
    ),
    row(
        "Cut off: the service failed. Retry asks again.",
        so=ended(status="failed"),
        not_so=ended(status="failed", text=""),
    ),
    row(
        "No answer. Retry asks again.",
        so=ended(status="failed", text=""),
        not_so=ended(status="failed"),
    ),
    row(
        "No answer: ",
        so=ended(status="failed", text="", refusal="Invalid model: m."),
        not_so=ended(status="failed", refusal="Invalid model: m."),
    ),
    row(
        " Retry asks again.",
        so=ended(status="failed", text="", refusal="Invalid model: m."),
        not_so=ended(status="stopped", text="", refusal="Invalid model: m."),
    ),
    row(
        "Cut off: the connection was lost. Retry asks again.",
        so=ended(status="lost"),
        not_so=ended(status="failed"),
    ),
    row(
        "No answer: the connection was lost. Retry asks again.",
        so=ended(status="lost", text=""),
        not_so=ended(status="lost"),
    ),
    row(
        "Cut off: Carrel was closed. Retry asks again.",
        so=ended(status="cut"),
        not_so=ended(status="lost"),
    ),
    row(
        "No answer: Carrel was closed. Retry asks again.",
        so=ended(status="cut", text=""),
        not_so=ended(status="cut"),
    ),
    row(
        "Cut off at the token limit.",
        so=ended(cut=True),
        not_so=ended(cut=False),
    ),
    row(
        "No library search was reported.",
        so=ended(searches=True, searched=False),
        not_so=ended(searches=False),
    ),
    row(
        "Nothing about it was found in the libraries.",
        so=ended(searches=True, searched=True),
        not_so=ended(searches=True, searched=True, sources=(FOUND,)),
    ),
    row(
        "Hidden until the vote.",
        so=chat.turn_rows(ChatState(alias="A", conversation=VOTED)),
        not_so=chat.turn_rows(ChatState(conversation=VOTED)),
    ),
    row(
        "Sources, none cited",
        so=chat.sources_title(Turn("assistant", "Three", sources=(FOUND,))),
        not_so=chat.sources_title(Turn("assistant", "Three [1]", sources=(FOUND,))),
    ),
    row(
        " tokens",
        so=chat.tokens(
            ChatState(conversation=Conversation.of(Turn("assistant", "x", prompt_tokens=2310)))
        ),
        not_so=chat.tokens(ChatState(conversation=Conversation.of(Turn("assistant", "x")))),
    ),
)


# Reading


def page(
    *sure: float,
    words: bool = True,
    blocks: bool = True,
    width: int = 10,
    own: bool = False,
    structure: float | None = None,
) -> Page:
    text = " ".join("word" for _ in sure)
    scored = [{"text": "word", "confidence": s, "start_index": 5 * n} for n, s in enumerate(sure)]
    average = sum(sure) / len(sure) if sure else 1.0
    scores = {"average_page_confidence_score": average, "minimum_page_confidence_score": 0.0}
    block = {"type": "text", "content": text, "top_left_x": 0, "top_left_y": 0}
    block |= {"bottom_right_x": width, "bottom_right_y": 10}
    block |= {"confidence_scores": {"structure_confidence_score": structure}}
    return Page.model_validate(
        {
            "index": 0,
            "markdown": text,
            "images": [],
            "dimensions": {"dpi": 72, "width": 100, "height": 100},
            "blocks": [block] if blocks else [],
            "confidence_scores": {
                **scores,
                "text_from_file": own,
                **({"word_confidence_scores": scored} if words else {}),
            },
        }
    )


UNSCORED = page(1.0).model_copy(update={"confidence_scores": None})


def opened(*pages: Page | None, **fields: Any) -> DocumentState:
    source = DocumentSource("file", "f", "lease.pdf")
    read = sum(each is not None for each in pages)
    wanted = frozenset(range(len(pages)))
    state = DocumentState(source, None, len(pages), pages, wanted, read=read)
    return replace(state, **fields)


def read(status: Any = None, reading: PagesRead | None = None) -> str:
    """What the list of files says of reading one."""
    runs = () if status is None else (ActivityItem("1", "ocr", "a.pdf", status, 3, subject="f"),)
    known = {
        "id": "f", "bytes": 1, "created_at": int(NOW), "filename": "a.pdf", "purpose": "ocr",
        "sample_type": "ocr_input", "source": "upload",
    }  # fmt: skip
    state = FilesState(
        items=(File.model_validate(known),), readings={} if reading is None else {"f": reading}
    )
    (found,) = files.file_rows(state, ActivityState(runs), NOW)
    return str(found.ocr or "")


READING = (
    row(
        " sure",
        so=documents.score_words(page(1.0)),
        not_so=documents.score_words(UNSCORED),
    ),
    row(
        "order",
        so=documents.score_words(page(1.0, 1.0, width=90)),
        not_so=documents.score_words(page(1.0, 1.0, width=50)),
    ),
    row(
        "Check: ",
        so=documents.score_words(page(1.0, 0.4)),
        not_so=documents.score_words(page(1.0, 0.8)),
    ),
    row("1 word", so=boxes.boxes(page(0.4))[0].words, not_so=boxes.boxes(page(0.8))[0].words),
    row(
        "text from the file",
        so=documents.score_words(page(1.0, own=True)),
        not_so=documents.score_words(page(1.0)),
    ),
    row(
        "no text found",
        so=documents.score_words(page(own=True)),
        not_so=documents.score_words(page(1.0, own=True)),
    ),
    row(
        "table cells",
        so=boxes.boxes(page(1.0, structure=0.3))[0].words,
        not_so=boxes.boxes(page(1.0, structure=0.9))[0].words,
    ),
    row(
        "heat: no word of this page is scored",
        so=documents.heat_words(page(1.0, words=False)),
        not_so=documents.heat_words(page(1.0)),
    ),
    row("no scores", so=boxes.missing_note(UNSCORED), not_so=boxes.missing_note(page(1.0))),
    row(
        "no scores of words",
        so=boxes.missing_note(page(1.0, words=False)),
        not_so=boxes.missing_note(UNSCORED),
    ),
    row(
        *("The service gives ", "no boxes"),
        so=boxes.missing_note(page(1.0, blocks=False)),
        not_so=boxes.missing_note(page(1.0)),
    ),
    row(
        "No text was found on this page.",
        so=documents.empty_words(opened(page())),
        not_so=documents.empty_words(opened(page(1.0))),
    ),
    row(
        "Reading this page …",
        so=documents.empty_words(opened(None, reading=True)),
        not_so=documents.empty_words(opened(None)),
    ),
    row(
        "This page is not read.",
        so=documents.empty_words(opened(None)),
        not_so=documents.empty_words(opened(None, loading=True)),
    ),
    row(
        "This page was not chosen.",
        so=documents.empty_words(opened(None, wanted=frozenset({1}))),
        not_so=documents.empty_words(opened(None)),
    ),
    row(
        *("Reading page ", " · about "),
        so=documents.progress(
            opened(page(1.0), None, reading=True, started=NOW - 2, read_before=0), NOW
        ),
        not_so=documents.progress(opened(page(1.0), None), NOW),
    ),
    row(
        "Reading",
        so=documents.progress(replace(opened(reading=True), page_count=None), NOW),
        not_so=documents.progress(opened(), NOW),
    ),
    row(
        *("read again: ", " changed"),
        so=documents.changed_words(opened(page(1.0), before=(page(1.0, 1.0),))),
        not_so=documents.changed_words(opened(page(1.0))),
    ),
    row(
        "not found",
        so=documents.mark_words(opened(page(1.0), query="rent")),
        not_so=documents.mark_words(opened(page(1.0), query="word")),
    ),
    row(
        " on this page",
        so=documents.mark_words(opened(page(0.4), mark=doubtful_marks(page(0.4))[0])),
        not_so=documents.mark_words(opened(page(0.4))),
    ),
    row(
        "1 corrected",
        so=documents.corrected_words(opened(page(0.4), corrections={(0, 0, "word"): "words"})),
        not_so=documents.corrected_words(opened(page(0.4), corrections={(1, 0, "word"): "words"})),
    ),
    row("queued", so=read("queued"), not_so=read("running")),
    row("page ", so=read("running"), not_so=read("queued")),
    row("done", so=read("done"), not_so=read()),
    row("done", so=read(None, PagesRead(3, 3)), not_so=read(None, PagesRead(2, 3))),
    row("failed", so=read("failed"), not_so=read("done")),
    row("stopped", so=read("cancelled"), not_so=read("failed")),
    row("interrupted", so=read("interrupted"), not_so=read("failed")),
)


# Lists, links and libraries


def document(status: str, **fields: Any) -> Document:
    known = {
        "id": "d", "library_id": "l", "name": "a.pdf", "created_at": THEN, "hash": None,
        "mime_type": None, "extension": None, "size": 1, "process_status": status,
        "processing_status": "Running", "uploaded_by_id": None, "uploaded_by_type": "User",
        "tokens_processing_total": 0,
    }  # fmt: skip
    return Document.model_validate({**known, **fields})


def processed(status: str, **fields: Any) -> str:
    return str(libraries.document_status(document(status, **fields)))


def library_title(*statuses: str, total: int | None = None) -> str:
    known = {
        "id": "l", "name": "contracts", "created_at": THEN, "updated_at": THEN, "owner_id": None,
        "owner_type": "User", "total_size": 1, "nb_documents": 1, "chunk_size": None,
    }  # fmt: skip
    return libraries.title(
        LibrariesState(
            items=(Library.model_validate(known),),
            selected="l",
            documents=tuple(document(status) for status in statuses),
            total=total,
        )
    )


def link(url: str) -> str:
    return files.link_words(url, 24, NOW)


LISTS = (
    row(
        *("The link works until ", ", on this machine alone, while its server runs."),
        so=link("http://127.0.0.1:8080/signed/x"),
        not_so="",
    ),
    row(
        ", for anyone who has it.",
        so=link("https://api.example.com/signed/x"),
        not_so=link("http://localhost:8080/signed/x"),
    ),
    row(
        "No name contains “",
        so=files.nothing_words(FilesState(search="rent")),
        not_so=files.nothing_words(FilesState(search="rent", purpose="ocr")),
    ),
    row(
        "No file matches “",
        so=files.nothing_words(FilesState(search="rent", purpose="ocr")),
        not_so=files.nothing_words(FilesState(search="rent")),
    ),
    row("Queued", so=processed("todo"), not_so=processed("in_progress")),
    row("Queued, ", so=processed("todo", queue_position=3), not_so=processed("todo")),
    row("Processing", so=processed("in_progress"), not_so=processed("done")),
    row("Ready", so=processed("done"), not_so=processed("error")),
    row("Failed", so=processed("error"), not_so=processed("in_progress")),
    row(" not ready", so=library_title("in_progress"), not_so=library_title("done")),
    row(
        " or more",
        so=library_title("in_progress", total=2),
        not_so=library_title("in_progress", total=1),
    ),
)


def active(status: Any) -> str:
    item = ActivityItem("1", "ocr", "a.pdf", status, finished=NOW if status == "done" else None)
    return str(activity.activity_row(item, NOW).status)


def working(status: Any) -> str:
    items = (ActivityItem(id, "ocr", "a.pdf", status, finished=None) for id in "12")
    return activity.work_words(ActivityState(tuple(items)))


def left(kind: Any, *statuses: Any) -> str:
    return activity.left_words(some(kind, *statuses))


def some(kind: Any, *statuses: Any) -> ActivityState:
    items = enumerate(statuses)
    return ActivityState(
        tuple(ActivityItem(str(n), kind, "a", status, retryable=True) for n, status in items)
    )


def batches(status: Any) -> str:
    items = tuple(ActivityItem(id, "batch", "a", status) for id in "12")
    return activity.work_words(ActivityState(items))


ACTIVITY = (
    row("Running batch", so=batches("running"), not_so=batches("done")),
    *(
        row(text, so=left(kind, *["interrupted"] * number), not_so=left(kind, "failed", "queued"))
        for text, kind, number in (
            ("OCR run", "ocr", 1),
            ("OCR runs", "ocr", 2),
            ("batch job", "batch", 1),
            ("batch jobs", "batch", 2),
        )
    ),
    row(
        " from a browser or from memory cannot be resumed",
        so=activity.lost_words(ActivityState((ActivityItem("1", "upload", "a", "interrupted"),))),
        not_so=activity.lost_words(some("upload", "interrupted")),
    ),
    row("Running OCR of", so=working("running"), not_so=working("done")),
    *(
        row(text, so=active(status), not_so=active(other))
        for text, status, other in (
            ("Queued", "queued", "running"),
            ("Running", "running", "queued"),
            ("Done", "done", "running"),
            ("Failed", "failed", "cancelled"),
            ("Stopped", "cancelled", "failed"),
            ("Interrupted", "interrupted", "running"),
        )
    ),
)


# Folders

UPLOAD = Upload("hash", "a.txt")
EMPTY = Preview(Plan(), (), {}, (), 3)


def previewed(plan: Plan, **fields: Any) -> Preview:
    return replace(EMPTY, plan=plan, sizes={each.path: 5 for each in plan.uploads}, **fields)


FOLDER = FolderState(1, "l", Path("/contracts"), SyncSettings(False, (), ()), compared_at=NOW)


def folder(**fields: Any) -> str:
    (found,) = sync.folder_rows(SyncState((replace(FOLDER, **fields),)), "l", NOW)
    return "\n".join((str(found.status), *found.notes))


DONE = Summary(files=3)
KEPT = previewed(Plan(kept=("a.txt",)))
STAYS = previewed(Plan(left_out=(("a.txt", "hidden"),)))
GONE = Removal("hash", "a.txt")
BAD = Failure("a.txt", "It cannot be read.")

FOLDERS = (
    row("Matched", so=folder(preview=EMPTY), not_so=folder(preview=KEPT, compared_at=NOW)),
    row("Matched at ", so=folder(summary=DONE), not_so=folder(summary=DONE, watching=True)),
    row(" · not watching", so=folder(preview=EMPTY), not_so=folder(compared_at=None)),
    row("Interrupted at ", so=folder(reached=(303, 2000)), not_so=folder()),
    row("Interrupted while comparing", so=folder(reached=(0, 0)), not_so=folder(reached=(3, 9))),
    row(
        "Was watched",
        so=sync.unfinished_words(SyncState((replace(FOLDER, watched=True),))),
        not_so=sync.unfinished_words(SyncState((replace(FOLDER, watched=True, watching=True),))),
    ),
    row("In sync, watching", so=folder(watching=True), not_so=folder()),
    row("Not compared yet", so=folder(compared_at=None), not_so=folder()),
    row("synced ", so=folder(synced_at=NOW - 300), not_so=folder()),
    row(
        "Looking at the folder",
        so=folder(progress=SyncProgress()),
        not_so=folder(progress=SyncProgress(of_files=3)),
    ),
    row(
        "Looking at ",
        so=folder(progress=SyncProgress(of_files=3)),
        not_so=folder(progress=SyncProgress("syncing", of_files=3)),
    ),
    *(
        row(text, so=folder(preview=previewed(plan)), not_so=folder(preview=EMPTY))
        for text, plan in (
            ("to upload", Plan(uploads=(UPLOAD,))),
            ("to update", Plan(uploads=(replace(UPLOAD, updates=True),))),
            ("to rename", Plan(renames=(Rename("hash", "a.txt", "b.txt"),))),
            ("to delete", Plan(removals=(Removal("hash", "a.txt"),))),
        )
    ),
    row(
        *("Nothing to do: ", " in sync", " in the library"),
        so=folder(preview=KEPT),
        not_so=folder(preview=previewed(Plan(uploads=(UPLOAD,)))),
    ),
    row(
        "there already",
        so=sync.preview_words(previewed(Plan(uploads=(UPLOAD,)), present=("b.txt",))),
        not_so=sync.preview_words(previewed(Plan(uploads=(UPLOAD,)))),
    ),
    row(
        " cannot be synced",
        so=folder(preview=previewed(Plan(), failures=(BAD,))),
        not_so=folder(preview=EMPTY),
    ),
    row(
        *("left out", " left out"),
        so=sync.preview_words(replace(EMPTY, left_out={"b.txt": "hidden"})),
        not_so=sync.preview_words(EMPTY),
    ),
    row(
        " · another document of this name stays",
        so=sync.plan_rows(previewed(Plan(uploads=(UPLOAD,)), beside=frozenset({"a.txt"}))),
        not_so=sync.plan_rows(previewed(Plan(uploads=(UPLOAD,)))),
    ),
    row("left out: ", so=sync.plan_rows(STAYS), not_so=sync.plan_rows(KEPT)),
    row(
        *(" of the ", " documents that this folder brought?"),
        so=sync.confirm_words(previewed(Plan(removals=(GONE,), brought=1))),
        not_so=sync.confirm_words(previewed(Plan(removals=(GONE,), brought=2))),
    ),
    row(
        *(" held back", "Sync without watching to confirm."),
        so=folder(summary=Summary(held=2)),
        not_so=folder(summary=DONE),
    ),
    row(
        ": sync without watching to confirm",
        so=sync.summary_words(Summary(held=2)),
        not_so=sync.summary_words(DONE),
    ),
    row(" failed", so=folder(summary=Summary(failures=(BAD,))), not_so=folder(summary=DONE)),
    row(
        "deleted in the folder",
        so=sync.plan_rows(KEPT),
        not_so=sync.plan_rows(previewed(Plan(uploads=(UPLOAD,)))),
    ),
)

ROWS = (*CONNECTION, *FAILURES, *ANSWERING, *READING, *LISTS, *ACTIVITY, *FOLDERS)


@pytest.mark.parametrize("case", ROWS, ids=lambda case: " … ".join(case.texts).strip())
def test_a_sentence_is_shown_where_it_holds_and_nowhere_else(case: Row) -> None:
    for text in case.texts:
        assert text in case.shown
        assert text not in case.not_shown


# The connection's own words, as they come and go with a real server


async def test_the_words_of_a_connection_that_is_lost_and_comes_back(tmp_path: Path) -> None:
    """`connecting`, `the server does not answer, retrying`."""
    said: list[str] = []
    with ExitStack() as first:
        server = first.enter_context(serve(tmp_path / "data"))
        port = int(server.url.rpartition(":")[2])
        store = Store(Profile("test", server.url, server.api_key), OwnerLoop.running())
        store.session.slice.changed.connect(lambda new, _: said.append(session.waiting_words(new)))
        assert session.waiting_words(store.session.slice.value) == "◐ connecting"
        await store.start()
        await until(store.session.slice, lambda state: state.connection == "ready")
        assert session.waiting_words(store.session.slice.value) == ""
    await store.files.load().settled()
    lost = await until(store.session.slice, lambda state: state.connection == "lost")
    assert session.waiting_words(lost) == "○ the server does not answer, retrying"
    problem = store.files.slice.value.error
    assert problem is not None and problem.lost
    with serve(tmp_path / "data", port=port):
        store.session.retry()
        await until(store.session.slice, lambda state: state.connection == "ready")
        await until(store.files.slice, lambda state: state.error is None)
        assert session.waiting_words(store.session.slice.value) == ""
        await store.close()
    assert said[-1] == ""


async def test_the_words_of_a_connection_that_does_not_come_about(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Store(Profile("test", server.url, "wrong"), OwnerLoop.running())
    await refused.start()
    failed = await until(refused.session.slice, lambda state: state.connection == "failed")
    words = "✕ The key was refused. Give another: F3 and e in the app, api_key in a notebook."
    assert session.waiting_words(failed) == words
    said: list[str] = []
    refused.session.slice.changed.connect(lambda new, _: said.append(session.waiting_words(new)))
    await refused.session.retry()
    await until(refused.session.slice, lambda state: state.connection == "failed")
    await refused.close()
    assert said == ["◐ trying again", words]

    async def unreachable(data: Path) -> None:
        raise errors.Unreachable("It does not answer.")

    monkeypatch.setattr("carrel.local.ensure", unreachable)
    local = Store(Profile("local"), OwnerLoop.running())
    assert session.waiting_words(local.session.slice.value) == "◐ starting the server"
    await local.start()
    await until(local.session.slice, lambda state: state.connection == "lost")
    loading = local.files.load()
    await loading.settled()
    await local.close()
    assert loading.error is not None and loading.error.title == "Not connected"


# Every sentence has its row

LIVED = {
    "the server does not answer, retrying": "test_sentences.py",
    "the server answers slowly": "session/test_service.py",
    "trying again": "test_sentences.py",
    "starting the server": "test_sentences.py",
    "Not connected": "test_sentences.py",
    "No report could be written.": "core/test_problem.py",
}
"""Sentences that a test with real services sees come and go, and where."""

NOT_OF_STATE = (
    *("Doubtful words", "Words of page "),
    *("Service says", "headers apart", "with pictures", "with a schema", "scores of pages"),
    *("tables as ", "Chats with “", "a function", "The service does not answer."),
    *("thought for ", "read by ", ", OCR agrees on ", "not read by "),
    "To read “�”, install tesseract-ocr-rus, -ell, -ara … on the server.",
    *("test model", " (test model)", "Result of ", "top p", "max answer tokens", "stop at"),
    "Install it with: pip install 'carrel[server]', or connect to a hosted service.",
)
"""Names of things, of options, and advice."""

_WORDS = re.compile(r"[A-Za-z’']{2,}[,:]? +(?=[A-Za-z(])")


def sentences(path: Path) -> Iterator[str]:
    """A module's texts of several words, but those for its readers and its log, and its badges."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("logger."):
            left_out |= {id(each) for each in ast.walk(node)}
    badges = {
        id(node.args[1])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Badge"
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) in badges or (id(node) not in left_out and _WORDS.search(node.value)):
            yield node.value


MODULES = (
    *("core/problem.py", "session/service.py", "session/formatting.py", "chat/formatting.py"),
    *("documents/formatting.py", "documents/boxes.py", "files/formatting.py"),
    *("libraries/formatting.py", "activity/formatting.py", "sync/formatting.py"),
)


@pytest.mark.parametrize("name", MODULES)
def test_every_sentence_about_state_has_a_row(name: str) -> None:
    known = {text for case in ROWS for text in case.texts} | {*LIVED, *NOT_OF_STATE}
    missing = [
        text for text in sentences(Path(carrel.store.__file__).parent / name) if text not in known
    ]
    assert not missing, f"{HERE.name} does not say when these are so"


@pytest.mark.parametrize("text", LIVED)
def test_a_sentence_without_a_row_is_in_the_test_that_is_named(text: str) -> None:
    tests = (HERE.parent / LIVED[text]).read_text(encoding="utf-8")
    assert text in tests.partition("LIVED = {")[0]


def test_no_row_is_of_a_sentence_that_is_gone() -> None:
    folder = Path(carrel.store.__file__).parent
    written = {text for name in MODULES for text in sentences(folder / name)}
    several = {text for case in ROWS for text in case.texts if _WORDS.search(text)}
    gone = (several | {*LIVED, *NOT_OF_STATE}) - written
    assert {text for text in gone if _WORDS.search(text) and not text.startswith("●")} == set()
