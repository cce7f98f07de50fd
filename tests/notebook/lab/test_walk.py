"""The walk by clicks, in a real JupyterLab and a real browser against the real server."""

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Locator, Page, expect

from support.folders import write
from support.lab import Notebook

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(300)]

SLOW_MS = 60_000


@pytest.fixture
def workbench(notebook: Notebook) -> Locator:
    page = notebook("import carrel\nbench = carrel.connect()\nbench")
    return page.locator(".carrel-workbench")


def place(workbench: Locator, name: str) -> Locator:
    """Goes to a place by its tab."""
    workbench.get_by_role("tab", name=name).click()
    return workbench.get_by_role("region", name=name)


def scan(path: Path) -> Path:
    page = Image.new("RGB", (1000, 400), "white")
    text = "The notice period is three months."
    ImageDraw.Draw(page).text((60, 60), text, fill="black", font=ImageFont.load_default(40))
    page.save(path)
    return path


def test_the_walk_by_clicks(workbench: Locator, tmp_path: Path) -> None:
    paper = scan(tmp_path / "walk.pdf")
    files = place(workbench, "Files")
    files.get_by_label("Files to upload").set_input_files(paper)
    files.get_by_role("row", name="walk.pdf").first.click(timeout=SLOW_MS)
    files.get_by_role("button", name="Run OCR").click()

    document = workbench.get_by_role("region", name="Document")
    expect(document.locator(".carrel-block").first).to_contain_text("notice", timeout=SLOW_MS)
    width = "document.querySelector('.carrel-sheet img').naturalWidth > 0"
    workbench.page.wait_for_function(width, timeout=SLOW_MS)

    libraries = place(workbench, "Libraries")
    libraries.get_by_label("Name of the new library").fill("walk")
    workbench.page.keyboard.press("Enter")
    expect(libraries.get_by_role("heading", name="walk · 0 documents")).to_be_visible()
    libraries.get_by_label("Files to upload").set_input_files(paper)
    expect(libraries.get_by_role("grid").get_by_text("● Ready")).to_be_visible(timeout=SLOW_MS)

    agents = place(workbench, "Agents")
    agents.get_by_role("button", name="New…").click()
    agents.get_by_label("Name", exact=True).fill("walker")
    agents.get_by_label("walk", exact=True).check()
    agents.get_by_role("button", name="Save").click()
    expect(agents.get_by_role("heading", name="walker")).to_be_visible()
    agents.get_by_role("button", name="Edit").click()
    agents.get_by_label("Instructions").fill("Answer in one short sentence.")
    agents.get_by_role("button", name="Save").click()
    agents.get_by_role("button", name="Save as v1").click()
    expect(agents.get_by_role("row", name="v1 ● active")).to_be_visible()

    chat = place(workbench, "Chat")
    chat.get_by_label("Agent", exact=True).select_option("walker")
    chat.get_by_role("button", name="New").click()
    expect(chat.get_by_role("heading", name="walker v1")).to_be_visible()
    chat.get_by_label("Message").fill("How long is the notice period?")
    workbench.page.keyboard.press("Enter")
    answer = chat.get_by_role("article").nth(1)
    expect(answer.get_by_role("button", name="walk.pdf")).to_be_visible(timeout=SLOW_MS)
    expect(answer.locator(".carrel-text")).not_to_be_empty()
    answer.get_by_role("button", name="walk.pdf").click()
    expect(chat.get_by_role("complementary")).to_contain_text("three months")


DROP_FOLDER = """([panel, name, files]) => {
  const file = (name, text) => ({
    isFile: true, name, file: (done) => done(new File([text], name)),
  });
  const left = [files.map(([name, text]) => file(name, text)), []];
  const reader = { readEntries: (done) => done(left.shift()) };
  const folder = { isDirectory: true, name, createReader: () => reader };
  const event = new Event('drop', { bubbles: true });
  event.dataTransfer = { types: ['Files'], files: [], items: [{ webkitGetAsEntry: () => folder }] };
  panel.dispatchEvent(event);
}"""


