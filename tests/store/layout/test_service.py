from pathlib import Path

import pytest

from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.lists import Sort
from carrel.store.layout.service import LEAST_WIDTH, LayoutService
from carrel.store.layout.state import USUAL, TableLayout, load_layout


async def test_a_layout_is_found_again(tmp_path: Path) -> None:
    layout = LayoutService(OwnerLoop.running(), tmp_path)
    layout.sort("files", "size")
    layout.sort("files", "size")
    layout.toggle("files", "purpose")
    layout.toggle("files", "ocr")
    layout.toggle("files", "ocr")
    layout.widen("files", "name", 40)
    layout.widen("files", "size", 0)
    layout.resize("files", {1: 40.5})
    layout.zoom("chat")
    layout.zoom("files")
    layout.zoom("files")
    layout.note("chat", "library-1")
    await layout._save()
    again = LayoutService(OwnerLoop.running(), tmp_path)
    widths = {"name": 40, "size": LEAST_WIDTH}
    expected = TableLayout(Sort("size", True), frozenset({"purpose"}), widths)
    assert again.slice.value.table("files") == expected
    assert again.slice.value.table("documents") == USUAL
    assert again.slice.value.panes == {"files": {1: 40.5}}
    assert again.slice.value.zoomed == {"chat"}
    assert (again.slice.value.place, again.slice.value.library) == ("chat", "library-1")
    assert load_layout(tmp_path / "layout.json") == again.slice.value
    again.reset("files")
    assert again.slice.value.table("files") == USUAL
    await again.close()
    await layout.close()


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": 0}', '{"format": 1, "tables": {"files": {"sort": 3}}}']
)
async def test_a_damaged_layout_is_the_usual_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "layout.json").write_text(text)
    assert LayoutService(OwnerLoop.running(), tmp_path).slice.value.table("files") == USUAL
