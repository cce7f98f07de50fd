"""Deleted items in a notebook."""

from pathlib import Path

import pytest

import carrel
from carrel.notebook.cells.errors import BenchError
from support.process import RunningServer


def test_deleted_items_are_shown_and_restored(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_URL", server.url)
    monkeypatch.setenv("CARREL_API_KEY", server.api_key)
    path = tmp_path / "lease <b>.txt"
    path.write_text("x")
    with carrel.connect() as bench:
        file = bench.upload(path)
        bench.client.files.delete(file.id)
        there = bench.trash()
        assert there[0].id == file.id and file.id in {item.id for item in there}
        assert "lease &lt;b&gt;.txt" in there._repr_html_() and "Deleted · " in repr(there)
        assert bench.restore("lease <b>.txt") == 1
        assert bench.client.files.get(file.id).filename == "lease <b>.txt"
        with pytest.raises(BenchError, match="is not in the trash"):
            bench.restore("lease <b>.txt")
