"""The commands against the real server: data on stdout, talk on stderr."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from support.command import Ended, carrel
from support.documents import digital_pdf
from support.process import RunningServer
from support.service import Request, reply, service

Run = Callable[..., Awaitable[Ended]]

FILE = {
    "id": "f1", "bytes": 1, "created_at": 0, "filename": "x", "purpose": "ocr",
    "sample_type": "ocr_input", "source": "upload", "deleted": False,
}  # fmt: skip


@pytest.fixture
def run(server: RunningServer) -> Run:
    """Runs a command against the server; it must end with 0 unless another code is expected."""

    async def run(*arguments: str | Path, code: int = 0) -> Ended:
        ended = await carrel(*arguments, CARREL_URL=server.url, CARREL_API_KEY=server.api_key)
        assert ended.code == code, ended
        return ended

    return run


async def test_files(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "Zürich notes.txt"
    path.write_text("three months")
    uploaded = await run("files", "upload", path, "--purpose", "ocr")
    file_id = uploaded.out.strip()
    assert uploaded.err == "Uploaded Zürich notes.txt.\n"
    assert (await run("files", "get", file_id, "--json")).json["filename"] == "Zürich notes.txt"
    assert "12 B" in (await run("files", "get", "Zürich notes.txt")).out
    listed = await run("files", "list", "--search", "Zürich")
    assert file_id in listed.out
    assert listed.out.splitlines()[0].split() == ["ID", "NAME", "PURPOSE", "SIZE", "CREATED"]
    assert (await run("files", "url", file_id)).out.startswith("http://127.0.0.1:")
    assert (await run("files", "download", file_id, "-")).out == "three months"
    copied = await run("files", "download", file_id, tmp_path / "copy.txt")
    assert copied.out == f"{tmp_path / 'copy.txt'}\n"
    assert (tmp_path / "copy.txt").read_text() == "three months"
    refused = await run("files", "download", file_id, tmp_path, code=1)
    assert "already exists" in refused.err
    assert (await run("files", "delete", file_id, "--json")).json["deleted"] is True
    gone = await run("files", "get", file_id, code=1)
    assert (gone.out, gone.err.count("\n")) == ("", 1)


async def test_several_files_are_one_json_list(run: Run, tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(name)
    uploaded = await run("files", "upload", tmp_path / "one.txt", tmp_path / "two.txt", "--json")
    assert [file["filename"] for file in uploaded.json] == ["one.txt", "two.txt"]
    await run("files", "delete", *(file["id"] for file in uploaded.json))
    wrong = await run("files", "upload", tmp_path / "one.txt", tmp_path / "no", "--json", code=1)
    assert wrong.out == ""


async def test_files_that_were_uploaded_before_one_failed_are_told(tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(name)
    async with service(reply(FILE), reply({"message": "No."}, 400)) as odd:
        stopped = await carrel(
            "files", "upload", tmp_path / "one.txt", tmp_path / "two.txt", "--json",
            CARREL_URL=odd.url,
        )  # fmt: skip
    assert stopped.code == 1
    assert [file["id"] for file in stopped.json] == ["f1"]


async def test_a_name_that_two_files_have_needs_an_id(run: Run, tmp_path: Path) -> None:
    (tmp_path / "same.txt").write_text("x")
    ids = [(await run("files", "upload", tmp_path / "same.txt")).out.strip() for _ in range(2)]
    refused = await run("files", "get", "same.txt", code=1)
    assert all(file_id in refused.err for file_id in ids)
    await run("files", "delete", *ids)


@pytest.mark.parametrize("name", ["../../escape.txt", "..\\escape.txt", ".escape.txt", "/"])
async def test_a_download_stays_in_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    file = reply({**FILE, "id": "0" * 32, "filename": name})
    content = reply(b"x", content_type="application/octet-stream")
    async with service(file, content) as odd:
        ended = await carrel("files", "download", "0" * 32, tmp_path / "in", CARREL_URL=odd.url)
    assert ended.code == 0
    assert Path(ended.out.strip()).parent == tmp_path / "in"
    assert not Path(ended.out.strip()).name.startswith(".")


async def test_ocr_prints_markdown_and_leaves_no_file(run: Run, tmp_path: Path) -> None:
    path = digital_pdf(tmp_path / "rules.pdf", 3, "The notice period is three months.")
    read = await run("ocr", path)
    assert read.out.count("The notice period is three months.") == 3
    assert "Read 3 pages." in read.err
    second = await run("ocr", path, "--pages", "2-3", "--format", "json")
    assert [page["index"] for page in second.json["pages"]] == [1, 2]
    lines = (await run("ocr", path, "--pages", "1", "--format", "jsonl")).out.splitlines()
    assert len(lines) == 1
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    broken = await run("ocr", tmp_path / "broken.pdf", code=1)
    assert broken.out == ""
    for name in ("rules.pdf", "broken.pdf"):
        assert (await run("files", "list", "--search", name, "--json")).json == []


async def test_ocr_of_a_hosted_service_names_its_reader() -> None:
    result = {"pages": [], "model": "m", "usage_info": {"pages_processed": 0}}
    deleted = {"id": "f1", "deleted": True}
    async with service(reply(FILE), reply(result), reply(deleted)) as odd:
        await carrel("ocr", __file__, CARREL_URL=odd.url)
    methods = [request.method for request in odd.requests if request.target != "/healthz"]
    assert methods == ["POST", "POST", "DELETE"]
    assert b'"model":"mistral-ocr-latest"' in odd.requests[1].body.replace(b" ", b"")


async def test_libraries(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lease.txt"
    path.write_text("The notice period is three months to the end of a quarter.")
    library_id = (await run("libraries", "create", "leases", "--description", "x")).out.strip()
    added = await run("libraries", "add", "leases", path, "--wait", "--json")
    assert added.json["processing_status"] == "Completed"
    listed = await run("libraries", "documents", "leases")
    assert "lease.txt" in listed.out
    assert "Ready" in listed.out
    found = await run("libraries", "search", "leases", "notice period", "--json")
    assert found.json["data"][0]["document_name"] == "lease.txt"
    assert "lease.txt" in (await run("libraries", "search", library_id, "notice period")).out
    everywhere = await run("search", "notice period")
    assert everywhere.out.startswith("leases · 1 passage\n  lease.txt")
    assert "Looked through 1 library and 0 chats of this machine." in everywhere.err
    assert (await run("search", "notice", "--json")).json["found"][0]["group"] == "leases"
    assert "three months" in (await run("libraries", "text", "leases", "lease.txt")).out
    near = await run("libraries", "text", "leases", "lese.txt", code=1)
    assert "There is no document “lese.txt”. Did you mean “lease.txt”? See: carrel" in near.err
    assert "Did you mean “leases”?" in (await run("libraries", "show", "laeses", code=1)).err
    far = await run("libraries", "text", "leases", "zebra", code=1)
    assert "There is no document “zebra”. See: carrel libraries documents" in far.err
    await run("libraries", "edit", "leases", "--name", "contracts")
    assert "contracts" in (await run("libraries", "list")).out
    assert (await run("libraries", "show", "contracts", "--json")).json["nb_documents"] == 1
    shown = await run("libraries", "embeddings", "contracts", "--json")
    assert (shown.json["model"], shown.json["embedded"]) == ("carrel-embed", shown.json["chunks"])
    await run("libraries", "reprocess", "contracts", "lease.txt")
    await run("libraries", "remove", "contracts", "lease.txt")
    assert (await run("libraries", "documents", "contracts", "--json")).json == []
    await run("libraries", "delete", "contracts")
    gone = await run("libraries", "show", "contracts", code=1)
    assert "carrel libraries list" in gone.err


async def test_a_document_that_cannot_be_read_fails_the_waiting(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    await run("libraries", "create", "odd")
    failed = await run("libraries", "add", "odd", tmp_path / "broken.pdf", "--wait", code=1)
    assert "broken.pdf: This file is" in failed.err
    assert "Processing failed: broken.pdf" in failed.err
    assert "Failed" in (await run("libraries", "documents", "odd")).out
    await run("libraries", "delete", "odd")


async def test_agents(run: Run) -> None:
    await run("libraries", "create", "manuals")
    created = await run(
        "agents", "create", "support", "--model", "smollm2", "--library", "manuals",
        "--instructions", "Answer briefly.", "--temperature", "0.5",
    )  # fmt: skip
    agent_id = created.out.strip()
    shown = (await run("agents", "show", "support", "--json")).json
    assert (shown["version"], shown["instructions"]) == (0, "Answer briefly.")
    assert shown["tools"][0]["type"] == "document_library"
    await run("agents", "edit", "support", "--instructions", "", "--library", "")
    changed = (await run("agents", "show", agent_id, "--json")).json
    assert (changed["version"], changed["instructions"], changed["tools"]) == (1, None, [])
    assert changed["completion_args"]["temperature"] == 0.5
    versions = (await run("agents", "versions", "support")).out.splitlines()
    assert [line.split()[0] for line in versions] == ["VERSION", "v1", "v0"]
    assert "active" in versions[1]
    await run("agents", "switch", "support", "v0")
    assert "Answer briefly." in (await run("agents", "show", "support")).out
    assert (await run("agents", "show", "support", "--version", "1", "--json")).json["version"] == 1
    assert agent_id in (await run("agents", "list")).out
    await run("agents", "delete", "support")
    await run("libraries", "delete", "manuals")
    assert (await run("agents", "list", "--search", agent_id, "--json")).json == []


async def test_an_alias_names_a_version_until_it_is_moved_or_taken_away(run: Run) -> None:
    made = await run("agents", "create", "named", "--model", "smollm2")
    assert "lists no model" not in made.err
    agent_id = made.out.strip()
    await run("agents", "edit", "named", "--name", "renamed")
    assert (await run("agents", "alias", agent_id, "prod", "v0")).err == "prod is now v0.\n"
    shown = await run("agents", "show", agent_id, "--version", "prod", "--json")
    assert shown.json["name"] == "named"
    # It begins as a version's number does, and is none.
    await run("agents", "alias", agent_id, "verified", "v0")
    named = (await run("agents", "show", agent_id, "--version", "verified", "--json")).json
    assert named["version"] == 0
    await run("agents", "unalias", agent_id, "verified")
    moved = (await run("agents", "alias", "renamed", "prod", "1", "--json")).json
    assert (moved["alias"], moved["version"]) == ("prod", 1)
    [heading, row] = (await run("agents", "aliases", "renamed")).out.splitlines()
    assert heading.split() == ["NAME", "VERSION", "CHANGED"]
    assert row.split()[:2] == ["prod", "v1"]
    assert "alias" in (await run("agents", "alias", "renamed", "Not So", "1", code=2)).err
    await run("agents", "alias", "renamed", "prod", "7", code=1)
    await run("agents", "unalias", "renamed", "prod")
    assert (await run("agents", "aliases", "renamed", "--json")).json == []
    await run("agents", "delete", "renamed")


async def test_a_model_that_the_service_does_not_list_is_a_warning(run: Run) -> None:
    warning = "This service lists no model “nope”: it may not answer. Available: smollm2"
    made = await run("agents", "create", "doubtful", "--model", "nope")
    assert warning in made.err
    assert warning in (await run("agents", "edit", "doubtful", "--model", "nope")).err
    edited = await run("agents", "edit", "doubtful", "--model", "mistral-small-latest")
    assert "lists no model" not in edited.err
    await run("agents", "delete", made.out.strip())


async def test_a_library_is_shared_and_taken_back(run: Run, server: RunningServer) -> None:
    await run("libraries", "create", "ours")
    named = ("berta", "--organisation", server.organisation)
    await carrel("keys", "add", *named, "--data", server.data)
    keys = (await carrel("keys", "list", "--data", server.data, "--json")).json
    berta = next(key["user_id"] for key in keys if key["name"] == "berta")
    assert (
        await run("libraries", "share", "ours", berta)
    ).err == f"Shared ours: {berta} is Viewer.\n"
    await run("libraries", "share", "ours", berta, "--level", "Editor")
    shares = (await run("libraries", "shares", "ours", "--json")).json
    assert [(share["role"], share["share_with_uuid"] == berta) for share in shares] == [
        ("Owner", False),
        ("Editor", True),
    ]
    assert "Editor" in (await run("libraries", "shares", "ours")).out
    await run("libraries", "unshare", "ours", berta)
    assert len((await run("libraries", "shares", "ours", "--json")).json) == 1
    await run("libraries", "unshare", "ours", berta, code=1)
    await run("libraries", "share", "ours", "somebody else", code=1)
    await run("libraries", "delete", "ours")


async def test_a_list_of_many_pages_is_whole() -> None:
    def agent(number: int) -> dict[str, object]:
        return {
            "id": f"ag_{number}", "name": f"a{number}", "model": "m", "version": 0, "versions": [0],
            "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z",
        }  # fmt: skip

    async def page(request: Request) -> None:
        first = 100 * int(request.target.partition("page=")[2].partition("&")[0])
        await request.write(reply([agent(n) for n in range(first, min(first + 100, 230))]))

    async with service(page) as odd:
        listed = await carrel("agents", "list", "--json", CARREL_URL=odd.url)
    assert len(listed.json) == 230
    # A service that knows no pages gives the same again.
    async with service(reply([agent(n) for n in range(100)])) as odd:
        listed = await carrel("agents", "list", "--json", CARREL_URL=odd.url)
    assert len(listed.json) == 100
