"""The headless commands start without the faces and the server, and fast."""

import subprocess
import sys

import pytest

HEAVY = ("textual", "ipywidgets", "anywidget", "carrel.server", "carrel.tui", "carrel.notebook")
SLOW = ("httpx", "carrel.wire", "rich", "PIL")

SCRIPT = """
import sys
from carrel.cli.main import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    code = end.code
loaded = [name for name in sys.argv[1].split() if name in sys.modules]
print("LOADED", *loaded)
sys.exit(code)
"""


def loaded(forbidden: tuple[str, ...], *arguments: str) -> list[str]:
    """Which of the forbidden modules a command has imported when it ends."""
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, " ".join(forbidden), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )
    return ended.stdout.rpartition("LOADED")[2].split()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        *(
            [noun, "--help"]
            for noun in ("files", "ocr", "libraries", "agents", "chat", "profiles", "serve")
        ),
        ["profiles", "list"],
    ],
)
def test_what_only_talks_imports_neither_a_face_nor_what_is_slow(arguments: list[str]) -> None:
    assert loaded(HEAVY + SLOW, *arguments) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["files", "list"],
        ["files", "upload", "gone.pdf"],
        ["ocr", "gone.pdf"],
        ["libraries", "list"],
        ["agents", "list"],
        ["chat", "agent", "question"],
    ],
)
def test_what_talks_to_a_service_imports_no_face_no_server_and_no_other_command(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_URL", "http://127.0.0.1:1")
    assert loaded((*HEAVY, "rich"), *arguments) == []
