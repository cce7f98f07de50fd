"""Every command and every Python block of the docs and the README runs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.documents import digital_pdf, picture
from support.organisation import new_organisation
from support.process import RunningServer

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = "The notice period is three months to the end of a quarter."
SCHEMA = {
    "type": "object",
    "properties": {"notice_period": {"type": "string", "maxLength": 40}},
    "required": ["notice_period"],
}

pytestmark = pytest.mark.timeout(400)


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a language, in their order."""
    fence = rf"^```{language}\n(.*?)^```$"
    return re.findall(fence, page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """The lines that a reader types: those after a `$` in console blocks."""
    lines = "\n".join(blocks(page, "console")).splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the documents that the examples name, and `carrel` on the path."""
    desk = tmp_path / "desk"
    for folder in ("scans", "contracts/2024"):
        (desk / folder).mkdir(parents=True)
    digital_pdf(desk / "lease.pdf", pages=1, text=TEXT)
    digital_pdf(desk / "contracts" / "2024" / "lease.pdf", pages=1, text=TEXT)
    picture(desk / "scans" / "letter.png", text=TEXT)
    (desk / "lease.schema.json").write_text(json.dumps(SCHEMA))
    return desk


@pytest.fixture
def service(common_server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server with nothing stored, which the examples find."""
    server = new_organisation(common_server)
    monkeypatch.setenv("CARREL_URL", server.url)
    monkeypatch.setenv("CARREL_API_KEY", server.api_key)


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name_of)
def test_every_command_of_a_page_works(
    page: Path, desk: Path, service: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for command in commands(page):
        ended = subprocess.run(
            command, shell=True, cwd=desk, capture_output=True, text=True, timeout=120
        )
        assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name_of)
def test_every_python_block_of_a_page_works(page: Path, desk: Path, service: None) -> None:
    script = "\n".join(blocks(page, "python"))
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=desk, capture_output=True, text=True, timeout=200
    )
    assert ended.returncode == 0, ended.stderr
