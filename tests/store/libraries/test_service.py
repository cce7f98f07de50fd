import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from carrel.client.documents import Documents
from carrel.store.libraries.phase import document_phase
from carrel.store.notifications import NotificationsState
from carrel.store.store import Store
from carrel.wire.documents import Document, DocumentList, DocumentUpdate
from support.documents import digital_pdf
from support.slices import until

TEXT = "The notice period is three months to the end of a quarter."


@pytest.fixture
async def libraries(store: Store) -> AsyncIterator[Store]:
    """The store, with no library in the service."""
    await store.libraries.load()
    await store.libraries.delete([each.id for each in store.libraries.slice.value.items])
    yield store


async def made(store: Store, name: str = "contracts") -> str:
    library = await store.libraries.create(name)
    assert library is not None
    return library.id


async def test_an_added_document_is_said_when_the_list_has_it(
    libraries: Store, tmp_path: Path
) -> None:
    library_id = await made(libraries)
    listed: list[int] = []

    def note(new: NotificationsState, old: object) -> None:
        if new.items[-1].text == "Added lease.pdf.":
            listed.append(len(libraries.libraries.slice.value.documents))

    libraries.notifications.slice.changed.connect(note)
    await libraries.libraries.upload(
        library_id, digital_pdf(tmp_path / "lease.pdf", pages=1, text=TEXT)
    )
    await until(libraries.notifications.slice, lambda state: bool(listed))
    libraries.notifications.slice.changed.disconnect(note)
    assert listed == [1]


async def test_the_status_of_a_document_moves_by_itself(libraries: Store, tmp_path: Path) -> None:
    library_id = await made(libraries)
    phases: list[str] = []

    def note(new: object, old: object) -> None:
        for document in libraries.libraries.slice.value.documents:
            if phases[-1:] != [document_phase(document)]:
                phases.append(document_phase(document))

    libraries.libraries.slice.changed.connect(note)
    document = await libraries.libraries.upload(
        library_id, digital_pdf(tmp_path / "lease.pdf", pages=2, text=TEXT)
    )
    assert document is not None
    state = await until(
        libraries.libraries.slice,
        lambda state: any(document_phase(each) == "ready" for each in state.documents),
        60,
    )
    libraries.libraries.slice.changed.disconnect(note)
    assert (state.documents[0].id, state.documents[0].number_of_pages) == (document.id, 2)
    assert phases[-1] == "ready" and phases[0] in ("queued", "processing")
    shown = await until(
        libraries.activity.slice,
        lambda state: any(i.kind == "processing" and i.status == "done" for i in state.items),
    )
    assert {item.kind for item in shown.items} == {"upload", "processing"}
    await until(libraries.libraries.slice, lambda state: state.items[0].nb_documents == 1)


async def test_a_caller_waits_until_documents_are_processed(
    libraries: Store, tmp_path: Path
) -> None:
    service, library_id = libraries.libraries, await made(libraries)
    document = await service.upload(library_id, digital_pdf(tmp_path / "lease.pdf", text=TEXT))
    assert document is not None
    processed = await service.wait_processed(document)
    assert processed is not None and document_phase(processed) == "ready"
    waiting = service.wait_all_processed(library_id)
    await waiting
    assert waiting.outcome == "done"
    assert [each.id for each in await service.list_all() or ()] == [library_id]


