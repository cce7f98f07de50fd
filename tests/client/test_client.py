"""Every area of the client against the real server."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from carrel.client import Client, Invalid, NotFound, ServiceError, Unauthorized
from carrel.wire.documents import DocumentUpdate
from carrel.wire.generation.agents import AgentCreate, AgentUpdate
from carrel.wire.libraries import LibraryCreate, LibraryUpdate, ShareRemoval, ShareRequest
from carrel.wire.ocr import OCRRequest
from support.documents import digital_pdf
from support.process import RunningServer

HOSTILE = "invoice [/final] \x1b]0;x\x07.pdf"


@pytest.fixture
async def client(server: RunningServer) -> AsyncIterator[Client]:
    async with Client(server.url, server.api_key) as client:
        yield client


async def test_a_file_through_its_life(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"The notice period is three months.\n")
    file = await client.files.upload(path, purpose="ocr")
    assert (file.filename, file.bytes, file.purpose) == ("notes.txt", 35, "ocr")
    assert (await client.files.get(file.id)).deleted is False
    assert file.id in [it.id for it in (await client.files.list(search="notes")).data]
    assert [it.id async for it in client.files.every("notes.txt")] == [file.id]
    copy = await client.files.download(file.id, tmp_path / "copy.txt")
    assert copy.read_bytes() == path.read_bytes()
    async with httpx.AsyncClient() as anyone:
        signed = await client.files.url(file.id, hours=1)
        assert (await anyone.get(signed.url)).content == path.read_bytes()
    assert (await client.files.delete(file.id)).deleted
    with pytest.raises(NotFound):
        await client.files.get(file.id)


async def test_a_hostile_name_comes_back_clean(client: Client) -> None:
    async def content() -> AsyncIterator[bytes]:
        yield b"%PDF-"

    file = await client.files.upload((HOSTILE, 5, content()))
    assert file.filename.endswith("final] ]0;x.pdf")
    await client.files.delete(file.id)


async def test_an_agent_through_its_versions(client: Client) -> None:
    agent = await client.agents.create(AgentCreate(model="smollm2", name="first"))
    assert (agent.version, agent.versions) == (0, [0])
    changed = await client.agents.update(agent.id, AgentUpdate(name="second"))
    assert (changed.version, changed.name) == (1, "second")
    assert [it.version for it in await client.agents.versions(agent.id)] in ([0, 1], [1, 0])
    assert {it.version async for it in client.agents.every_version(agent.id)} == {0, 1}
    assert (await client.agents.version(agent.id, 0)).name == "first"
    alias = await client.agents.set_alias(agent.id, "prod", 1)
    assert (alias.alias, alias.version) == ("prod", 1)
    assert [it.alias for it in await client.agents.aliases(agent.id)] == ["prod"]
    assert (await client.agents.switch(agent.id, 0)).name == "first"
    assert (await client.agents.get(agent.id, "prod")).name == "second"
    await client.agents.delete_alias(agent.id, "prod")
    assert await client.agents.aliases(agent.id) == []
    assert agent.id in [it.id for it in await client.agents.list(search="first")]
    assert agent.id in [it.id async for it in client.agents.every("first")]
    assert agent.id in [it.id for it in (await client.agents.pages(name="first")).data]
    await client.agents.delete(agent.id)
    with pytest.raises(NotFound):
        await client.agents.get(agent.id)


async def test_two_who_ask_at_once_for_one_of_a_name_get_the_same(client: Client) -> None:
    new = LibraryCreate(name="made once")
    made = await asyncio.gather(*(client.libraries.create(new, if_absent=True) for _ in range(6)))
    assert len({library.id for library in made}) == 1
    other = await client.libraries.create(new)
    assert other.id != made[0].id
    assert (await client.libraries.create(new, if_absent=True)).id == made[0].id
    agent = AgentCreate(model="smollm2", name="made once")
    agents = await asyncio.gather(*(client.agents.create(agent, if_absent=True) for _ in range(6)))
    assert len({each.id for each in agents}) == 1
    assert (await client.agents.create(agent)).id != agents[0].id


async def test_a_library_and_its_document(client: Client, tmp_path: Path) -> None:
    library = await client.libraries.create(LibraryCreate(name="contracts"))
    changed = await client.libraries.update(library.id, LibraryUpdate(description="leases"))
    assert (changed.name, changed.description) == ("contracts", "leases")
    path = tmp_path / "lease.txt"
    path.write_text("The notice period is three months.")
    document = await client.documents.upload(library.id, path)
    assert (await client.documents.upload(library.id, path)).id == document.id
    assert (await client.documents.status(library.id, document.id)).document_id == document.id
    renamed = await client.documents.update(
        library.id, document.id, DocumentUpdate(name="annex.txt")
    )
    assert renamed.name == "annex.txt"
    copy = await client.documents.download(library.id, document.id, tmp_path / "copy.txt")
    assert copy.read_bytes() == path.read_bytes()
    assert (await client.documents.list(library.id)).pagination.total_items == 1
    assert [it.id async for it in client.documents.every(library.id, "annex")] == [document.id]
    assert (await client.libraries.get(library.id)).nb_documents == 1
    assert library.id in [it.id async for it in client.libraries.every("contracts")]
    await client.documents.reprocess(library.id, document.id)
    await client.documents.delete(library.id, document.id)
    with pytest.raises(NotFound):
        await client.documents.get(library.id, document.id)
    await client.libraries.delete(library.id)
    assert library.id not in [it.id for it in (await client.libraries.list()).data]


async def test_a_library_is_shared_and_not_any_more(client: Client) -> None:
    library = await client.libraries.create(LibraryCreate(name="shared"))
    (owner,) = await client.libraries.shares(library.id)
    everyone = {"share_with_uuid": owner.org_id, "share_with_type": "Org"}
    share = await client.libraries.share(
        library.id, ShareRequest.model_validate({"level": "Viewer", **everyone})
    )
    assert (share.role, share.share_with_uuid) == ("Viewer", owner.org_id)
    assert len(await client.libraries.shares(library.id)) == 2
    await client.libraries.unshare(library.id, ShareRemoval.model_validate(everyone))
    assert await client.libraries.shares(library.id) == [owner]
    await client.libraries.delete(library.id)


async def test_a_document_is_read(client: Client, tmp_path: Path) -> None:
    path = digital_pdf(tmp_path / "lease.pdf", 1, "The notice period is three months.")
    file = await client.files.upload(path)
    result = await client.ocr.process(
        OCRRequest.model_validate({"model": None, "document": {"file_id": file.id}})
    )
    assert "notice period" in result.pages[0].markdown
    await client.files.delete(file.id)


async def test_the_server_answers_and_has_a_model(client: Client) -> None:
    assert await client.health()
    assert (await client.models.list()).data[0].id == "smollm2"


async def test_a_wrong_key_is_named_as_the_trouble(server: RunningServer) -> None:
    async with Client(server.url, "wrong") as client:
        with pytest.raises(Unauthorized, match="did not accept the API key"):
            await client.files.list()


async def test_wrong_fields_are_named(client: Client) -> None:
    library = await client.libraries.create(LibraryCreate(name="x"))
    with pytest.raises(ServiceError) as error:
        await client.libraries.update(library.id, LibraryUpdate.model_construct(name=""))
    assert isinstance(error.value, Invalid)
    assert error.value.fields[0][0] == "name"
    await client.libraries.delete(library.id)