def test_a_folder_arrives_and_an_agent_answers_from_it(workbench: Locator, tmp_path: Path) -> None:
    write(tmp_path / "contracts" / "2024" / "lease.txt", "The notice period is nine months.")
    write(tmp_path / "contracts" / "rent.txt", "The rent is due on the third day of a month.")
    libraries = place(workbench, "Libraries")
    libraries.get_by_label("Name of the new library").fill("synced")
    workbench.page.keyboard.press("Enter")
    expect(libraries.get_by_role("heading", name="synced · 0 documents")).to_be_visible()

    libraries.get_by_role("button", name="Sync folder…").click()
    libraries.get_by_label("Folder", exact=True).fill(str(tmp_path / "contracts"))
    expect(libraries.get_by_text("2 to upload")).to_be_visible(timeout=SLOW_MS)
    libraries.get_by_label("Keep watching").check()
    libraries.get_by_role("button", name="Sync", exact=True).click()
    expect(libraries.get_by_role("grid").get_by_text("● Ready")).to_have_count(2, timeout=SLOW_MS)
    row = libraries.get_by_label("Synced folders").get_by_role("listitem")
    expect(row).to_contain_text("● In sync, watching")

    (tmp_path / "contracts" / "rent.txt").rename(tmp_path / "contracts" / "2024" / "rent.txt")
    expect(libraries.get_by_role("row", name="2024/rent.txt")).to_be_visible(timeout=SLOW_MS)
    libraries.get_by_role("button", name="Stop syncing").click()
    expect(row).to_contain_text("○ Matched at")
    expect(row).to_contain_text("· not watching")

    files = [
        ["deposit.txt", "The deposit is two rents."],
        [".gitignore", "*.log"],
        ["run.log", "left out"],
    ]
    panel = libraries.element_handle()
    workbench.page.evaluate(DROP_FOLDER, [panel, "more", files])
    expect(libraries.get_by_role("row", name="deposit.txt")).to_be_visible(timeout=SLOW_MS)
    expect(libraries.get_by_role("row")).to_have_count(4)

    agents = place(workbench, "Agents")
    agents.get_by_role("button", name="New…").click()
    agents.get_by_label("Name", exact=True).fill("tenant")
    agents.get_by_label("synced", exact=True).check()
    agents.get_by_role("button", name="Save").click()
    expect(agents.get_by_role("heading", name="tenant")).to_be_visible()
    chat = place(workbench, "Chat")
    chat.get_by_label("Agent", exact=True).select_option("tenant")
    chat.get_by_role("button", name="New").click()
    expect(chat.get_by_role("heading", name="tenant v0")).to_be_visible()
    chat.get_by_label("Message").fill("How long is the notice period?")
    workbench.page.keyboard.press("Enter")
    answer = chat.get_by_role("article").nth(1)
    source = answer.get_by_role("button", name="2024/lease.txt")
    expect(source).to_be_visible(timeout=SLOW_MS)
    source.click()
    expect(chat.get_by_role("complementary")).to_contain_text("nine months")


def test_keys_in_a_panel_leave_the_notebook_alone(workbench: Locator, tmp_path: Path) -> None:
    files = place(workbench, "Files")
    files.get_by_label("Files to upload").set_input_files(scan(tmp_path / "keys.pdf"))
    row = files.get_by_role("row", name="keys.pdf").first
    row.click(timeout=SLOW_MS)
    page = workbench.page
    for key in ("b", "a", "x", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    assert cells(page) == 1
    page.locator(".jp-InputArea-editor").first.click()
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(2)


def cells(page: Page) -> int:
    return page.locator(".jp-Notebook .jp-CodeCell").count()


def test_a_delete_is_undone(workbench: Locator, tmp_path: Path) -> None:
    files = place(workbench, "Files")
    files.get_by_label("Files to upload").set_input_files(scan(tmp_path / "back.pdf"))
    row = files.get_by_role("row", name="back.pdf")
    row.first.click(timeout=SLOW_MS)
    files.get_by_role("button", name="Delete…").click()
    question = files.get_by_role("alertdialog")
    expect(question).to_contain_text("You can undo this for 7 days.")
    question.get_by_role("button", name="Delete").click()
    expect(files.get_by_text("Deleted one file.")).to_be_visible(timeout=SLOW_MS)
    expect(row).to_have_count(0, timeout=SLOW_MS)
    files.get_by_role("button", name="Undo").click()
    expect(row.first).to_be_visible(timeout=SLOW_MS)
    expect(files.get_by_text("Deleted one file.")).to_be_hidden()
