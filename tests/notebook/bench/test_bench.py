"""The bench in plain code, against the real server."""

import asyncio
import functools
import gc
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from inspect import signature
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from pydantic import BaseModel, Field

import carrel
from carrel import samples
from carrel.notebook.bench.bench import Bench
from carrel.notebook.bench.inputs import Input, OneInput, as_outcomes, inputs
from carrel.notebook.cells import wait as calls
from carrel.notebook.cells.errors import BenchError
from carrel.store.agents.service import AgentsService
from carrel.store.chat.service import ChatService
from carrel.store.core.problem import Problem
from carrel.store.documents import reader
from carrel.store.documents import service as documents
from carrel.store.libraries.service import LibrariesService
from carrel.wire.files import File
from carrel.wire.generation.agents import AgentCreate
from carrel.wire.libraries import LibraryCreate
from support.panels import Wire
from support.process import RunningServer

EVIL = "invoice [final] \x1b]0;x\x07.txt"


@pytest.fixture
def bench(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("CARREL_URL", server.url)
    monkeypatch.setenv("CARREL_API_KEY", server.api_key)
    with carrel.connect() as bench:
        yield bench


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    """Two scanned pages."""
    page = Image.new("RGB", (1000, 500), "white")
    font = ImageFont.load_default(40)
    text = "The notice period is three months."
    ImageDraw.Draw(page).text((60, 60), text, fill="black", font=font)
    path = tmp_path / "lease.pdf"
    page.save(path, save_all=True, append_images=[page])
    return path


def test_importing_carrel_needs_no_widgets() -> None:
    code = "import sys, carrel; print(any(name in sys.modules for name in ('ipywidgets', 'httpx')))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"


def test_an_unknown_profile_is_an_error_in_words() -> None:
    with pytest.raises(BenchError, match="There is no profile “works”"):
        carrel.connect("works")


@pytest.mark.parametrize(
    "call",
    [
        lambda bench, path: bench.upload(path),
        lambda bench, path: bench.ocr(path),
        lambda bench, path: bench.library("contracts"),
        lambda bench, path: bench.create_library("contracts"),
        lambda bench, path: bench.agent("support"),
        lambda bench, path: bench.create_agent("support"),
        lambda bench, path: bench.ask("support", "How long?"),
        lambda bench, path: bench.sync("contracts", path.parent),
    ],
)
def test_a_call_to_a_service_that_nobody_reaches_ends_with_an_error(
    call: Callable[[Bench, Path], object], lease: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(calls, "UNREACHED", 1.0)
    with carrel.connect() as bench, pytest.raises(BenchError, match=r"server|does not answer"):
        call(bench, lease)


def test_a_call_waits_for_a_server_of_this_machine_that_is_back_soon(
    server: RunningServer,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ended = threading.Event()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, to = await asyncio.open_connection("127.0.0.1", server.port)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(1 << 16):
                sink.write(data)
            sink.close()

        await asyncio.gather(pump(reader, to), pump(there, writer))

    async def come_back() -> None:
        await asyncio.sleep(1.5)
        async with await asyncio.start_server(relay, "127.0.0.1", port):
            await asyncio.to_thread(ended.wait, 30)

    service = threading.Thread(target=lambda: asyncio.run(come_back()))
    with carrel.connect(url=f"http://127.0.0.1:{port}", api_key=server.api_key) as bench:
        service.start()
        assert bench.create_library("back").name == "back"
    ended.set()
    service.join()


def test_a_service_that_takes_calls_and_never_answers_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls, "UNREACHED", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with carrel.connect(url=url) as bench, pytest.raises(BenchError, match="does not answer"):
            bench.ask("support", "How long?")


def test_a_hosted_service_reads_no_more_pages_than_it_may(
    bench: Bench, lease: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = bench.upload(lease)
    monkeypatch.setattr(documents, "LARGE", 1)

    async def hosted() -> None:
        bench._store.session.slice.set(hosted=True)

    bench._store.loop.run(hosted()).result(10)
    with pytest.raises(BenchError, match=r"has 2 pages that are not read yet.*max_pages=2"):
        bench.ocr(file, max_pages=1)
    monkeypatch.setattr(reader, "HOSTED_MODEL", None)
    assert len(bench.ocr(file, max_pages=2).pages) == 2
    assert len(bench.ocr(file, max_pages=1).pages) == 2, "they are kept: nothing is billed"


def test_a_library_is_found_by_name_however_many_there_are(bench: Bench) -> None:
    first = bench.create_library("the first of many")
    for number in range(101):
        bench.client.libraries.create(LibraryCreate(name=f"library {number}"))
    added = bench.add("the first of many", bench.upload(__file__), wait=False)
    assert added.library_id == first.id


def test_a_panel_hears_of_others_when_it_is_refreshed(bench: Bench, lease: Path) -> None:
    files, libraries, agents = Wire(bench.files), Wire(bench.libraries), Wire(bench.agents)
    for wire in (files, libraries, agents):
        wire.ask("refresh")
    bench.client.files.upload(lease)
    bench.client.libraries.create(LibraryCreate(name="from elsewhere"))
    bench.client.agents.create(AgentCreate(name="somebody", model="smollm2"))
    for wire in (files, libraries, agents):
        assert wire.ask("refresh")["kind"] == "done"
    files.wait_state(lambda state: any(row["cells"][0] == "lease.pdf" for row in state["rows"]))
    libraries.wait_state(
        lambda state: any(one["name"] == "from elsewhere" for one in state["libraries"])
    )
    agents.wait_state(lambda state: any(one["name"] == "somebody" for one in state["agents"]))


def test_the_key_is_in_no_words_of_the_bench(bench: Bench, server: RunningServer) -> None:
    bench.client.files.list()
    shown = repr(bench) + repr(bench.client) + repr(bench.files) + str(bench._repr_mimebundle_())
    assert "environment" in shown
    assert server.api_key not in shown


def test_a_file_is_uploaded_and_shown(bench: Bench, lease: Path) -> None:
    wire = Wire(bench.files)
    file = bench.upload(lease)
    assert file.filename == "lease.pdf"
    wire.wait_state(lambda state: any(row["id"] == file.id for row in state["rows"]))
    assert file.id in {each.id for each in bench.client.files.list().data}


@pytest.mark.parametrize(
    "call",
    [
        lambda bench, key: carrel.connect(key),
        lambda bench, key: carrel.connect(url=key, api_key="https://api.example.com"),
        lambda bench, key: bench.upload(key),
        lambda bench, key: bench.ask(key, "Hello!"),
        lambda bench, key: bench.ask("support", key),
        lambda bench, key: bench.library(key),
        lambda bench, key: bench.create_library(key),
        lambda bench, key: bench.create_agent("helper", instructions=f"Say {key}."),
    ],
)
def test_a_key_in_the_wrong_place_goes_nowhere(
    bench: Bench, server: RunningServer, call: Callable[[Bench, str], object]
) -> None:
    with pytest.raises(BenchError) as error:
        call(bench, server.api_key)
    shown = "\n".join(error.value._render_traceback_())
    assert server.api_key not in f"{shown} {error.value!r}"


@pytest.mark.parametrize("panel", ["files", "libraries", "agents", "workbench"])
def test_with_a_refused_key_a_panel_is_shown_and_says_so(server: RunningServer, panel: str) -> None:
    with carrel.connect(url=server.url, api_key="another-key") as bench:
        shown = getattr(bench, panel)
        bundle = shown._repr_mimebundle_()
        assert bundle is not None and bundle[0]["text/html"]
        if panel != "workbench":
            assert shown.state["problem"]["title"] == "The key was refused"


def test_a_missing_path_is_an_error_in_words(bench: Bench) -> None:
    with pytest.raises(BenchError) as error:
        bench.upload("/nowhere/report.pdf")
    assert "/nowhere/report.pdf" in str(error.value)


def test_an_error_shows_the_user_s_own_frames_alone(bench: Bench) -> None:
    with pytest.raises(carrel.BenchError) as error:
        bench.upload("/nowhere/report.pdf")
    shown = "".join(error.value._render_traceback_())
    assert 'bench.upload("/nowhere/report.pdf")' in shown
    assert shown.count("File ") == 1
    assert shown.endswith(f"BenchError: {error.value}\n")


def test_a_service_is_reached_by_its_address(server: RunningServer) -> None:
    with carrel.connect(url=server.url, api_key=server.api_key) as bench:
        bench.create_library("by address")
        assert server.url.removeprefix("http://") in repr(bench)
        assert server.api_key not in repr(bench)


def test_an_address_stands_instead_of_a_profile() -> None:
    with pytest.raises(TypeError, match="not both"):
        carrel.connect("work", url="http://127.0.0.1:9")
    with pytest.raises(TypeError, match="api_key with url"):
        carrel.connect(api_key="sk-1")
    with pytest.raises(carrel.BenchError, match="is not an address"):
        carrel.connect(url="127.0.0.1")


def test_the_client_takes_the_fields_of_a_request_as_keywords(bench: Bench) -> None:
    made = bench.client.libraries.create(name="by keywords", description="one")
    assert bench.client.libraries.update(made.id, description="two").description == "two"
    assert [*signature(bench.client.libraries.update).parameters][:3] == [
        "library_id",
        "name",
        "description",
    ]
    with pytest.raises(TypeError, match="create has no field 'nam': did you mean name"):
        bench.client.libraries.create(nam="wrong")


def test_calls_name_their_keywords_for_completion(bench: Bench) -> None:
    for call in (bench.create_agent, bench.edit_agent, bench.agent):
        assert {"model", "instructions", "libraries"} <= signature(call).parameters.keys()
    assert "description" in signature(bench.client.libraries.create).parameters


def test_a_cell_that_makes_a_library_and_an_agent_can_run_again(bench: Bench) -> None:
    def cell(instructions: str) -> tuple[str, int]:
        bench.library("rerun", create=True)
        bench.agent("rerunner", create=True, instructions=instructions, libraries=["rerun"])
        (made,) = bench.client.agents.list(name="rerunner")
        return made.id, made.version

    first = cell("Be kind.")
    assert first[1] == 0
    assert cell("Be kind.") == first
    assert cell("Be brief.") == (first[0], 1)
    assert [one.name for one in bench.client.libraries.list(search="rerun").data] == ["rerun"]
    with pytest.raises(TypeError, match="takes instructions with create=True"):
        bench.agent("rerunner", instructions="Be brief.")


def test_a_document_is_read_page_by_page(bench: Bench, lease: Path) -> None:
    reading = bench.ocr(lease)
    assert [page.index for page in reading.pages] == [0, 1]
    assert "notice period" in reading.markdown
    assert "and 1 more page" in reading._repr_html_()
    assert repr(reading).startswith("<Reading of lease.pdf: 2 pages · ")
    assert reading._repr_html_().count('src="data:image/jpeg') == 2
    assert reading.pages[1].image.width > 400
    panel = reading.panel(height=300)
    assert panel.state["title"] == "lease.pdf · page 1 of 2"
    assert any("notice" in passage["html"] for passage in panel.state["passages"])
    boxes = panel.state["boxes"]
    assert boxes and all(0 <= edge <= 100 for box in boxes for edge in box["box"])
    wire = Wire(panel)
    wire.ask("step", by=1)
    wire.wait_state(lambda state: " 1 of " in state["block_words"])
    assert panel.selected == boxes[0]["block"]
    wire.ask("find", text="notice")
    wire.wait_state(lambda state: "chosen" in str(state["passages"]))
    again = bench.ocr(bench.client.files.get(panel.source.id)) if panel.source else None
    assert again is not None and again.pages == reading.pages, "kept, and not read again"


def test_a_document_is_taken_out_of_a_panel(bench: Bench, lease: Path) -> None:
    wire = Wire(bench.ocr(lease).panel())
    wire.ask("export", form="json")
    (sent,) = [buffers for buffers in wire.buffers if buffers]
    assert len(json.loads(sent[0])["pages"]) == 2
    refused = wire.ask("export", form="csv")
    assert refused["problem"]["title"] == "There are no tables"
    options = {"pages": "last", "tables": "text", "headers": False, "scores": "word"}
    refused = wire.ask("read_again", options=options)
    assert refused["problem"]["title"] == "Pages count from 1, like 1-3, 7"


def test_a_picture_travels_as_bytes_beside_the_state(bench: Bench, lease: Path) -> None:
    panel = bench.ocr(lease).panel()
    wire = Wire(panel)
    wire.ask("picture", page=1, width=200)
    sent = [buffers for buffers in wire.buffers if buffers]
    assert sent[0][0].startswith(b"\x89PNG")
    assert "PNG" not in str(panel.state)


def test_a_document_without_pictures_says_so_in_their_place_alone(
    bench: Bench, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("The rent is due on the third.")
    panel = bench.ocr(path).panel()
    answer = Wire(panel).ask("picture", page=0, width=200)
    assert answer["kind"] == "done"
    assert panel.state["no_picture"] == "There is no picture for this kind of file."
    assert panel.state["problem"] is None


def test_some_pages_are_read_under_another_name(bench: Bench, lease: Path) -> None:
    reading = bench.ocr(lease, pages=[2], title="second.pdf")
    assert (reading.name, [page.index for page in reading.pages]) == ("second.pdf", [1])
    with pytest.raises(BenchError, match="Pages count from 1, like 1-3, 7"):
        bench.ocr(lease, pages="last")


def test_bytes_and_ids_are_read_as_paths_are(bench: Bench, lease: Path) -> None:
    read = bench.ocr(lease.read_bytes(), pages=1)
    assert read.name == "document" and "notice period" in read.markdown
    file = bench.upload(lease)
    assert bench.ocr(file.id, pages=1).pages == bench.ocr(file, pages=1).pages


def test_a_schema_is_answered_as_an_annotation(bench: Bench, lease: Path) -> None:
    class Lease(BaseModel):
        months: str = Field(max_length=20)

    reading = bench.ocr(lease, pages=1, schema=Lease)
    assert isinstance(Lease.model_validate(reading.annotation), Lease)
    assert "months" in reading._repr_html_()


def test_the_same_bytes_are_uploaded_once(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "once.txt"
    path.write_text("The rent is due on the third.")
    first = bench.upload(path)
    assert bench.upload(path).id == first.id
    assert bench.upload(path, title="twice.txt").id != first.id
    path.write_text("The rent is due on the fourth.")
    second = bench.upload(path)
    assert second.id != first.id
    bench.client.files.delete(second.id)
    assert bench.upload(path).id not in (first.id, second.id)


def test_an_address_is_read_and_never_repeated_in_an_error(bench: Bench, lease: Path) -> None:
    handler = functools.partial(SimpleHTTPRequestHandler, directory=lease.parent)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        serving = threading.Thread(target=web.serve_forever)
        serving.start()
        address = f"http://127.0.0.1:{web.server_port}"
        file = bench.upload(f"{address}/lease.pdf?token=secret")
        with pytest.raises(BenchError, match="It answered 404") as error:
            bench.upload(f"{address}/none.pdf?token=secret")
        web.shutdown()
        serving.join()
    assert (file.filename, file.bytes) == ("lease.pdf", lease.stat().st_size)
    assert "secret" not in str(error.value)


def test_what_cannot_be_read_is_an_error_in_words(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7 and then nothing")
    with pytest.raises(BenchError) as error:
        bench.ocr(path)
    assert "Traceback" not in str(error.value)


def test_a_document_is_ready_when_it_is_added(bench: Bench, lease: Path) -> None:
    library = bench.create_library("contracts")
    panel = bench.library(library)
    wire = Wire(panel)
    document = bench.add(library, lease)
    found = bench.search("notice period", library)
    assert [(hit.name, hit.page) for hit in found.hits[:1]] == [("lease.pdf", 0)]
    assert "<mark>notice</mark>" in found._repr_html_()
    assert "lease.pdf p. 1: " in repr(found)
    # Beside its words stands its page, with a frame around the passage.
    assert found._repr_html_().count('<img src="data:image/jpeg;base64,') == len(found.sources)
    assert found.sources[0].page_number == 1
    answer = wire.ask("look_for", query="notice period")
    groups = {group["title"].split(" · ")[0]: group for group in answer["result"]["groups"]}
    assert groups["contracts"]["hits"][0]["place"] == "lease.pdf p. 1"
    assert answer["result"]["said"].startswith("Looked through ")
    opened = wire.ask("open_found", query="notice period", number=0)
    assert opened["result"] == "Document"
    source = bench._store.documents.slice.value.source
    assert source is not None and source.name == "lease.pdf"
    assert wire.ask("open_found", query="rent", number=0)["kind"] == "error"
    assert document.process_status == "done"
    state = wire.wait_state(
        lambda state: state["rows"] and state["rows"][0]["cells"][1]["text"] == "● Ready"
    )
    assert state["single"]
    wire.ask("search", text="notice period")
    state = wire.wait_state(lambda state: state["hits"])
    assert "«notice»" in state["hits"][0]["passage"].lower()


def test_a_file_of_the_service_is_added_too(bench: Bench, lease: Path) -> None:
    library = bench.create_library("from files")
    file = bench.upload(lease)
    assert bench.add(library, file, wait=False).name == "lease.pdf"


def test_a_folder_is_synced_and_ready_to_be_searched(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "contracts"
    folder.mkdir()
    (folder / "lease.txt").write_text("The notice period is three months.")
    (folder / "rent.txt").write_text("The rent is due on the third day of a month.")
    library = bench.create_library("from a folder")
    synced = bench.sync(library, folder, exclude=["rent*"])
    assert repr(synced) == "<Sync of contracts: 1 uploaded>"
    assert "1 uploaded" in synced._repr_html_()
    (document,) = bench.client.documents.list(library.id).data
    assert (document.name, document.process_status) == ("lease.txt", "done")
    (folder / "lease.txt").rename(folder / "2024.txt")
    assert bench.sync(library, folder).summary.renamed == 1
    with pytest.raises(BenchError, match="nowhere"):
        bench.sync(library, tmp_path / "nowhere")


def test_panels_of_two_libraries_do_not_disturb_each_other(bench: Bench) -> None:
    first, second = bench.create_library("first"), bench.create_library("second")
    wires = [Wire(bench.library(each)) for each in (first, second)]
    titles = [
        wire.wait_state(lambda state: not state["loading"] and "document" in state["title"])
        for wire in wires
    ]
    assert [state["title"] for state in titles] == ["first · 0 documents", "second · 0 documents"]


def test_a_name_that_is_not_there_names_those_that_are(bench: Bench) -> None:
    bench.create_library("handbook")
    with pytest.raises(BenchError, match=r"There is no library “handbok”.*“handbook”"):
        bench.library("handbok")


def test_a_list_of_names_says_what_is_near_and_how_much_it_leaves_out(bench: Bench) -> None:
    for number in range(11):
        bench.create_library(f"listed {number}")
    with pytest.raises(BenchError, match=r"Did you mean “listed 3”\? Available: .* and \d+ more\."):
        bench.library("listd 3")


def test_a_cell_that_adds_and_makes_runs_twice(bench: Bench, lease: Path) -> None:
    for _ in range(2):
        document = bench.add("twice", lease, create=True)
        agent = bench.agent("twice", create=True, libraries=["twice"], max_tokens=8)
    assert len([one for one in bench.client.libraries.every() if one.name == "twice"]) == 1
    assert len(bench.client.documents.list(document.library_id).data) == 1
    assert bench.agent("twice").state["title"] == agent.state["title"]


def test_documents_are_paths_patterns_files_bytes_pictures_and_lists(
    bench: Bench, lease: Path, tmp_path: Path
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"The rent is due on {name}.")
    readings = bench.ocr(str(tmp_path / "*.txt"))
    assert [one.name for one in readings] == ["a.txt", "b.txt"]
    with lease.open("rb") as file:
        picture = Image.new("RGB", (400, 200), "white")
        given: list[OneInput] = [tmp_path / "a.txt", file, b"The deposit is one rent.", picture]
        added = bench.add("forms", given, create=True)
    names = ["a.txt", "lease.pdf", "document", "picture.png"]
    assert [one.name for one in added] == names
    assert bench.upload(lease.read_bytes(), title="named.pdf").filename == "named.pdf"


def test_a_list_gives_back_those_that_worked_and_says_which_failed(
    bench: Bench, tmp_path: Path
) -> None:
    good, damaged, missing = tmp_path / "a.txt", tmp_path / "b.pdf", tmp_path / "c.txt"
    good.write_text("The rent is due.")
    damaged.write_bytes(b"%PDF-1.7 damaged")
    with pytest.warns(
        UserWarning, match=r"(?s)2 of 3 documents failed:.*b\.pdf: .*c\.txt: "
    ) as told:
        added = bench.add("half", [good, damaged, missing], create=True)
    assert told[0].filename == __file__, "the warning points at the cell"
    assert [one.name for one in added] == ["a.txt"]
    with pytest.warns(UserWarning, match=r"1 of 2 documents failed:\n.*b\.pdf: "):
        readings = bench.ocr([damaged, good])
    assert [one.name for one in readings] == ["a.txt"]
    with pytest.warns(UserWarning, match=r"1 of 2 documents failed:\n.*c\.txt: "):
        files = bench.upload([missing, good])
    assert [one.filename for one in files] == ["a.txt"]
    with pytest.raises(BenchError, match=r"(?s)2 of 2 documents failed.*b\.pdf: .*c\.txt: "):
        bench.ocr([damaged, missing])


def test_a_lost_service_stops_a_list_and_the_error_has_the_results_so_far(
    bench: Bench, tmp_path: Path
) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("The rent is due.")
    session = bench._store.session.slice

    def lose_after_one(one: Input) -> str:
        if one.content == paths[0]:
            return "done"
        session.set(connection="lost")
        raise BenchError(Problem("The service does not answer", ""))

    with pytest.raises(BenchError, match="does not answer") as raised:
        as_outcomes(inputs("bench.ocr", paths)).then(bench._store, lose_after_one)
    assert raised.value.partial == ["done"]


def test_a_panel_sends_once_what_the_bench_sent(bench: Bench, lease: Path) -> None:
    known = bench.upload(lease)
    wire, content = Wire(bench.files), lease.read_bytes()

    def upload(data: bytes, key: str) -> None:
        offer = {"view": "v", "key": key, "name": "lease.pdf", "size": len(data)}
        wire.ask("upload", files=[offer])

        answered, deadline = 0, time.monotonic() + 30
        while not any(one == {"kind": "forget", "key": key, "to": "v"} for one in wire.contents):
            assert time.monotonic() < deadline
            asked = [one for one in wire.contents if (one["kind"], one.get("key")) == ("read", key)]
            for message in asked[answered:]:
                chunk = {"kind": "chunk", "key": key, "offset": message["offset"]}
                wire.send(chunk, [data])
            answered = len(asked)
            time.sleep(0.02)

    def there() -> set[str]:
        return {file.id for file in bench.client.files.list(search="lease.pdf").data}

    before = there()
    assert known.id in before
    wire.send({"kind": "hello", "view": "v", "rid": "h"})
    upload(content, "same")
    assert there() == before
    upload(content[:-1] + b"x", "other")
    assert len(there() - before) == 1


def test_what_is_no_document_is_one_line_about_the_argument(bench: Bench, lease: Path) -> None:
    with pytest.raises(BenchError, match=r"bench.ocr cannot take a value of type dict.*a path"):
        bench.ocr({"file": 1})  # type: ignore[arg-type]
    with lease.open() as text, pytest.raises(BenchError, match='Open it with "rb"'):
        bench.add("forms", text, create=True)  # type: ignore[arg-type]
    with pytest.raises(BenchError, match="No file matches"):
        bench.upload(str(lease.parent / "*.docx"))
    with pytest.raises(TypeError, match="one document"):
        bench.upload([lease], title="two")


def test_libraries_are_searched_from_code(bench: Bench, tmp_path: Path) -> None:
    for name, text in (("rent", "The rent is 900 euros."), ("pets", "Cats are allowed.")):
        path = tmp_path / f"{name}.txt"
        path.write_text(text)
        bench.add(f"of {name}", path, create=True)
    found = bench.search("Are cats allowed?", ["of rent", "of pets"])
    assert (found[0].name, found[0].group) == ("pets.txt", "of pets")
    assert "Looked through 2 libraries." in repr(found)
    alone = bench.search("The rent is 900 euros", "of rent")
    assert [hit.group for hit in alone] == ["of rent"]


def test_what_is_deleted_comes_back(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "deleted.txt"
    path.write_text("The rent is 900 euros.")
    document = bench.add("kept for a while", path, create=True)
    bench.upload(path)
    agent = bench.create_agent("deleted")
    gone = [
        bench.delete("deleted.txt", library="kept for a while"),
        bench.delete("deleted.txt"),
        bench.delete(agent),
    ]
    assert [one.kind for one in gone] == ["document", "file", "agent"]
    assert bench.client.documents.list(document.library_id).data == []
    for one in gone:
        one.undo()
    assert bench.client.documents.list(document.library_id).data[0].id == document.id
    assert bench.client.agents.get(agent.id).name == "deleted"
    with pytest.raises(BenchError, match=r"no file, library or agent .*Did you mean “deleted.txt”"):
        bench.delete("deletd.txt")
    with pytest.raises(BenchError, match=r"no document “deletd.txt”.*Did you mean “deleted.txt”"):
        bench.delete("deletd.txt", library="kept for a while")
    with pytest.raises(BenchError, match="cannot take a value of type int"):
        bench.delete(3)  # type: ignore[arg-type]


def test_how_an_agent_calls_and_answers_is_set_where_it_is_made(bench: Bench) -> None:
    class Place(BaseModel):
        city: str

    made = bench.create_agent("formed", response_format=Place, tool_choice="none")
    arguments = made.completion_args
    assert arguments["tool_choice"] == "none"
    assert arguments["response_format"]["json_schema"]["name"] == "Place"
    edited = bench.edit_agent(made, response_format="json_object")
    assert edited.completion_args["response_format"]["type"] == "json_object"
    with pytest.raises(BenchError, match="no response_format"):
        bench.edit_agent(made, response_format="xml")


def test_a_model_that_is_not_listed_and_an_empty_question_are_not_sent(bench: Bench) -> None:
    with pytest.raises(BenchError, match=r"lists no model “smolm2”. Did you mean “smollm2”\?"):
        bench.create_agent("nobody", model="smolm2")
    with pytest.raises(BenchError, match="The question is empty"):
        bench.ask("nobody", "  \n")


async def test_calls_are_awaited_while_the_loop_goes_on(bench: Bench, lease: Path) -> None:
    reading, file = await asyncio.gather(bench.aio.ocr(lease), bench.aio.upload(__file__))
    assert (len(reading.pages), file.filename) == (2, Path(__file__).name)
    with pytest.raises(AttributeError, match="did you mean ask"):
        _ = bench.aio.asks
    waiting = asyncio.create_task(bench.aio.ocr(lease, images=True))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


def test_a_name_that_two_have_asks_for_the_id(bench: Bench) -> None:
    first = bench.create_library("twins")
    with pytest.warns(UserWarning, match=f"More than one library.*{first.id}") as told:
        twins = [first, bench.create_library("twins")]
    assert told[0].filename == __file__, "the warning points at the cell"
    with pytest.raises(BenchError, match="More than one library is named “twins”"):
        bench.library("twins")
    assert bench.library(twins[0].id).state["single"]


def test_an_edit_makes_the_next_version_and_keeps_the_rest(bench: Bench) -> None:
    library = bench.create_library("sources")
    made = bench.create_agent(
        "support", model="smollm2", instructions="Be kind.", temperature=0.3, libraries=[library]
    )
    edited = bench.edit_agent(made, instructions="Be brief.")
    assert (made.version, edited.version) == (0, 1)
    assert edited.instructions == "Be brief."
    assert edited.completion_args["temperature"] == 0.3
    assert edited.tools[0]["library_ids"] == [library.id]
    wire = Wire(bench.agent(made.id))
    state = wire.wait_state(lambda state: len(state["versions"]) == 2)
    assert [row["cells"][0] for row in state["versions"]] == ["v1", "v0"]
    for version in (0, 1):
        wire.ask("mark", version=version)
    state = wire.wait_state(lambda state: state["diff"]["rows"])
    assert state["diff"]["title"] == "v0 → v1 · 1 change"
    found = wire.ask("preview", agent=made.id, version=0)["result"]
    assert found["title"] == "Make v0 of support active?"
    assert [row["field"] for row in found["rows"]] == ["instructions"]
    wire.ask("make_active", agent=made.id, version=0)
    assert bench.client.agents.get(made.id).version == 0
    found = wire.ask("preview_back", agent=made.id)["result"]
    assert (found["title"], found["version"]) == ("Roll support back to v1?", 1)
    wire.ask("roll_back", agent=made.id, version=1)
    assert bench.client.agents.get(made.id).version == 1
    wire.ask("alias", agent=made.id, alias="prod", version=0)
    assert wire.wait_state(lambda state: state["aliases"])["aliases"][0]["version"] == "v0"
    wire.ask("alias", agent=made.id, alias="prod", version=None)
    assert bench.client.agents.aliases(made.id) == []


def test_a_draft_is_typed_looked_at_tried_and_saved(bench: Bench) -> None:
    made = bench.create_agent("drafted", model="smollm2", instructions="Be kind.", temperature=0.2)
    panel = bench.agent(made.id)
    wire = Wire(panel)
    wire.wait_state(lambda state: state["versions"])
    begun = wire.ask("begin", start="edit", agent=made.id)["result"]
    fields = {**begun["fields"], "instructions": "Be brief.", "message": "shorter"}
    wire.ask("keep", draft=begun["draft"], fields=fields)
    state = wire.wait_state(lambda state: state["draft"]["rows"])
    assert state["versions"][0]["cells"][1:] == [
        {"text": "✎ unsaved", "role": "busy"}, "now", "unsaved, from v0 · shorter"
    ]  # fmt: skip
    assert panel.draft is not None and panel.draft.fields["instructions"] == "Be brief."
    # Another panel, as after a restart, goes on with it.
    other_panel = bench.agent(made.id)
    other = Wire(other_panel)
    other.wait_state(lambda state: state["draft"]["rows"])
    begun = other.ask("begin", start="edit", agent=made.id)["result"]
    assert begun["fields"]["instructions"] == "Be brief."
    found = other.ask("review", draft=made.id)["result"]
    assert (found["title"], found["verb"]) == ("Save this as drafted v1?", "Save as v1")
    assert other.ask("try", draft=made.id)["kind"] == "done"
    trial = other.wait_state(lambda state: state["trial"])["trial"]
    assert trial["title"] == "Draft of drafted beside its active version"
    compared = other_panel.trial
    assert compared is not None
    assert [chat.state["title"] for chat in compared.chats] == ["drafted v0", "drafted draft"]
    other.ask("save", draft=made.id)
    saved = bench.client.agents.get(made.id)
    assert (saved.version, saved.instructions, saved.version_message) == (1, "Be brief.", "shorter")
    assert saved.completion_args["temperature"] == 0.2
    other.wait_state(lambda state: state["draft"]["title"] == "" and state["trial"] is None)
    assert [panel.comm for panel in (compared, *compared.chats)] == [None] * 3
    wire.wait_state(lambda state: len(state["versions"]) == 2 and not state["draft"]["rows"])
    assert wire.ask("review", draft="gone")["problem"]["title"] == "This draft is gone"


def test_the_draft_of_a_new_agent_is_tried_alone(bench: Bench) -> None:
    wire = Wire(bench.agents)
    begun = wire.ask("begin", start="blank")["result"]
    refused = wire.ask("try", draft=begun["draft"], fields=begun["fields"])
    assert refused["kind"] == "error"
    fields = {**begun["fields"], "name": "newcomer", "model": "smollm2"}
    wire.ask("try", draft=begun["draft"], fields=fields)
    trial = wire.wait_state(lambda state: state["trial"])["trial"]
    assert trial["title"] == "Draft of newcomer"
    chats = bench.agents.trial.chats if bench.agents.trial else ()
    assert [chat.state["title"] for chat in chats] == ["newcomer draft"]
    wire.ask("end_trial")
    assert bench.agents.trial is None


def test_a_new_agent_begins_like_a_starting_point(bench: Bench) -> None:
    wire = Wire(bench.agents)
    blank = wire.ask("begin", start="blank")["result"]
    assert [one["name"] for one in blank["starters"]][:2] == ["contracts", "invoices"]
    begun = wire.ask("begin", start="starter minutes")["result"]
    assert begun["fields"]["name"] == "minutes"
    assert begun["fields"]["model"] == blank["fields"]["model"]
    assert "Decisions" in begun["fields"]["instructions"]


def test_an_agent_is_duplicated(bench: Bench) -> None:
    made = bench.create_agent("twin", model="smollm2", instructions="Be kind.")
    wire = Wire(bench.agent(made.id))
    wire.wait_state(lambda state: state["versions"])
    begun = wire.ask("begin", start="copy", agent=made.id, version=0)["result"]
    assert begun["fields"]["name"] == "twin copy"
    unlisted = {**begun["fields"], "model": "m"}
    found = wire.ask("review", draft=begun["draft"], fields=unlisted)["result"]
    assert found["title"] == "Create twin copy anyway?"
    assert found["doubt"] == (
        "This service lists no model “m”: it may not answer. Available: smollm2"
    )
    assert wire.ask("review", draft=begun["draft"], fields=begun["fields"])["result"]["title"] == ""
    wire.ask("save", draft=begun["draft"])
    assert "twin copy" in {agent.name for agent in bench.client.agents.list(page_size=100)}


def test_an_edit_that_changes_nothing_makes_no_version(bench: Bench) -> None:
    made = bench.create_agent("same", model="smollm2", instructions="Be kind.")
    with pytest.raises(BenchError, match="Nothing changed"):
        bench.edit_agent(made, instructions="Be kind.")


def test_an_unknown_option_of_an_agent_s_panel_names_the_right_one(bench: Bench) -> None:
    made = bench.create_agent("options", model="smollm2")
    with pytest.raises(TypeError, match="did you mean height"):
        bench.agent(made.id, heigth=300)  # type: ignore[call-arg]


def test_an_unknown_field_names_the_right_one(bench: Bench) -> None:
    with pytest.raises(TypeError, match="did you mean instructions"):
        bench.create_agent("x", instruction="Be kind.")  # type: ignore[call-arg]


def test_an_unknown_argument_of_a_call_names_the_right_one(bench: Bench) -> None:
    with pytest.raises(
        TypeError, match=r"bench.ask has no option 'versions': did you mean version"
    ):
        bench.ask("support", "Hello!", versions=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="did you mean versions"):
        bench.chat("support", version=1)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="did you mean heigh"):
        bench.library("contracts", heigth=300)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="with an agent"):
        bench.chat(versions=[0])  # type: ignore[call-overload]


def test_wrong_arguments_name_those_of_the_call_and_show_the_user_s_own_frames(
    bench: Bench,
) -> None:
    with pytest.raises(TypeError) as error:
        bench.add("contracts", "a.pdf", "b.pdf")  # type: ignore[call-arg]
    takes = "bench.add(library, document, *, title, create, wait, timeout)"
    assert str(error.value) == f"{takes}: too many positional arguments"
    shown = "".join(error.value._render_traceback_())  # type: ignore[attr-defined]
    assert 'bench.add("contracts", "a.pdf", "b.pdf")' in shown
    assert shown.count("File ") == 1


def test_a_panel_that_is_there_takes_another_height(bench: Bench) -> None:
    assert bench.chat(height=300) is bench.chat()
    assert bench.chat().height == 300
    bench.files.height = 200
    assert bench.files.height == 200


def test_what_cannot_be_is_an_error_in_words(bench: Bench) -> None:
    with pytest.raises(BenchError, match="temperature: Input should be less than or equal to 1"):
        bench.create_agent("hot", model="smollm2", temperature=3)
    with pytest.raises(BenchError, match="A library needs a name"):
        bench.create_library(" ")
    with pytest.raises(TypeError, match="needs a name"):
        bench.tool(lambda city: "sunny")


def test_a_call_that_takes_too_long_is_stopped(bench: Bench, lease: Path) -> None:
    with pytest.raises(BenchError, match=r"stopped after 0\.01 seconds"):
        bench.ocr(lease, timeout=0.01)


def test_a_hostile_name_is_harmless_everywhere(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / EVIL
    path.write_text("The notice period is three months.")
    library = bench.create_library(f"library {EVIL}")
    file = bench.upload(path)
    bench.add(library, path, wait=False)
    wires = [Wire(panel) for panel in (bench.files, bench.library(library), bench.activity)]
    for wire in wires:
        wire.wait_state(lambda state: any("invoice [final]" in str(row) for row in state["rows"]))
    for wire in wires:
        assert not any(mark in str(wire.states) for mark in ("\\x1b", "\\x07"))
    assert not any(row["saves"] for row in wires[-1].states[-1]["rows"])
    assert isinstance(file, File)


def test_the_synchronous_client_works_without_a_loop(bench: Bench, lease: Path) -> None:
    file = bench.client.files.upload(lease)
    assert file.id in {each.id for each in bench.client.files.every()}
    with bench.client.files.content(file.id) as chunks:
        assert b"".join(chunks) == lease.read_bytes()
    assert bench.client.files.delete(file.id).deleted


async def test_the_synchronous_client_works_inside_a_running_loop(bench: Bench) -> None:
    made = bench.client.libraries.list()
    async with bench.client.aio as client:
        assert (await client.libraries.list()) == made


def test_the_client_names_what_it_has(bench: Bench) -> None:
    with pytest.raises(AttributeError, match="files, agents"):
        _ = bench.client.file
    with pytest.raises(AttributeError, match=r"client.files has content, delete"):
        _ = bench.client.files.lst
    assert repr(bench.client.files) == "<client.files>"
    assert "upload" in dir(bench.client.files)
    assert "libraries" in dir(bench.client)


def test_a_closed_bench_leaves_no_thread_and_no_panel(bench: Bench) -> None:
    panels = [bench.files, bench.library(bench.create_library("closed"))]
    assert "carrel-store" in {thread.name for thread in threading.enumerate()}
    bench.close()
    assert "carrel-store" not in {thread.name for thread in threading.enumerate()}
    assert [panel.comm for panel in panels] == [None, None]
    assert repr(bench) == "<Bench, closed>"
    for call in (lambda: bench.client.files, lambda: bench.ask("support", "Hello!")):
        with pytest.raises(BenchError, match="The bench is closed"):
            call()


def test_the_sample_answers_from_its_document(bench: Bench) -> None:
    answer = bench.sample()
    assert answer.sources[0].document_name == samples.NAME
    assert samples.NAME in [file.filename for file in bench.client.files.list().data]


def test_a_closed_panel_takes_its_service_along(bench: Bench) -> None:
    library = bench.create_library("left")
    agent = bench.create_agent("leaver", model="smollm2")

    def services() -> int:
        gc.collect()
        kinds = (LibrariesService, AgentsService, ChatService)
        return sum(isinstance(one, kinds) for one in gc.get_objects())

    before = services()
    for panel in (bench.library(library), bench.agent(agent), bench.chat(agent)):
        panel.close()
    del panel
    deadline = time.monotonic() + 30
    while services() > before and time.monotonic() < deadline:
        bench._store.loop.run(asyncio.sleep(0.05)).result(10)
    assert services() == before
