"""Folders in the Library panel: the form, the list, and a folder that is dropped."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, kernel, library_state, mount, sent

pytestmark = pytest.mark.xdist_group("browser")

PREVIEW: dict[str, Any] = {
    "words": "~/contracts: 1 to upload (3 B), 1 to delete.",
    "rows": [
        {"action": "Upload", "path": EVIL, "note": "3 B"},
        {"action": "Delete", "path": "old.pdf", "note": "deleted in the folder"},
    ],
    "more": 0,
}
DROP = """() => {
  const file = (name, text) => ({
    isFile: true, name, file: (done) => done(new File([text], name)),
  });
  const folder = (name, children) => ({
    isDirectory: true, name,
    createReader: () => { const left = [children, []]; return { readEntries: (done) => done(left.shift()) }; },
  });
  const tree = folder("contracts", [
    file("a.txt", "one"), file("b.log", "no"), file(".gitignore", "*.log"),
    folder("2024", [file("b.txt", "two!"), file(".carrelignore", "c*")]), folder("node_modules", []),
  ]);
  const event = new Event("drop", { bubbles: true });
  event.dataTransfer = { types: ["Files"], files: [], items: [{ webkitGetAsEntry: () => tree }] };
  document.querySelector(".carrel").dispatchEvent(event);
}"""  # noqa: E501


def answer(page: Page, name: str, number: int, result: Any) -> dict[str, Any]:
    """Answers the newest intent of that name, as the kernel does; gives what it asked."""
    page.wait_for_function(
        "([name, n]) => model.sent.filter((one) => one.name === name).length >= n",
        arg=[name, number],
    )
    asked = sent(page, name)[-1]
    kernel(page, "message", {"kind": "done", "rid": asked["rid"], "result": result})
    arguments: dict[str, Any] = asked["args"]
    return arguments


def test_the_form_previews_before_it_syncs(page: Page) -> None:
    mount(page, "library", library_state())
    page.get_by_role("button", name="Sync folder…").click()
    sync = page.get_by_role("button", name="Sync", exact=True)
    expect(sync).to_be_disabled()
    page.get_by_label("Folder", exact=True).fill("~/contracts")
    answer(page, "look", 1, PREVIEW)
    expect(page.get_by_text(PREVIEW["words"])).to_be_visible()
    expect(page.get_by_label("What a sync would do")).to_contain_text(EVIL)
    assert not page.evaluate("window.hacked")
    page.get_by_label("Delete in the library").check()
    expect(sync).to_be_disabled()
    answer(page, "look", 2, PREVIEW)
    page.get_by_label("Keep watching").check()
    sync.click()
    wish = {"library": "l1", "path": "~/contracts", "delete": True, "include": "", "exclude": ""}
    assert sent(page, "look")[-1]["args"] == wish
    assert sent(page, "sync")[0]["args"] == {**wish, "watch": True, "max_delete": None}


def test_a_synced_folder_shows_how_it_stands_and_is_stopped(page: Page) -> None:
    folder = {
        "id": 7,
        "name": "~/contracts",
        "status": {"text": "◐ 12 of 500 files · 34 %", "role": "busy"},
        "notes": ["a.pdf 45 %"],
        "percent": 34,
        "running": True,
    }
    settings = {"path": "/home/someone/contracts", "delete": True, "include": "*.pdf"}
    mount(page, "library", library_state(folders=[folder]))
    row = page.get_by_label("Synced folders").get_by_role("listitem")
    expect(row).to_contain_text("◐ 12 of 500 files · 34 %")
    expect(row).to_contain_text("a.pdf 45 %")
    page.get_by_role("button", name="Stop syncing ~/contracts").click()
    assert sent(page, "sync_stop")[0]["args"] == {"folder": 7}
    done = {"text": "● In sync", "role": "ready"}
    kernel(page, "state", library_state(
        folders=[{**folder, "status": done, "percent": None, "running": False}]
    ))  # fmt: skip
    page.get_by_role("button", name="Sync ~/contracts").click()
    answer(page, "folder", 1, {**settings, "exclude": ""})
    expect(page.get_by_label("Folder", exact=True)).to_have_value("/home/someone/contracts")
    expect(page.get_by_label("Delete in the library")).to_be_checked()
    assert sent(page, "look")[0]["args"]["include"] == "*.pdf"


def test_in_a_narrow_panel_the_notes_of_a_folder_stand_below(page: Page) -> None:
    page.set_viewport_size({"width": 480, "height": 900})
    folder = {"id": 7, "name": "contracts", "notes": ["synced 12 min ago"], "percent": None}
    status = {"text": "○ Matched at 17:03 · not watching", "role": "muted"}
    folder |= {"status": status, "running": False}
    mount(page, "library", library_state(folders=[folder]))
    notes = page.get_by_text("synced 12 min ago")
    assert notes.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_of_a_dropped_folder_goes_up_what_the_kernel_wants(page: Page) -> None:
    mount(page, "library", library_state())
    page.evaluate(DROP)
    asked = answer(page, "sift", 1, {"files": ["a.txt"], "folders": ["2024"]})
    assert asked == {
        "folder": "",
        "files": ["a.txt", "b.log", ".gitignore"],
        "folders": ["2024", "node_modules"],
        "rules": [["", "*.log"]],
    }
    asked = answer(page, "sift", 2, {"files": ["b.txt"], "folders": []})
    assert (asked["folder"], asked["files"]) == ("2024", ["b.txt", ".carrelignore"])
    assert asked["rules"] == [["", "*.log"], ["2024", "c*"]]
    page.wait_for_function("model.sent.some(one => one.name === 'upload')")
    files = sent(page, "upload")[0]["args"]["files"]
    assert [(file["name"], file["size"]) for file in files] == [("a.txt", 3), ("2024/b.txt", 4)]


def test_what_cannot_be_read_of_a_drop_is_named_and_the_rest_goes_up(page: Page) -> None:
    mount(page, "library", library_state())
    page.evaluate("""() => {
      const file = (name) => ({ isFile: true, name, file: (done) => done(new File(["x"], name)) });
      const bad = (name) => ({ isFile: true, name, file: (_, fail) => fail(new Error("gone")) });
      const folder = (name, children) => ({
        isDirectory: true, name,
        createReader: () => { const left = [children, []]; return { readEntries: (done) => done(left.shift()) }; },
      });
      const trees = [bad("lost.pdf"), folder("d", [file("a.txt"), bad("b.txt")]), file("c.pdf")];
      const event = new Event("drop", { bubbles: true });
      event.dataTransfer = { types: ["Files"], files: [], items: trees.map((one) => ({ webkitGetAsEntry: () => one })) };
      document.querySelector(".carrel").dispatchEvent(event);
    }""")  # noqa: E501
    answer(page, "sift", 1, {"files": ["a.txt", "b.txt"], "folders": []})
    page.wait_for_function("model.sent.some(one => one.name === 'upload')")
    files = sent(page, "upload")[0]["args"]["files"]
    assert [file["name"] for file in files] == ["a.txt", "c.pdf"]
    said = page.get_by_role("alert").filter(has_text="2 files were left out.")
    expect(said).to_contain_text("lost.pdf: gone · b.txt: gone")
    expect(said).to_contain_text("The other 2 go up.")


def test_a_dropped_folder_with_nothing_to_take_is_said(page: Page) -> None:
    mount(page, "library", library_state())
    page.evaluate(DROP)
    answer(page, "sift", 1, {"files": [], "folders": []})
    expect(page.locator(".carrel")).to_contain_text("There is no file in this folder")
    assert sent(page, "upload") == []


def test_more_uploads_than_are_named_are_stopped_at_once(page: Page) -> None:
    row = {"id": "more", "name": "and 12 more", "words": "", "percent": None, "running": False}
    mount(page, "library", library_state(progress=[row]))
    page.get_by_role("button", name="Stop and 12 more").click()
    assert sent(page, "cancel")[0]["args"] == {"id": "more"}
