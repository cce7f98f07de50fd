"""Lists and texts that were seen stay readable while the service is out of reach."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from carrel.client.http.errors import NotFound
from carrel.config.profiles import Profile, folders
from carrel.store.cache.last_seen import LastSeen
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.slice import Slice
from carrel.store.session.formatting import status
from carrel.store.store import Store
from carrel.wire.generation.agents import AgentCreate
from support.process import serve
from support.slices import until


async def started(profile: Profile) -> Store:
    store = Store(profile, OwnerLoop.running())
    await store.start()
    return store


async def seen_by(store: Store) -> tuple[object, ...]:
    """Everything that the lists show."""
    for area in (store.files, store.libraries, store.agents):
        handle = area.load()
        await handle
        assert handle.error is None
    await until(store.libraries.slice, lambda state: state.total is not None)
    await until(store.agents.slice, lambda state: bool(state.versions))
    files, agents = store.files.slice.value, store.agents.slice.value
    libraries = store.libraries.slice.value
    (document,) = libraries.documents
    text = await store.libraries.show_text(document.library_id, document.id)
    await store.libraries.search("notice")
    hits = store.libraries.slice.value.hits
    await store.previews.show(files.items[0])
    preview = store.previews.slice.value.text
    return (
        *(files.items, files.total, libraries.items, libraries.documents, text, hits, preview),
        *(agents.items, agents.versions, agents.aliases),
    )


async def test_what_was_seen_is_readable_without_the_service(tmp_path: Path) -> None:
    (tmp_path / "lease.txt").write_text("The notice period is three months.")
    with ExitStack() as running:
        server = running.enter_context(serve(tmp_path / "data"))
        profile = Profile("test", server.url, server.api_key)
        store = await started(profile)
        await store.files.upload(tmp_path / "lease.txt")
        library = await store.libraries.create("contracts")
        assert library is not None
        document = await store.libraries.upload(library.id, tmp_path / "lease.txt")
        assert document is not None
        await store.libraries.wait_processed(document)
        await store.libraries.reload()
        agent = await store.agents.create(AgentCreate(model="test", name="support"))
        assert agent is not None
        await store.agents.set_alias(agent.id, "prod", 0)
        seen = await seen_by(store)
        assert store.files.slice.value.as_of is None
        await store.close()
    kept = [path for path in (folders().cache / "seen").rglob("*") if path.is_file()]
    assert kept
    assert not any(server.api_key.encode() in path.read_bytes() for path in kept)
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)

    # Started while nobody answers.
    offline = await started(profile)
    try:
        assert await seen_by(offline) == seen
        for area in (offline.files, offline.libraries, offline.agents):
            as_of = area.slice.value.as_of
            assert as_of is not None and time.time() - as_of < 600
            words = status(offline.session.slice.value, as_of + 300, as_of)
            assert "Offline: showing a copy from " in words and words.endswith(", 5 min ago")
        # A change says that it needs the service.
        deleting = offline.libraries.delete([library.id])
        await deleting.settled()
        assert deleting.error is not None and deleting.error.lost
        # Another profile of the same service has seen nothing.
        other = await started(Profile("other", server.url, server.api_key))
        loading = other.files.load()
        await loading.settled()
        assert loading.error is not None and loading.error.lost
        await other.close()

        with serve(tmp_path / "data", port=server.port):
            offline.session.retry()
            slices: tuple[Slice[Any], ...] = (
                offline.files.slice,
                offline.libraries.slice,
                offline.agents.slice,
            )
            for part in slices:
                await until(part, lambda state: state.as_of is None)
    finally:
        await offline.close()


class OneAnswer:
    """A session whose client is a number, and then nobody."""

    def __init__(self) -> None:
        self.answers = True
        self.refused = False
        self.doubted = 0

    @property
    def offline(self) -> bool:
        return False

    async def client(self) -> int:
        from carrel.client.http.errors import Unreachable

        if not self.answers:
            raise Unreachable("Nobody answers.")
        return 1

    def check_connection(self) -> None:
        self.doubted += 1


@pytest.fixture
async def session() -> AsyncIterator[OneAnswer]:
    yield OneAnswer()


def last_seen(session: OneAnswer, profile: Profile | None = None) -> LastSeen:
    return LastSeen(profile or Profile("test", "http://127.0.0.1:9"), session)  # type: ignore[arg-type]


async def test_a_copy_is_as_old_as_the_last_answer(session: OneAnswer) -> None:
    seen = last_seen(session)

    async def answer(_: object) -> list[str]:
        return ["one"]

    assert (await seen.ask("names", list[str], answer)).as_of is None
    (path,) = (folders().cache / "seen").rglob("*.json")
    content = path.read_bytes()
    first = path.stat().st_mtime_ns
    await asyncio.sleep(0.05)
    await seen.ask("names", list[str], answer)
    assert path.stat().st_mtime_ns > first and path.read_bytes() == content
    session.answers = False
    copy = await last_seen(session).ask("names", list[str], answer)
    assert (copy.value, copy.as_of) == (["one"], path.stat().st_mtime)
    assert session.doubted == 1


async def test_a_damaged_copy_is_none(session: OneAnswer) -> None:
    from carrel.client.http.errors import Unreachable

    seen = last_seen(session)

    async def answer(_: object) -> list[str]:
        return ["one"]

    await seen.ask("names", list[str], answer)
    (path,) = (folders().cache / "seen").rglob("*.json")
    path.write_text('["on')
    session.answers = False
    with pytest.raises(Unreachable):
        await seen.ask("names", list[str], answer)


async def test_a_refusal_is_no_outage(session: OneAnswer) -> None:
    seen = last_seen(session)

    async def answer(_: object) -> list[str]:
        return ["one"]

    async def gone(_: object) -> list[str]:
        raise NotFound("It is gone.", 404)

    await seen.ask("names", list[str], answer)
    with pytest.raises(NotFound):
        await seen.ask("names", list[str], gone)


async def test_the_copies_have_a_limit(session: OneAnswer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.store.cache.last_seen.LAST_SEEN_BYTES", 5_000)
    monkeypatch.setattr("carrel.store.cache.last_seen.WRITES", 0)
    seen = last_seen(session)

    async def answer(_: object) -> str:
        return "x" * 1_000

    for number in range(20):
        await seen.ask(f"text {number}", str, answer)
    kept = sum(path.stat().st_size for path in (folders().cache / "seen").rglob("*.json"))
    assert 1_000 < kept <= 5_000


async def test_a_refused_key_shows_no_copy(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server:
        store = await started(Profile("test", server.url, server.api_key))
        await store.files.load()
        await store.close()
        refused = await started(Profile("test", server.url, "wrong"))
        await until(refused.session.slice, lambda state: state.connection == "failed")
        loading = refused.files.load()
        await loading.settled()
        assert loading.error is not None and loading.error.title == "The key was refused"
        assert not refused.files.slice.value.loaded
        await refused.close()