async def test_a_document_that_is_renamed_while_processed_has_its_new_name_in_the_activity(
    libraries: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([{"name": "lease.pdf", "process_status": "in_progress"}])
    list_documents = vars(Documents)["list"]

    async def list_old_first(self: Documents, *args: Any, **kwargs: Any) -> DocumentList:
        found: DocumentList = await list_documents(self, *args, **kwargs)
        if found.data and (old := next(answers, None)):
            return found.model_copy(update={"data": [found.data[0].model_copy(update=old)]})
        return found

    monkeypatch.setattr(Documents, "list", list_old_first)
    monkeypatch.setattr("carrel.store.libraries.service.POLL", 0.05)
    library_id = await made(libraries)
    client = await libraries.session.client()
    document = await client.documents.upload(library_id, digital_pdf(tmp_path / "lease.pdf"))
    await client.documents.update(library_id, document.id, DocumentUpdate(name="signed/lease.pdf"))
    await libraries.libraries.select(library_id)
    await until(
        libraries.activity.slice,
        lambda state: [item.name for item in state.items] == ["signed/lease.pdf"],
    )


async def test_documents_out_of_view_are_followed_to_their_end(
    libraries: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.store.libraries.service.POLL", 0.05)
    held = asyncio.Event()
    get_document = Documents.get

    async def get_when_released(self: Documents, *args: Any, **kwargs: Any) -> Document:
        await held.wait()
        return await get_document(self, *args, **kwargs)

    monkeypatch.setattr(Documents, "get", get_when_released)
    library_id, other = await made(libraries), await made(libraries, "other")
    await libraries.libraries.select(other)
    kept = await libraries.libraries.upload(library_id, digital_pdf(tmp_path / "a.pdf", text=TEXT))
    gone = await libraries.libraries.upload(library_id, digital_pdf(tmp_path / "b.pdf"))
    assert kept is not None and gone is not None
    client = await libraries.session.client()
    await client.documents.delete(library_id, gone.id)

    def status(document: Document) -> str | None:
        item = libraries.activity.find(f"processing-{document.id}")
        return item.status if item else None

    assert [status(kept), status(gone)] == ["queued", "queued"]
    held.set()
    await until(libraries.activity.slice, lambda _: status(kept) == "done", 60)
    await until(libraries.activity.slice, lambda _: status(gone) is None)


async def test_nothing_is_asked_while_every_document_is_final(
    libraries: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    list_documents = vars(Documents)["list"]

    async def count(self: Documents, *args: Any, **kwargs: Any) -> DocumentList:
        nonlocal asked
        asked += 1
        listed: DocumentList = await list_documents(self, *args, **kwargs)
        return listed

    monkeypatch.setattr(Documents, "list", count)
    monkeypatch.setattr("carrel.store.libraries.service.POLL", 0.05)
    library_id = await made(libraries)
    await libraries.libraries.upload(library_id, digital_pdf(tmp_path / "a.pdf", pages=1))
    await until(
        libraries.libraries.slice,
        lambda state: [document_phase(each) for each in state.documents] == ["ready"],
        60,
    )
    assert asked > 1
    so_far = asked
    await asyncio.sleep(0.5)
    assert asked == so_far


async def test_a_search_finds_the_passage_and_ends_with_an_empty_query(
    libraries: Store, tmp_path: Path
) -> None:
    library_id = await made(libraries)
    await libraries.libraries.upload(
        library_id, digital_pdf(tmp_path / "lease.pdf", pages=1, text=TEXT)
    )
    await until(
        libraries.libraries.slice,
        lambda state: [document_phase(each) for each in state.documents] == ["ready"],
        60,
    )
    await libraries.libraries.search("notice period")
    state = libraries.libraries.slice.value
    assert state.hits[0].document_name == "lease.pdf"
    assert state.hits[0].matches
    await libraries.libraries.search("")
    assert (libraries.libraries.slice.value.query, libraries.libraries.slice.value.hits) == ("", ())


async def test_the_text_of_a_document(libraries: Store, tmp_path: Path) -> None:
    library_id = await made(libraries)
    document = await libraries.libraries.upload(
        library_id, digital_pdf(tmp_path / "lease.pdf", pages=1, text=TEXT)
    )
    assert document is not None
    await until(
        libraries.libraries.slice,
        lambda state: [document_phase(each) for each in state.documents] == ["ready"],
        60,
    )
    text = await libraries.libraries.show_text(library_id, document.id)
    assert text is not None and "three months" in text
    assert libraries.libraries.slice.value.text == text
    await libraries.libraries.select_document(None)
    assert libraries.libraries.slice.value.text is None


async def test_a_file_of_the_service_goes_into_a_library(libraries: Store, tmp_path: Path) -> None:
    library_id = await made(libraries)
    file = await libraries.files.upload(digital_pdf(tmp_path / "lease.pdf", pages=1))
    assert file is not None
    document = await libraries.libraries.add_file(library_id, file.id)
    assert document is not None
    assert (document.name, document.size) == ("lease.pdf", file.bytes)
    names = [item.name for item in libraries.activity.slice.value.items if item.kind == "upload"]
    assert names == ["lease.pdf", "lease.pdf"]


async def test_a_document_that_cannot_be_read_says_why(libraries: Store, tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7 and then nothing")
    await libraries.libraries.upload(await made(libraries), path)
    await until(
        libraries.libraries.slice,
        lambda state: [document_phase(each) for each in state.documents] == ["failed"],
        60,
    )
    shown = await until(
        libraries.activity.slice,
        lambda state: any(i.kind == "processing" and i.status == "failed" for i in state.items),
    )
    (item,) = (item for item in shown.items if item.kind == "processing" and item.ended)
    assert item.error is not None and item.error.title == "Processing failed"


async def test_another_library_shows_its_own_documents(libraries: Store, tmp_path: Path) -> None:
    one = await made(libraries, "one")
    await libraries.libraries.upload(one, digital_pdf(tmp_path / "a.pdf", pages=1))
    await until(libraries.libraries.slice, lambda state: len(state.documents) == 1)
    await made(libraries, "two")
    await until(libraries.libraries.slice, lambda state: state.total == 0)
    await libraries.libraries.select(one)
    state = libraries.libraries.slice.value
    assert (state.total, len(state.documents)) == (1, 1)
    await libraries.libraries.rename(one, "first")
    assert {each.name for each in libraries.libraries.slice.value.items} == {"first", "two"}


async def test_deleting_documents_and_libraries(libraries: Store, tmp_path: Path) -> None:
    library_id = await made(libraries)
    document = await libraries.libraries.upload(
        library_id, digital_pdf(tmp_path / "a.pdf", pages=1)
    )
    assert document is not None
    assert await libraries.libraries.delete_documents(library_id, [document.id]) == 1
    await until(libraries.libraries.slice, lambda state: state.total == 0)
    assert await libraries.libraries.delete([library_id]) == 1
    state = libraries.libraries.slice.value
    assert (state.items, state.selected, state.documents) == ((), None, ())


async def test_two_libraries_can_be_made_at_once(libraries: Store) -> None:
    first, second = libraries.libraries.create("one"), libraries.libraries.create("two")
    assert await first and await second
    assert (first.error, second.error) == (None, None)
    assert {each.name for each in libraries.libraries.slice.value.items} == {"one", "two"}


async def test_a_change_goes_to_the_library_it_was_meant_for(
    libraries: Store, tmp_path: Path
) -> None:
    one, two = await made(libraries, "one"), await made(libraries, "two")
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    first = await libraries.libraries.upload(one, path)
    second = await libraries.libraries.upload(two, path)
    assert first is not None and second is not None
    await libraries.libraries.select(one)
    handle = libraries.libraries.delete_documents(one, [first.id])
    libraries.libraries.select(two)
    assert await handle == 1
    state = await until(libraries.libraries.slice, lambda state: not state.loading)
    assert (state.selected, [each.id for each in state.documents]) == (two, [second.id])


async def test_what_another_client_has_deleted_does_not_stop_the_rest(
    libraries: Store, tmp_path: Path
) -> None:
    library_id = await made(libraries)
    ids = []
    for number in range(3):
        path = digital_pdf(tmp_path / f"{number}.pdf", pages=1, text=f"{number}")
        document = await libraries.libraries.upload(library_id, path)
        assert document is not None
        ids.append(document.id)
    client = await libraries.session.client()
    await client.documents.delete(library_id, ids[0])
    handle = libraries.libraries.delete_documents(library_id, ids)
    assert await handle == 3
    assert handle.error is None
    await until(libraries.libraries.slice, lambda state: state.total == 0)
    words = libraries.notifications.slice.value.items[-1].text
    assert words == "Deleted 3 documents; 1 was gone already."
