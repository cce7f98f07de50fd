import sys
from pathlib import Path

import pytest

from carrel.system.editor import EditorError, edit, editor_command


def test_the_named_editor_comes_first_with_its_options() -> None:
    assert editor_command({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    assert editor_command({"VISUAL": "", "EDITOR": "'my editor' -n"}) == ["my editor", "-n"]


def test_without_any_editor_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EditorError, match="Name yours in EDITOR"):
        editor_command({})


def test_what_is_no_command_is_said() -> None:
    with pytest.raises(EditorError, match="lacks a quotation mark"):
        editor_command({"EDITOR": "vim 'x"})


def test_what_the_editor_wrote_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "an agent.yaml"
    path.write_text("a")
    program = tmp_path / "editor.py"
    program.write_text("import sys, pathlib; pathlib.Path(sys.argv[1]).write_text('ü')")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {program}")
    assert edit(path) == "ü"
    program.write_text("import sys, pathlib; pathlib.Path(sys.argv[1]).write_bytes(b'\\xff')")
    with pytest.raises(EditorError, match="no longer UTF-8"):
        edit(path)
    monkeypatch.setenv("VISUAL", str(tmp_path / "gone"))
    with pytest.raises(EditorError, match="could not be run"):
        edit(path)
