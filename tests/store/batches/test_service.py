"""Batch jobs of a real server, as the store shows, cancels, saves and reads them."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from carrel.client import Client
from carrel.config.profiles import Profile
from carrel.store.activity.formatting import activity_row
from carrel.store.activity.state import ActivityItem
from carrel.store.batches import service as batches
from carrel.store.batches.formatting import job_id
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from carrel.wire.batches import BatchCreate, BatchLine
from support.cuts import line
from support.documents import picture
from support.process import RunningServer, serve
from support.service import reply, service
from support.slices import until


@pytest.fixture
def profile(server: RunningServer) -> Profile:
    return Profile("test", server.url, server.api_key)


@pytest.fixture
async def store(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    monkeypatch.setattr(batches, "LOOK", 0.2)
    store = Store(profile, OwnerLoop.running())
    await store.start()
    yield store
    await store.close()


async def ended(store: Store, id: str) -> ActivityItem:
    """The item of a job once it has ended."""

    def item(items: tuple[ActivityItem, ...]) -> ActivityItem | None:
        return next((one for one in items if job_id(one.id) == id and one.ended), None)

    state = await until(store.activity.slice, lambda state: item(state.items) is not None)
    found = item(state.items)
    assert found is not None
    return found


async def questions(store: Store, *texts: str) -> str:
    """A job made elsewhere."""
    client = await store.session.client()
    lines = [
        BatchLine(custom_id=text, body={"model": "mistral-embed", "input": text}) for text in texts
    ]
    job = await client.batches.create(BatchCreate(endpoint="/v1/embeddings", requests=lines))
    return job.id


async def test_a_job_made_elsewhere_shows_its_progress_and_is_saved(
    store: Store, tmp_path: Path
) -> None:
    id = await questions(store, "rent", "notice")
    await store.batches.load()
    item = await ended(store, id)
    row = activity_row(item, 0)
    assert (row.kind, row.name) == ("Batch", "Embeddings, 2 requests")
    assert (row.status.text, row.progress) == ("Done", "2 of 2")
    assert row.facts == (("Answers", "2"),)
    (path,) = await store.batches.save(id, tmp_path) or ()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["custom_id"] for line in lines} == {"rent", "notice"}
    assert path.name in store.notifications.slice.value.items[-1].text
    (again,) = await store.batches.save(id, tmp_path) or ()
    assert again != path, "nothing is overwritten"


async def test_a_dismissed_job_stays_away(store: Store) -> None:
    id = await questions(store, "rent")
    await store.batches.load()
    item = await ended(store, id)
    store.activity.dismiss(item.id)
    await store.batches.load()
    assert store.activity.find(item.id) is None


async def test_a_job_is_cancelled_from_activity(store: Store) -> None:
    id = await questions(store, *(f"question {number}" for number in range(400)))
    await store.batches.load()
    store.activity.cancel(f"job-{id}")
    item = await ended(store, id)
    assert item.status == "cancelled" and (item.done or 0) < 400


async def test_files_are_read_as_one_job_and_open_like_any_reading(
    store: Store, profile: Profile, tmp_path: Path
) -> None:
    sources = []
    for name in ("One", "Two"):
        path = picture(tmp_path / f"{name}.png", f"Contract {name}")
        file = await store.files.upload(path)
        assert file is not None
        sources.append(DocumentSource("file", file.id, file.filename))
    id = await store.batches.read(sources)
    assert id is not None
    item = await ended(store, id)
    assert (item.name, item.status) == ("OCR of 2 files", "done")
    await until(store.notifications.slice, lambda state: "2 files read" in state.items[-1].text)
    asked = len(store.requests.slice.value.items)
    await store.documents.open(sources[0])
    state = await until(store.documents.slice, lambda state: bool(state.pages))
    assert state.pages[0] is not None and "Contract" in state.pages[0].markdown
    later = store.requests.slice.value.items[asked:]
    assert not [one for one in later if one.call.path == "/v1/ocr"], "no page is asked for again"


async def test_a_job_that_ends_while_nobody_looks_is_read_at_the_next_start(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "LOOK", 0.2)
    first = Store(profile, OwnerLoop.running())
    await first.start()
    path = picture(tmp_path / "three.png", "Contract Three")
    file = await first.files.upload(path)
    assert file is not None
    await first.batches.read([DocumentSource("file", file.id, file.filename)])
    await first.close()
    second = Store(profile, OwnerLoop.running())
    await second.start()
    await until(
        second.notifications.slice,
        lambda state: any("1 file read by the batch job." in one.text for one in state.items),
    )
    await second.close()


async def test_deleted_answers_are_not_waited_for(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "LOOK", 60)  # no look until the answers are deleted
    file = await store.files.upload(picture(tmp_path / "four.png", "Contract Four"))
    assert file is not None
    id = await store.batches.read([DocumentSource("file", file.id, file.filename)])
    client = await store.session.client()
    async with asyncio.timeout(30):
        while (job := await client.batches.get(id or "")).output_file is None:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    await client.files.delete(job.output_file or "")
    monkeypatch.setattr(batches, "LOOK", 0.1)
    await store.batches.load()
    await until(
        store.notifications.slice,
        lambda state: any("0 files read by the batch job" in one.text for one in state.items),
    )
    await store.batches.load()
    looks = len(store.requests.slice.value.items)
    await asyncio.sleep(0.5)
    assert len(store.requests.slice.value.items) == looks


async def test_a_service_without_batch_jobs_shows_none() -> None:
    async with service(reply({"detail": "Not Found"}, 404)) as running:
        store = Store(Profile("test", running.url, "key"), OwnerLoop.running())
        handle = store.batches.load()
        starting = asyncio.ensure_future(store.start())
        await handle
        await starting
        assert handle.error is None and store.batches.slice.value.jobs == ()
        await store.close()


async def test_a_job_whose_answer_is_lost_is_not_submitted_again(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server, line(server.port) as way:
        store = Store(Profile("test", way.url, server.api_key), OwnerLoop.running())
        await store.start()
        file = await store.files.upload(picture(tmp_path / "five.png", "Contract Five"))
        assert file is not None
        way.cut_before_answer(b"POST /v1/batch/jobs ")
        handle = store.batches.read([DocumentSource("file", file.id, file.filename)])
        await until(store.session.slice, lambda state: state.connection == "lost")
        way.mend()
        id = await handle
        async with Client(server.url, server.api_key) as client:
            assert [job.id async for job in client.batches.every()] == [id]
        await store.close()
