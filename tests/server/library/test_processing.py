"""Processing when things go wrong, with a reader that does as it is told."""

import asyncio

import pytest

from carrel.server import jobs
from carrel.server.datadir.folder import DataFolder
from carrel.server.errors import ApiError
from carrel.server.library import processing
from carrel.server.reading.options import UnreadableDocument
from carrel.server.records import documents
from carrel.server.records.errors import NotFound
from carrel.server.records.sql.tables import chunks, document_pages
from carrel.server.records.sql.tables import documents as documents_table
from carrel.wire.documents import DocumentQuery, TextQuery
from carrel.wire.libraries import SearchQuery
from support.processing import Lab, ScriptedReader


async def test_a_failure_is_tried_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processing, "RETRY_SECONDS", (0.1, 0.1))

    async def fail_once() -> str:
        if lab.reader.reads == 1:
            raise RuntimeError("a hiccup")
        return "a heron at dawn"

    lab.reader.script = fail_once
    document = await lab.until(await lab.add(await lab.new_library()), "done", "error")
    assert (document.process_status, document.error, lab.reader.reads) == ("done", None, 2)


async def test_after_the_last_attempt_the_document_says_why(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processing, "RETRY_SECONDS", (0.1, 0.1))

    async def fail() -> str:
        raise RuntimeError("secret detail")

    lab.reader.script = fail
    document = await lab.until(await lab.add(await lab.new_library()), "done", "error")
    assert (document.process_status, lab.reader.reads) == ("error", 3)
    assert document.error is not None
    assert "log" in document.error
    assert "secret" not in document.error


async def test_an_unreadable_document_is_not_tried_again(lab: Lab) -> None:
    async def refuse() -> str:
        raise UnreadableDocument("This PDF is protected by a password.")

    lab.reader.script = refuse
    document = await lab.until(await lab.add(await lab.new_library()), "done", "error")
    assert (document.process_status, lab.reader.reads) == ("error", 1)
    assert document.error == "This PDF is protected by a password."


async def test_a_short_plain_text_needs_no_reader(lab: Lab) -> None:
    library_id = await lab.new_library()
    document = await lab.until(await lab.add(library_id, b"a heron", "text/plain"), "done")
    assert (document.number_of_pages, lab.reader.reads) == (1, 0)
    [page] = await lab.database.read(
        lambda connection: documents.page_texts(
            connection, lab.caller, library_id, document.id, TextQuery()
        )
    )
    assert page == "a heron"


@pytest.mark.parametrize(
    "data",
    ["Öl".encode("cp1252"), "a heron".encode("utf-16"), b"a\0b", b"long " * 30_000],
    ids=["a code page", "utf-16", "a zero byte", "long"],
)
async def test_other_plain_texts_go_to_the_reader(lab: Lab, data: bytes) -> None:
    added = await lab.add(await lab.new_library(), data, "text/plain")
    await lab.until(added, "done")
    assert lab.reader.reads == 1


async def test_tokens_are_counted_even_if_the_model_counts_none(lab: Lab) -> None:
    async def fail(text: str) -> int:
        raise ApiError(503, "no model")

    async def thousand(text: str) -> int:
        return 1000 * len(text.split())

    library_id = await lab.new_library()
    lab.count_tokens = fail
    document = await lab.until(await lab.add(library_id, b"one"), "done")
    assert document.tokens_processing_main_content == 5
    lab.count_tokens = thousand
    document = await lab.until(await lab.add(library_id, b"two"), "done")
    assert document.tokens_processing_main_content == 4000


async def test_a_failed_reprocessing_keeps_the_old_text(lab: Lab) -> None:
    library_id = await lab.new_library()
    document = await lab.until(await lab.add(library_id), "done")

    async def refuse() -> str:
        raise UnreadableDocument("No.")

    lab.reader.script = refuse
    await lab.service.reprocess(lab.caller, library_id, document.id)
    await lab.until(document, "error")
    hits = await lab.service.search([library_id], "heron", 10, lab.caller)
    assert [hit.document_id for hit in hits] == [document.id]


async def test_the_new_text_replaces_the_old(lab: Lab) -> None:
    library_id = await lab.new_library()
    document = await lab.until(await lab.add(library_id), "done")

    async def other_text() -> str:
        return "an owl at dusk"

    lab.reader.script = other_text
    await lab.service.reprocess(lab.caller, library_id, document.id)
    await lab.until(document, "done")
    assert await lab.service.search([library_id], "heron", 10, lab.caller) == []
    owls = await lab.service.search([library_id], "owl", 10, lab.caller)
    assert [hit.text for hit in owls] == ["an owl at dusk"]
    assert (await lab.count(chunks), await lab.count(document_pages)) == (1, 1)


