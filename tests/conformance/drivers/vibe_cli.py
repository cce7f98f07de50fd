"""One question through the command `vibe`, with the settings of the docs."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.drivers.operation import KEY, URL, operation

_PAGE = Path(__file__).parents[3] / "docs" / "clients.md"
_settings = _PAGE.read_text("utf-8").split("### mistral-vibe")[1].split("```toml\n")[1]
_settings = _settings.split("```")[0].replace("http://127.0.0.1:8080", URL)


@operation("chat: streamed")
def _() -> None:
    folder = Path(tempfile.mkdtemp())
    (folder / "config.toml").write_text(f"{_settings}max_output_tokens = 8\n", "utf-8")
    environ = {**os.environ, "VIBE_HOME": str(folder), "HOME": str(folder), "CARREL_API_KEY": KEY}
    command = [str(Path(sys.executable).with_name("vibe")), "-p", "Say hello.", "--max-turns", "1"]
    # It ends with another code than 0 where the answer was cut short.
    answer = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=300
    )
    assert answer.stdout.strip(), answer.stderr[-2000:]
