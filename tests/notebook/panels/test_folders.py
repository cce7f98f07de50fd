"""What the Library panel asks for a folder, over a service with the documented endpoints alone."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config.profiles import Profile
from carrel.notebook.panels import folders
from carrel.notebook.panels.chat import ChatPanel
from carrel.notebook.panels.core.base import Panel
from carrel.notebook.panels.files import FilesPanel
from carrel.notebook.panels.library import LibraryPanel
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from support.folders import write
from support.panels import Wire
from support.strict import LIBRARY, StrictLibrary, strict_library


@pytest.fixture
async def library() -> AsyncIterator[StrictLibrary]:
    async with strict_library() as library:
        yield library


@pytest.fixture
async def wire(library: StrictLibrary) -> AsyncIterator[Wire]:
    """The browser's end of a panel, whose store is connected and has the library selected."""
    store = Store(Profile("test", library.service.url), OwnerLoop.in_thread())
    await store.loop.run(store.start())
    await store.libraries.load()
    with LibraryPanel(store) as panel:
        yield Wire(panel)
    await store.loop.run(store.close())
    await asyncio.to_thread(store.loop.close)


async def ask(wire: Wire, name: str, **arguments: object) -> dict[str, Any]:
    return await asyncio.to_thread(wire.ask, name, **arguments)


WISH = {"library": LIBRARY, "delete": False, "include": "*.txt", "exclude": ""}


async def test_a_typed_path_is_previewed_and_synced(
    wire: Wire, library: StrictLibrary, tmp_path: Path
) -> None:
    write(tmp_path / "folder" / "d" / "a.txt", "one")
    write(tmp_path / "folder" / "b.log", "two")
    path = f' "{tmp_path / "folder"}" '
    answer = (await ask(wire, "look", path=path, **WISH))["result"]
    assert answer["words"].endswith("/folder: 1 to upload (3 B); 1 left out.")
    assert answer["rows"] == [
        {"action": "Upload", "path": "d/a.txt", "note": "3 B"},
        {"action": "Ignore", "path": "b.log", "note": "no include pattern fits"},
    ]
    assert answer["confirm"] is None
    await ask(wire, "sync", path=path, watch=False, max_delete=None, **WISH)
    state = await asyncio.to_thread(
        wire.wait_state,
        lambda state: (
            [each["status"]["text"][-14:] for each in state["folders"]] == ["· not watching"]
        ),
    )
    assert library.held == {"d/a.txt": b"one"}
    [folder] = state["folders"]
    assert str(tmp_path) not in json.dumps(state)
    settings = (await ask(wire, "folder", folder=folder["id"]))["result"]
    assert (settings["path"], settings["include"]) == (str(tmp_path / "folder"), "*.txt")
    write(tmp_path / "folder" / "c.txt", "three")
    await ask(wire, "sync_again", folder=folder["id"])
    await asyncio.to_thread(wire.wait_state, lambda state: len(state["rows"]) == 2)


async def test_a_pattern_with_a_blank_is_one_pattern(wire: Wire, tmp_path: Path) -> None:
    write(tmp_path / "folder" / "old drafts" / "a.txt", "one")
    write(tmp_path / "folder" / "b.txt", "two")
    wish = {**WISH, "include": "", "exclude": "'old drafts/' *.log"}
    answer = await ask(wire, "look", path=str(tmp_path / "folder"), **wish)
    assert [row["path"] for row in answer["result"]["rows"]] == ["b.txt", "old drafts/"]
    path = str(tmp_path / "folder")
    await ask(wire, "sync", path=path, watch=False, max_delete=None, **wish)
    state = await asyncio.to_thread(wire.wait_state, lambda state: state["folders"])
    settings = (await ask(wire, "folder", folder=state["folders"][0]["id"]))["result"]
    assert settings["exclude"] == wish["exclude"]


async def test_deletions_of_more_than_half_are_confirmed(
    wire: Wire, library: StrictLibrary, tmp_path: Path
) -> None:
    files = [write(tmp_path / "folder" / f"{number}.txt", f"{number}") for number in range(3)]
    wish = {**WISH, "path": str(tmp_path / "folder"), "delete": True}
    accepted = {**wish, "watch": False}
    await ask(wire, "sync", **accepted, max_delete=None)
    await asyncio.to_thread(wire.wait_state, lambda state: len(state["rows"]) == 3)
    for file in files[:2]:
        file.unlink()
    preview = (await ask(wire, "look", **wish))["result"]
    assert (preview["confirm"], preview["deletions"]) == (
        "Delete 2 of the 3 documents that this folder brought?",
        2,
    )
    await ask(wire, "sync", **accepted, max_delete=None)
    await asyncio.to_thread(
        wire.wait_state,
        lambda state: (
            [each["status"]["text"] for each in state["folders"]] == ["✕ Too many deletions"]
        ),
    )
    assert len(library.held) == 3
    await ask(wire, "sync", **accepted, max_delete=preview["deletions"])
    await asyncio.to_thread(wire.wait_state, lambda state: len(state["rows"]) == 1)


async def test_a_path_that_is_none_is_refused(wire: Wire, tmp_path: Path) -> None:
    refused = await ask(wire, "look", path="  ", **WISH)
    assert refused["problem"]["title"] == "No folder named"
    refused = await ask(wire, "look", path=str(tmp_path / "gone"), **WISH)
    assert "cannot be read" in refused["problem"]["detail"]


@pytest.mark.parametrize("kind", [LibraryPanel, FilesPanel, ChatPanel])
async def test_of_a_dropped_folder_is_taken_what_a_sync_would_take(
    store: Store, kind: type[Panel]
) -> None:
    asked = {
        "folder": "d",
        "files": ["a.txt", "b~", ".env", "c.log", "keep.log"],
        "folders": [".git", "node_modules", "e"],
        "rules": [("", "node_modules/\n*.log"), ("d", "!keep.log")],
    }
    answer = await ask(Wire(kind(store)), "sift", **asked)
    assert answer["result"] == {"files": ["a.txt", "keep.log"], "folders": ["e"]}


async def test_empty_files_are_left_out_and_too_many_refused(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offer(name: str, size: int = 3) -> dict[str, object]:
        return {"view": "v", "key": name, "name": name, "size": size}

    await ask(wire, "upload", library="LIB", files=[offer("d/a.txt"), offer("empty.txt", 0)])
    state = await asyncio.to_thread(wire.wait_state, lambda state: state["progress"])
    assert [row["name"] for row in state["progress"]] == ["d/a.txt"]
    monkeypatch.setattr(folders, "DROPPED", 2)
    refused = await ask(
        wire, "upload", library="LIB", files=[offer(f"{number}.txt") for number in range(3)]
    )
    assert refused["problem"]["title"] == "Too many files to drop"
    await ask(wire, "cancel", id="more")
    await asyncio.to_thread(
        wire.wait_state, lambda state: state == wire.states[-1] and not state["progress"]
    )