async def test_a_document_deleted_while_it_is_read_leaves_nothing(lab: Lab) -> None:
    library_id = await lab.new_library()
    reading, go_on = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        reading.set()
        await go_on.wait()
        return "a heron at dawn"

    lab.reader.script = wait
    document = await lab.add(library_id)
    await reading.wait()
    await lab.database.write(
        lambda connection: documents.delete(connection, lab.caller, library_id, document.id, 7)
    )
    go_on.set()
    await lab.idle()
    assert (await lab.count(chunks), await lab.count(document_pages)) == (0, 0)
    with pytest.raises(NotFound, match="no document"):
        await lab.get(document)


async def test_a_document_deleted_while_it_is_indexed_is_no_failure(
    lab: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    library_id = await lab.new_library()
    indexing, go_on = asyncio.Event(), asyncio.Event()

    async def wait(text: str) -> int:
        indexing.set()
        await go_on.wait()
        return 4

    lab.count_tokens = wait
    document = await lab.add(library_id)
    await indexing.wait()
    await lab.database.write(
        lambda connection: documents.delete(connection, lab.caller, library_id, document.id, 7)
    )
    go_on.set()
    await lab.idle()
    assert (await lab.count(chunks), await lab.count(document_pages)) == (0, 0)
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


async def test_search_can_be_restricted_to_documents(lab: Lab) -> None:
    library_id = await lab.new_library()
    first = await lab.until(await lab.add(library_id, b"1"), "done")
    second = await lab.until(await lab.add(library_id, b"2"), "done")
    both = await lab.service.search([library_id], "heron", 10, lab.caller)
    assert {hit.document_id for hit in both} == {first.id, second.id}
    query = SearchQuery(query="heron", document_ids=[second.id])
    one = await lab.service.search_library(lab.caller, library_id, query)
    assert [hit.document_id for hit in one] == [second.id]


async def test_the_queue_has_an_order(lab: Lab) -> None:
    library_id = await lab.new_library()
    go_on = asyncio.Event()

    async def wait() -> str:
        await go_on.wait()
        return "text"

    lab.reader.script = wait
    added = [
        await lab.add(library_id, str(number).encode(), "application/pdf") for number in range(12)
    ]
    for document in added[:2]:
        await lab.until(document, "in_progress")
    query = DocumentQuery(sort_order="asc")
    now = (
        await lab.database.read(
            lambda connection: documents.page(connection, lab.caller, library_id, query)
        )
    ).data
    waiting = [d.queue_position for d in now if d.process_status == "todo"]
    assert waiting == list(range(1, len(waiting) + 1))
    assert waiting
    go_on.set()
    for document in added:
        assert (await lab.until(document, "done", "error")).queue_position is None


async def test_a_long_text_is_said_to_be_read_and_a_short_one_waits_until_it_is_done(
    lab: Lab,
) -> None:
    library_id = await lab.new_library()
    reading, go_on = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        reading.set()
        await go_on.wait()
        return "text"

    lab.reader.script = wait
    short = await lab.add(library_id, b"short")
    await reading.wait()
    await lab.until(await lab.add(library_id, b"long " * 30_000), "in_progress")
    assert (await lab.get(short)).process_status == "todo"
    go_on.set()
    await lab.until(short, "done")


async def test_a_stop_interrupts_and_the_next_start_resumes(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "STOP_SECONDS", 0.1)
    reader = ScriptedReader()
    reading = asyncio.Event()

    async def never() -> str:
        reading.set()
        await asyncio.Event().wait()
        raise AssertionError

    reader.script = never
    lab = Lab(folder, reader)
    await lab.open()
    library_id = await lab.new_library()
    document = await lab.add(library_id)
    async with asyncio.timeout(10):
        await reading.wait()
    await lab.close()

    lab = Lab(folder, ScriptedReader())
    await lab.open()
    try:
        done = await lab.until(document, "done", "error")
        assert (done.process_status, done.error) == ("done", None)
    finally:
        await lab.close()


@pytest.mark.parametrize("status", ["todo", "in_progress", "waiting_for_capacity"])
async def test_a_document_without_a_job_gets_one(folder: DataFolder, status: str) -> None:
    lab = Lab(folder, ScriptedReader())
    await lab.open()
    document = await lab.until(await lab.add(await lab.new_library()), "done")
    await lab.close()

    lab = Lab(folder, ScriptedReader())
    forgotten = documents_table.update().values(process_status=status, generation=2)
    await lab.database.write(lambda connection: connection.execute(forgotten))
    await lab.open()
    try:
        await lab.until(document, "done")
        assert lab.reader.reads == 1
    finally:
        await lab.close()
