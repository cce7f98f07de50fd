"""The notebooks of `notebooks/`: each is executed against the real server, and saved as it ran."""

from pathlib import Path

import pytest

from support.notebooks import FOLDER, WIDGET, check, executed, outputs, read, shown
from support.process import RunningServer

SHOWN = {
    "activity": ["✕ Failed", "not a valid PDF", "stopped after 0.001 seconds"],
    "agents": ["did you mean temperature?", "v1 · school", "● active", "<strong>atlas v0</strong>"],
    "an_agent_over_a_folder": ["3 uploaded", "lease.pdf · done", "1 lease.pdf · page 1"],
    "chat": ["▸ calls depth(", "Result of depth", "geographer v0", "geographer v1"],
    "documents": ["The water meter stands at 4,217.", "<th>From</th>"],
    "files": ["There is no file at …/gide.pdf.", "Ask the landlord for the second key."],
    "libraries": ["2 uploaded, 1 there already", "1 renamed", "«tomatoes»"],
    "tour": ["<strong>lease.pdf</strong>", "«notice» «period»", "<td>done</td>", "smollm2"],
}
"""What a notebook's cells show, whatever the model answers."""

NOTEBOOKS = [pytest.param(path, id=path.stem) for path in sorted(FOLDER.glob("*.ipynb"))]


@pytest.mark.xdist_group("notebooks")
@pytest.mark.parametrize("path", NOTEBOOKS)
async def test_a_notebook_runs_and_shows_what_it_says(
    path: Path, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_URL", server.url)
    monkeypatch.setenv("CARREL_API_KEY", server.api_key)
    notebook = await executed(path, tmp_path)
    seen = shown(notebook)
    assert [words for words in SHOWN[path.stem] if words not in seen] == []
    assert any(WIDGET in output.get("data", {}) for output in outputs(notebook))
    assert server.api_key not in str(notebook)


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_saved_notebook_has_its_outputs_and_nothing_private(path: Path) -> None:
    text, saved = path.read_text("utf-8"), read(path)
    check(saved)
    code = [cell for cell in saved.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert [words for words in SHOWN[path.stem] if words not in shown(saved)] == []
    assert "widgets" not in saved.metadata
    assert not any(WIDGET in output.get("data", {}) for output in outputs(saved))
    assert len(text) < 100_000, "a panel's page is saved as a small picture"
    for private in ("/root", "/home", "/tmp", "/work", "sk-", "/signed/"):
        assert private not in text
