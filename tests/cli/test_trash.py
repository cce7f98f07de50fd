"""`carrel trash`: what was deleted is listed, restored and deleted for ever."""

from pathlib import Path

import pytest

from support.command import carrel
from support.process import RunningServer


@pytest.fixture(autouse=True)
def address(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_URL", server.url)
    monkeypatch.setenv("CARREL_API_KEY", server.api_key)


async def test_a_file_is_listed_restored_and_deleted_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "lease.pdf"
    path.write_bytes(b"%PDF-1.4 nothing")
    id = (await carrel("files", "upload", path)).out.strip()
    assert (await carrel("files", "delete", id)).code == 0
    [item] = (await carrel("trash", "list", "--json")).json
    assert (item["id"], item["kind"], item["name"]) == (id, "file", "lease.pdf")
    assert "lease.pdf" in (await carrel("trash", "list")).out

    restored = await carrel("trash", "restore", "lease.pdf")
    assert (restored.code, restored.err) == (0, "Restored lease.pdf.\n")
    assert (await carrel("files", "get", id)).code == 0
    again = await carrel("trash", "restore", id)
    assert (again.code, again.out) == (1, "")
    assert "carrel trash list" in again.err

    assert (await carrel("files", "delete", id)).code == 0
    emptied = await carrel("trash", "empty", "--json")
    assert emptied.json == {"deleted": 1}
    assert (await carrel("trash", "list", "--json")).json == []
