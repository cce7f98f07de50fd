"""`carrel ocr` against the real server: files, addresses and folders in, text and files out."""

import asyncio
import csv
import json
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from carrel.cli.ocr_folder import LEDGER
from carrel.client import Client
from support.command import Ended, carrel, start
from support.documents import TEXT, digital_pdf, scanned_pdf
from support.office import png, slide_picture, slide_table, slide_text, slides_file
from support.process import RunningServer
from support.service import Request, reply, service

Run = Callable[..., Awaitable[Ended]]

FILE = {
    "id": "f1", "bytes": 1, "created_at": 0, "filename": "x", "purpose": "ocr",
    "sample_type": "ocr_input", "source": "upload", "deleted": False,
}  # fmt: skip


@pytest.fixture
def run(server: RunningServer) -> Run:
    """Runs `carrel ocr`; it must end with 0 unless another code is expected."""

    async def run(*arguments: str | Path, code: int = 0) -> Ended:
        ended = await carrel(
            "ocr", *arguments, CARREL_URL=server.url, CARREL_API_KEY=server.api_key
        )
        assert ended.code == code, ended
        return ended

    return run


@pytest.fixture
def slides(tmp_path: Path) -> Path:
    rows = [[("", "Room"), ("", "Seats")], [("", "North, upper"), ("", "24")]]
    shapes = (
        slide_text(2, "Rooms", placeholder="title")
        + slide_picture(3, 20)
        + slide_table(4, rows, 40)
    )
    return slides_file(tmp_path / "rooms.pptx", [shapes], picture=png())


async def test_pages_come_in_order_however_many_requests_they_took(
    run: Run, tmp_path: Path
) -> None:
    path = digital_pdf(tmp_path / "rules.pdf", 12)
    whole = (await run(path, "--format", "json")).json
    assert [page["index"] for page in whole["pages"]] == list(range(12))
    assert whole["usage_info"]["pages_processed"] == 12
    some = await run(path, "--pages", "8,1-3,2", "--format", "jsonl")
    assert [json.loads(line)["index"] for line in some.out.splitlines()] == [7, 0, 1, 2]
    beyond = await run(path, "--pages", "3,13", code=1)
    assert beyond.out == ""
    assert beyond.err.count("There is no page 13: the document has 12 pages.") == 1


async def test_nothing_of_a_document_stays_at_the_service(
    run: Run, server: RunningServer, tmp_path: Path
) -> None:
    path = digital_pdf(tmp_path / "secret.pdf")
    await run(path)
    async with Client(server.url, server.api_key) as client:
        assert path.name not in [file.filename async for file in client.files.every()]
        assert path.name not in [item.name async for item in client.trash.every()]


