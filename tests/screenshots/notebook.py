"""The notebook's pictures, taken in one JupyterLab."""

import io
import os
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, expect

from carrel.config.profiles import folders
from support.browser import chromium
from support.lab import lab, run_cell
from support.process import serve

WIDTH, HEIGHT = 1240, 760
COLOURS = 128
"""How many a picture keeps: a screen has few, and the file is a third as large."""
SLOW_MS = 120_000

CELLS = [
    'import carrel\n\nbench = carrel.connect()\nreading = bench.ocr("contracts/lease-2024.pdf")\n'
    "reading.panel(height=500)",
    'library = bench.create_library("contracts")\n'
    'bench.sync(library, "contracts", exclude=["*.jsonl"])',
    'agent = bench.create_agent("support", libraries=[library], temperature=0, max_tokens=60)\n'
    'agent = bench.edit_agent(agent, instructions="Answer in one short sentence.")\n'
    'talk = bench.chat(agent, height=410)\ntalk.ask("How long is the notice period?")\ntalk',
]


def shoot(papers: Path, out: Path) -> None:
    """Takes the pictures."""
    folders().server.parent.mkdir(parents=True, exist_ok=True)
    here = {name: os.environ[name] for name in os.environ if name.startswith(("HOME", "XDG_"))}
    with (
        serve(folders().server),
        lab(papers.parent / "lab", here) as running,
        chromium() as browser,
        running.notebook(browser, CELLS) as page,
    ):
        shutil.copytree(papers, running.root / "contracts")
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
        _document(page)
        _take(page, out / "notebook-document.png")
        _chat(page)
        _dark(page)
        _take(page, out / "notebook-chat.png")


def _document(page: Page) -> None:
    run_cell(page, 0)
    panel = page.locator(".carrel-document")
    expect(panel.locator(".carrel-block").first).to_be_visible(timeout=SLOW_MS)
    panel.locator(".carrel-boxes button").nth(6).click()
    _drawn(panel.locator(".carrel-stage img"))
    expect(panel.locator(".carrel-block.marked")).to_be_visible()


def _chat(page: Page) -> None:
    run_cell(page, 1)
    run_cell(page, 2)
    panel = page.locator(".carrel-chat")
    panel.get_by_role("button", name="[1]").first.click(timeout=SLOW_MS)
    _drawn(panel.locator(".carrel-source-page img"))
    page.locator(".jp-CodeCell").nth(1).evaluate("cell => cell.scrollIntoView()")


def _drawn(picture: Locator) -> None:
    expect(picture).to_be_visible(timeout=SLOW_MS)
    picture.evaluate("image => image.decode()")


def _dark(page: Page) -> None:
    page.evaluate(
        "() => { window.jupyterapp.commands.execute('apputils:change-theme',"
        " { theme: 'JupyterLab Dark' }) }"
    )
    page.wait_for_selector("body[data-jp-theme-light='false']", state="attached")
    page.wait_for_selector("#jupyterlab-splash", state="detached")


def _take(page: Page, path: Path) -> None:
    # Neither a pointer nor a focus that is on its way belongs in a picture.
    page.mouse.move(2, 2)
    png = page.locator(".jp-NotebookPanel").screenshot(animations="disabled")
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
