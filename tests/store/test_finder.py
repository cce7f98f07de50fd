"""Finding things of every kind at a real service."""

from pathlib import Path

from carrel.store.chat.sessions.saved import SessionSummary
from carrel.store.store import Store
from carrel.wire.generation.agents import AgentCreate, AgentUpdate
from support.slices import until


async def find(store: Store, text: str) -> list[tuple[str, str, str]]:
    handle = store.finder.find(text)
    await handle
    assert handle.error is None, handle.error
    assert not store.finder.slice.value.searching
    return [(item.kind, item.name, item.details) for item in store.finder.slice.value.found]


async def test_every_kind_is_found_by_a_part_of_its_name(store: Store, tmp_path: Path) -> None:
    (tmp_path / "the lease.txt").write_text("Three months.")
    await store.files.upload(tmp_path / "the lease.txt")
    library = await store.libraries.create("papers")
    assert library is not None
    document = await store.libraries.upload(library.id, tmp_path / "the lease.txt")
    agent = await store.agents.create(AgentCreate(name="lease expert", model="smollm2"))
    assert agent is not None and document is not None
    await store.agents.update(agent.id, AgentUpdate(instructions="Be brief."))
    summary = SessionSummary("s1", "What the lease says", agent.id, "lease expert", 0.0, 2)
    store.chat.slice.set(sessions=(summary,))

    assert await find(store, " LEASE ") == [
        ("file", "the lease.txt", "ocr"),
        ("document", "the lease.txt", "papers"),
        ("agent", "lease expert", "v1"),
        ("chat", "What the lease says", "lease expert"),
    ]
    assert store.finder.slice.value.found[1].parent == library.id
    versions = [item for item in await find(store, "lease expert v") if item[0] == "version"]
    assert versions == [
        ("version", "lease expert v1", "active"),
        ("version", "lease expert v0", ""),
    ]
    assert [item[1] for item in await find(store, "expert v0")] == ["lease expert v0"]
    assert await find(store, "no such name") == []
    assert await find(store, "") == []


async def test_the_last_text_counts(store: Store) -> None:
    store.finder.find("first")
    store.finder.find("second")
    await until(store.finder.slice, lambda state: state.text == "second" and not state.searching)
