"""The tools that read, by the SDK's own client, over stdio and over a socket."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from mcp.types import TextResourceContents

from carrel.client import Client
from carrel.server.admin.keys import KeyChain
from mcp import MCPError
from support.documents import digital_pdf
from support.libraries import LibraryUnderTest, connect, new_library
from support.mcp import DOORS, Door, agent_at, data, said
from support.process import RunningServer

every_door = pytest.mark.parametrize("door", DOORS)


@pytest.fixture(scope="module")
def lease(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return digital_pdf(tmp_path_factory.mktemp("papers") / "lease.pdf", pages=3)


@pytest.fixture(scope="module")
def library(server: RunningServer, lease: Path) -> Iterator[LibraryUnderTest]:
    """A library with one document of three pages."""
    with connect(server) as http:
        made = new_library(http, name="contracts")
        made.processed("lease.pdf", lease.read_bytes())
        yield made


@every_door
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_only_tools_that_read_are_offered_unless_asked_for(
    server: RunningServer, door: Door, mode: str
) -> None:
    async with agent_at(door, server.url, server.api_key, mode=mode) as agent:
        tools = (await agent.list_tools()).tools
        assert {"search_library", "read_document", "read_file", "ask_agent"} <= {
            tool.name for tool in tools
        }
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        assert all(tool.description for tool in tools)
        with pytest.raises(MCPError, match="There is no tool create_library"):
            await agent.call_tool("create_library", {"name": "mine"})


@every_door
async def test_what_tools_answer_is_described(server: RunningServer, door: Door) -> None:
    async with agent_at(door, server.url, server.api_key) as agent:
        tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
        schema = tools["search_library"].output_schema
        assert schema is not None and schema["required"] == ["passages"]
        assert tools["read_document"].output_schema is None, "it answers text"


@every_door
async def test_tasks_are_prompts(server: RunningServer, door: Door) -> None:
    async with agent_at(door, server.url, server.api_key) as agent:
        prompts = (await agent.list_prompts()).prompts
        assert [one.name for one in prompts] == ["answer_from_library", "summarise_document"]
        asked = {"library": "contracts {x}", "question": "How long?"}
        got = await agent.get_prompt("answer_from_library", asked)
        [message] = got.messages
        assert "the library contracts {x}: How long?" in str(message.content)
        with pytest.raises(MCPError, match="needs question"):
            await agent.get_prompt("answer_from_library", {"library": "contracts"})
        with pytest.raises(MCPError, match="no prompt"):
            await agent.get_prompt("nothing", {})


@every_door
async def test_a_passage_leads_to_its_page(
    server: RunningServer, library: LibraryUnderTest, door: Door
) -> None:
    async with agent_at(door, server.url, server.api_key) as agent:
        listed = data(await agent.call_tool("list_libraries", {}))["libraries"]
        assert library.id in [each["id"] for each in listed]
        place = {"library_id": library.id}
        [document] = data(await agent.call_tool("list_documents", place))["documents"]
        assert document["number_of_pages"] == 3
        found = await agent.call_tool("search_library", {**place, "query": "lamp", "limit": 1})
        [passage] = data(found)["passages"]
        assert passage["document_id"] == document["id"]
        place["document_id"] = document["id"]
        two = said(await agent.call_tool("read_document", {**place, "pages": 2}))
        assert two.count("Every carrel has a lamp") == 2
        assert two.endswith("[3 pages; continue with first_page=2]")
        last = said(await agent.call_tool("read_document", {**place, "first_page": 2}))
        assert last.count("Every carrel has a lamp") == 1
        assert "continue" not in last
        tables = data(await agent.call_tool("read_tables", {**place, "pages": 1}))
        assert tables["next_first_page"] == 1
        [table] = tables["tables"]
        assert table["page"] == 0
        assert "| North | 24 | 1 |" in table["markdown"]


@every_door
async def test_what_cannot_be_done_is_said_in_words(
    server: RunningServer, library: LibraryUnderTest, door: Door
) -> None:
    [document] = library.documents()["data"]
    place = {"library_id": library.id, "document_id": document["id"]}
    async with agent_at(door, server.url, server.api_key) as agent:
        for name, arguments, words in (
            ("search_library", {"library_id": library.id}, "query: Field required"),
            ("search_library", {"library_id": "x", "query": "a"}, "There is no library"),
            ("read_document", {**place, "first_page": 3}, "has 3 pages, counted from 0"),
            ("read_document", {**place, "pages": 51}, "pages: Input should be less than"),
            ("read_file", {"source": "no-such-file"}, "There is no file"),
            ("ask_agent", {"agent_id": "ag_x", "question": "?"}, "There is no agent"),
        ):
            refused = await agent.call_tool(name, arguments)
            assert refused.is_error
            assert words in said(refused)


@every_door
async def test_documents_are_resources_a_page_at_a_time(server: RunningServer, door: Door) -> None:
    _, key = KeyChain(server.data).add(f"{door} resources", organisation=door, user="reader")
    headers = {"authorization": f"Bearer {key}"}
    with httpx.Client(base_url=server.url, headers=headers) as http:
        for name in ("a", "b"):
            new_library(http).processed(f"{name}.txt", f"Of lanterns and {name}.".encode())
    names, texts, cursor = [], [], None
    async with agent_at(door, server.url, key) as agent:
        while True:
            page = await agent.list_resources(cursor=cursor)
            for resource in page.resources:
                names.append(resource.name)
                [content] = (await agent.read_resource(resource.uri)).contents
                assert isinstance(content, TextResourceContents)
                texts.append(content.text.strip())
            cursor = page.next_cursor
            if cursor is None:
                break
        assert sorted(names) == ["a.txt", "b.txt"]
        assert sorted(texts) == ["Of lanterns and a.", "Of lanterns and b."]
        [template] = (await agent.list_resource_templates()).resource_templates
        assert template.uri_template == "carrel://libraries/{library_id}/documents/{document_id}"
        with pytest.raises(MCPError, match="no resource carrel://other"):
            await agent.read_resource("carrel://other")
        with pytest.raises(MCPError, match="no such page"):
            await agent.list_resources(cursor="gone:1")


@every_door
async def test_a_file_is_read_by_its_id(server: RunningServer, lease: Path, door: Door) -> None:
    async with Client(server.url, server.api_key) as client:
        file = await client.files.upload(lease)
    async with agent_at(door, server.url, server.api_key) as agent:
        assert file.id in said(await agent.call_tool("list_files", {}))
        read = said(await agent.call_tool("read_file", {"source": file.id, "pages": "1"}))
    assert "Rules of the Reading Room 2" in read
    assert "Reading Room 1" not in read


async def stored(server: RunningServer) -> int | None:
    """The number of files on a server."""
    async with Client(server.url, server.api_key) as client:
        return (await client.files.list()).total


async def test_a_path_is_read_in_the_folder_alone(
    server: RunningServer, lease: Path, tmp_path: Path
) -> None:
    before = await stored(server)
    (tmp_path / "secret.txt").write_text("secret")
    (lease.parent / "link.txt").symlink_to(tmp_path / "secret.txt")
    async with agent_at("stdio", server.url, server.api_key, folder=lease.parent) as agent:
        read = await agent.call_tool("read_file", {"source": "lease.pdf", "pages": "0"})
        assert "Rules of the Reading Room 1" in said(read)
        for path in (str(tmp_path / "secret.txt"), "../secret.txt", "link.txt"):
            refused = await agent.call_tool("read_file", {"source": path})
            assert refused.is_error
            assert "outside of" in said(refused)
    assert await stored(server) == before, "an upload was left behind"
    async with agent_at("http", server.url, server.api_key) as agent:
        assert (await agent.call_tool("read_file", {"source": str(lease)})).is_error


async def test_another_organisation_s_key_finds_nothing(
    server: RunningServer, library: LibraryUnderTest
) -> None:
    [document] = library.documents()["data"]
    place = {"library_id": library.id, "document_id": document["id"]}
    _, key = KeyChain(server.data).add("mcp stranger", organisation="strangers", user="stranger")
    async with agent_at("http", server.url, key) as agent:
        for name in ("list_libraries", "list_files", "list_agents"):
            [rows] = data(await agent.call_tool(name, {})).values()
            assert rows == []
        assert (await agent.list_resources()).resources == []
        for name in ("read_document", "read_tables"):
            assert "There is no library" in said(await agent.call_tool(name, place))
        uri = f"carrel://libraries/{library.id}/documents/{document['id']}"
        with pytest.raises(MCPError, match="There is no library"):
            await agent.read_resource(uri)


@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_the_door_opens_with_a_key_alone(server: RunningServer, method: str) -> None:
    answer = httpx.request(method, f"{server.url}/mcp")
    assert (answer.status_code, answer.json()) == (401, {"detail": "Unauthorized"})