async def test_text_and_web_pages(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a <b>.md"
    path.write_text(
        "# Rules\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>x</script>"
    )
    text = (await run(path, "--format", "txt")).out
    assert text.startswith("Rules\n\n- one\n- two\n\na\tb\n1\t2\n")
    page = (await run(path, "--format", "html")).out
    assert "<title>a &lt;b&gt;.md</title>" in page
    assert "<h1>Rules</h1>" in page and "<td>2</td>" in page
    assert "<script>" not in page


async def test_pictures_and_tables_become_files_that_the_text_leads_to(
    run: Run, tmp_path: Path, slides: Path
) -> None:
    out, images = tmp_path / "out", tmp_path / "my pictures"
    ended = await run(slides, "--out", out, "--images", images, "--tables", "csv")
    assert ended.out == f"{out / 'rooms.pptx.md'}\n"
    markdown = (out / "rooms.pptx.md").read_text()
    assert "](../my%20pictures/img-0.jpeg)" in markdown
    assert (images / "img-0.jpeg").read_bytes().startswith(b"\xff\xd8")
    assert "[tbl-0.csv](rooms.pptx.tbl-0.csv)" in markdown
    with (out / "rooms.pptx.tbl-0.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["Room", "Seats"], ["North, upper", "24"]]


async def test_a_schema_is_answered_instead_of_the_text(run: Run, tmp_path: Path) -> None:
    path = digital_pdf(tmp_path / "rules.pdf", 1)
    schema = {
        "type": "object",
        "properties": {"seats": {"type": "integer", "maximum": 99}},
        "required": ["seats"],
        "additionalProperties": False,
    }
    (tmp_path / "S.json").write_text(json.dumps(schema))
    answer = await run(path, "--schema", tmp_path / "S.json")
    assert answer.json.keys() == {"seats"}
    (tmp_path / "S.json").write_text("{")
    refused = await run(path, "--schema", tmp_path / "S.json", code=2)
    assert "is not JSON" in refused.err


async def test_an_annotation_that_is_no_json_is_printed_as_it_came(tmp_path: Path) -> None:
    (tmp_path / "S.json").write_text("{}")
    result = {"pages": [], "model": "m", "usage_info": {"pages_processed": 0}}
    async with service(reply({**result, "document_annotation": "ninety"})) as odd:
        address = "https://example.com/a.pdf"
        ended = await carrel("ocr", address, "--schema", tmp_path / "S.json", CARREL_URL=odd.url)
    assert (ended.code, ended.out) == (0, "ninety\n")


async def test_an_address_is_read_by_the_service() -> None:
    page = {"index": 0, "markdown": "Read.", "images": [], "dimensions": None}
    result = {"pages": [page], "model": "m", "usage_info": {"pages_processed": 1}}
    for address, kind in (("a.pdf", "document_url"), ("a.png?x=1", "image_url")):
        async with service(reply(result)) as odd:
            ended = await carrel("ocr", f"https://example.com/{address}", CARREL_URL=odd.url)
        assert (ended.code, ended.out) == (0, "Read.\n")
        (request,) = odd.requests
        document = json.loads(request.body)["document"]
        assert document[kind] == f"https://example.com/{address}"


async def test_a_folder_goes_on_where_it_stopped_and_says_what_failed(
    run: Run, tmp_path: Path
) -> None:
    folder, out = tmp_path / "documents", tmp_path / "out"
    (folder / "deep").mkdir(parents=True)
    digital_pdf(folder / "deep" / "rules.pdf", 1)
    (folder / "note.txt").write_text("One note.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    for left_out in ("program.bin", ".hidden.txt"):
        (folder / left_out).write_text("x")
    first = await run(folder, "--out", out, code=1)
    results = {str(out / "deep" / "rules.pdf.md"), str(out / "note.txt.md")}
    assert set(first.out.splitlines()) == results
    assert "Read 2 of 3 documents." in first.err
    assert "broken.pdf: This file is not a valid PDF" in first.err
    assert first.err.endswith("1 document could not be read.\n")
    assert TEXT in (out / "deep" / "rules.pdf.md").read_text()

    (folder / "broken.pdf").unlink()
    (folder / "note.txt").write_text("Another note.")
    with (out / LEDGER).open("a") as ledger:
        ledger.write('\n{"document": "no')  # the machine stopped
    second = await run(folder, "--out", out)
    assert second.out == f"{out / 'note.txt.md'}\n"
    assert second.err == "Read 1 of 2 documents. 1 was there already.\n"
    assert "Another note." in (out / "note.txt.md").read_text()
    assert (await run(folder, "--out", out)).err.endswith("2 were there already.\n")
    # Another manner, and a result that was removed, are work to be done.
    assert len((await run(folder, "--out", out, "--format", "txt")).out.splitlines()) == 2
    (out / "note.txt.txt").unlink()
    again = await run(folder, "--out", out, "--format", "txt")
    assert again.out == f"{out / 'note.txt.txt'}\n"


async def test_results_within_the_folder_are_no_documents(run: Run, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("One note.")
    for _ in range(2):
        await run(tmp_path, "--out", tmp_path / "out")
    found = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert found == [LEDGER, "note.txt.md"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["."], "Reading a folder needs --out"),
        ([".", "--out", "."], "--out must not be the folder"),
        (["a.pdf", "--tables", "csv"], "--tables needs --out"),
    ],
)
async def test_what_does_not_go_together_is_refused(arguments: list[str], words: str) -> None:
    ended = await carrel("ocr", *arguments, CARREL_URL="http://127.0.0.1:9")
    assert ended.code == 2
    assert words in ended.err


async def test_an_interrupted_document_leaves_the_pages_that_are_done(
    tmp_path: Path,
) -> None:
    path = digital_pdf(tmp_path / "rules.pdf", 9)
    asked = asyncio.Event()

    async def answer(request: Request) -> None:
        body = json.loads(request.body) if request.target == "/v1/ocr" else {}
        if body.get("pages") == [0]:
            page = {"index": 0, "markdown": "First.", "images": [], "dimensions": None}
            result = {"pages": [page], "model": "m", "usage_info": {"pages_processed": 1}}
            await request.write(reply(result))
        elif body:
            asked.set()
            await request.closed()
        elif request.method == "DELETE":
            await request.write(reply({"id": "f1", "deleted": True}))
        else:
            await request.write(reply(FILE))

    async with service(answer) as slow:
        command = await start("ocr", path, "--out", tmp_path / "out", CARREL_URL=slow.url)
        async with asyncio.timeout(60):
            await asked.wait()
            command.send_signal(signal.SIGINT)
            out, err = await command.communicate()
    assert command.returncode == 130
    assert out.decode() == f"{tmp_path / 'out' / 'rules.pdf.md'}\n"
    assert b"Stopped after 1 page." in err
    assert (tmp_path / "out" / "rules.pdf.md").read_text() == "First.\n"
    assert slow.requests[-1].method == "DELETE", "the upload is removed"


async def test_an_interrupted_folder_keeps_what_is_done(
    server: RunningServer, run: Run, tmp_path: Path
) -> None:
    folder, out = tmp_path / "documents", tmp_path / "out"
    folder.mkdir()
    (folder / "a.txt").write_text("One note.")
    scanned_pdf(folder / "b.pdf", 3, dpi=100)
    environ = {"CARREL_URL": server.url, "CARREL_API_KEY": server.api_key}
    command = await start("ocr", folder, "--out", out, **environ)
    assert command.stdout and command.stderr
    assert await asyncio.wait_for(command.stdout.readline(), 60)
    command.send_signal(signal.SIGINT)
    _, err = await asyncio.wait_for(command.communicate(), 60)
    assert command.returncode == 130
    assert b"Stopped: 1 of 2 documents are done." in err
    assert [path.name for path in out.iterdir() if path.name[0] != "."] == ["a.txt.md"]
    ended = await run(folder, "--out", out)
    assert (ended.code, ended.out) == (0, f"{out / 'b.pdf.md'}\n")
