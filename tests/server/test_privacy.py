"""Nothing leaves the machine, and nothing is left on it: the system calls of a server at work."""

import re
from ipaddress import ip_address
from pathlib import Path

import pytest

from support import requires, storage
from support.completions import Answers
from support.documents import digital_pdf, docx, picture
from support.libraries import connect, new_library
from support.process import RunningServer, serve

_DOMAIN_NAMES = 53
_SENDS = "connect,sendto,sendmsg,sendmmsg"
_WRITES = "open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,symlink"
_ADDRESS = re.compile(r'sin6?_port=htons\((\d+)\).*?"([0-9a-f.:]+)"')
_READING = re.compile(r"open(?:at)?\((?!.*(?:O_CREAT|O_WRONLY|O_RDWR))")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server has its home, its data and its temporary files."""
    return tmp_path_factory.mktemp("watched")


@pytest.fixture(scope="module")
def calls(folder: Path) -> list[str]:
    """How a server and its children, reading, searching and answering, call the system."""
    trace = folder / "calls"
    # A file for each process: in one for all, calls that take a while come in two parts.
    strace = [requires.strace(), "-D", "-ff", "-qq", "-s", "4096", "-o", str(trace)]
    strace += ["--seccomp-bpf", "-f", "-e", f"trace={_SENDS},{_WRITES}", "-e", "signal=none"]
    for name in ("home", "temporary"):
        (folder / name).mkdir()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HOME", str(folder / "home"))
        environment.setenv("TMPDIR", str(folder / "temporary"))
        for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
            environment.delenv(f"XDG_{kind}_HOME", raising=False)
        with serve(folder / "data", under=strace) as server:
            _read_search_and_answer(server, folder)
    traces = folder.glob("calls.*")
    return [call for one in traces for call in one.read_text("utf-8", "replace").splitlines()]


def _read_search_and_answer(server: RunningServer, folder: Path) -> None:
    scan = picture(folder / "scan.png")
    with connect(server) as http:
        library = new_library(http)
        for document in (scan, docx(folder / "rules.docx"), digital_pdf(folder / "rules.pdf")):
            library.processed(document.name, document.read_bytes())
        assert library.marked("carrel")
        file = http.post("/v1/files", files={"file": ("scan.png", scan.read_bytes())}).json()
        request = {"model": "mistral-ocr-latest", "document": {"file_id": file["id"]}}
        assert "carrel" in http.post("/v1/ocr", json=request).json()["pages"][0]["markdown"]
        tools = [{"type": "document_library", "library_ids": [library.id]}]
        agent = {"model": "smollm2", "name": "Librarian", "tools": tools}
        id = http.post("/v1/agents", json=agent).json()["id"]
        assert Answers(http, "/v1/agents/completions", agent_id=id).ask("What has a carrel?")


def test_no_name_is_looked_up_and_no_other_machine_called(calls: list[str]) -> None:
    sent = [found for call in calls if (found := _ADDRESS.search(call))]
    assert sent, "the model's own process is called at least"
    strangers = [
        found.string
        for found in sent
        if int(found[1]) == _DOMAIN_NAMES or not ip_address(found[2]).is_loopback
    ]
    assert strangers == []


def test_no_file_is_written_outside_the_data_folder(calls: list[str], folder: Path) -> None:
    own = tuple(f"{folder}/{name}" for name in ("data/", "data.ready", ".saving-"))
    written = [
        (Path.cwd() / path).as_posix()
        for call in calls
        if not re.match(_SENDS.replace(",", "|"), call)
        and not _READING.match(call)
        and " = -1 " not in call
        and "__pycache__" not in call
        for path in re.findall(r'"([^"]*)"', call)[-1:]
    ]
    assert storage.SHARED or f"{folder}/data/carrel.db" in written
    strange = {path for path in written if not f"{path}/".startswith(own)}
    assert strange <= {"/dev/null"}
