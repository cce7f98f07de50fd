"""Chat through the command `llm`, with the settings of the docs."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.drivers.operation import KEY, URL, operation

_FOLDER = Path(tempfile.mkdtemp())
_PAGE = Path(__file__).parents[3] / "docs" / "clients.md"
_settings = _PAGE.read_text("utf-8").split("```yaml\n")[1].split("```")[0]
(_FOLDER / "extra-openai-models.yaml").write_text(
    _settings.replace("http://127.0.0.1:8080", URL), "utf-8"
)


def llm(*arguments: str) -> str:
    """What the command prints."""
    environ = {**os.environ, "LLM_USER_PATH": str(_FOLDER)}
    command = [str(Path(sys.executable).with_name("llm")), *arguments]
    return subprocess.run(
        command, env=environ, capture_output=True, text=True, check=True, timeout=120
    ).stdout


@operation("chat: whole")
def _() -> None:
    llm("keys", "set", "carrel", "--value", KEY)
    asked = ("-m", "carrel", "-o", "max_tokens", "8", "Say hello.")
    assert llm(*asked, "--no-stream").strip()


@operation("chat: streamed")
def _() -> None:
    assert llm("-m", "carrel", "-o", "max_tokens", "8", "Say hello.").strip()
