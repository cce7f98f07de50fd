"""What holds for every panel: it fits, keys stay in it, nothing is markup, it ends whole."""

import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from carrel.notebook.panels.core import assets
from support.views import (
    EVIL,
    LAYOUT,
    agent_state,
    chat_state,
    compare_state,
    demo_state,
    diff_rows,
    document_state,
    evals_state,
    file_row,
    files_state,
    kernel,
    library_state,
    mount,
    sent,
    turn,
    workbench_state,
)

pytestmark = pytest.mark.xdist_group("browser")

LINE = {"change": "added", "sign": "+", "spans": [{"text": "Be brief.", "change": "added"}]}
SOURCE = {"id": 1, "label": "[1] lease.pdf p.7", "title": "Source 1", "snippet": "Three months."}
SOURCE |= {"cited": True, "box": None}
UNDER_WAY = {"id": "upload-1", "name": "a.pdf", "words": "40 %", "percent": 40, "running": True}
STATES: dict[str, dict[str, Any]] = {
    "activity": {
        "rows": [
            {"id": "ocr-1", "cells": ["OCR", "a.pdf", None, "1 of 3 pages", "", "", ""],
             "running": True, "retryable": False},
        ],
        "empty": "",
        "layout": LAYOUT,
    },
    "agent": agent_state(
        aliases=[{"alias": "prod", "id": "1", "version": "v1"}],
        diff={"title": "v0 → v1", "rows": diff_rows(LINE, pairs=[[None, 0]])},
    ),
    "chat": chat_state(
        turn(0, "user", ["<p>How long?</p>"]),
        turn(1, "assistant", ["<p>Three months.</p>"], calls=["weather(…)"], sources=[SOURCE]),
        sessions=[{"id": "s1", "name": "Notice", "note": "now"}],
    ),
    "compare": compare_state("a", "b", busy=True, begun=True, answered=True),
    "demo": demo_state(),
    "document": document_state(4),
    "evals": evals_state(progress={**UNDER_WAY, "id": "run"}),
    "files": files_state(file_row(1), file_row(2), progress=[UNDER_WAY]),
    "library": library_state(progress=[UNDER_WAY]),
    "workbench": workbench_state(),
}  # fmt: skip

SHOWN = """[...document.querySelectorAll('.carrel *')].filter((one) =>
  one.matches('button, input, select, summary, textarea, [tabindex="0"]') && one.tabIndex >= 0 &&
  !one.disabled && one.checkVisibility({ visibilityProperty: true }))"""
"""The controls that a person can use."""

OUTSIDE = f"""() => {{
  const root = document.querySelector('.carrel');
  const room = root.getBoundingClientRect();
  const scrolled = (node) => node !== root &&
    (/auto|scroll/.test(getComputedStyle(node).overflow) || scrolled(node.parentElement));
  const outside = (one) => {{
    const {{ left, right, bottom, width }} = one.getBoundingClientRect();
    return left < room.left || right > room.right || bottom > room.bottom || width < 8;
  }};
  return {SHOWN}.filter((one) => !scrolled(one) && outside(one)).map((one) => one.outerHTML);
}}"""


@pytest.fixture(params=STATES)
def panel(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def hostile(value: Any, key: str = "") -> Any:
    """The same state with markup in every text that is not the kernel's own markup."""
    if isinstance(value, dict):
        return {name: hostile(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [hostile(one, key) for one in value]
    markup = key in ("html", "blocks", "panel")
    return value + EVIL if isinstance(value, str) and value and not markup else value


def test_nothing_that_arrives_is_read_as_markup(page: Page, panel: str) -> None:
    problem = {"title": EVIL, "detail": EVIL, "advice": EVIL}
    mount(page, panel, {**hostile(STATES[panel]), "connection": EVIL, "problem": problem})
    assert EVIL in page.locator(".carrel").inner_text()
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate("window.hacked") is None


def test_every_control_is_reached_by_keys_which_stay_in_the_panel(page: Page, panel: str) -> None:
    mount(page, panel, {**STATES[panel], "problem": None})
    page.evaluate("""() => {
      window.heard = [];
      document.addEventListener('keydown', (event) => { if (event.key === 'b') heard.push('b'); });
      document.body.append(Object.assign(document.createElement('button'), { id: 'after' }));
    }""")
    controls = page.evaluate(f"{SHOWN}.length")
    assert controls
    reached = 0
    while True:
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "after":
            break
        reached += 1
        assert reached <= controls
        page.keyboard.press("b")
    assert reached == controls
    assert page.evaluate("heard") == []


THEMES = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"
"""The style sheets of JupyterLab's own themes."""

FAINT = """() => {
  const colour = (text) => {
    const [, unit, list] = text.match(/^(rgba?|color)[(](?:srgb )?([^)]+)/);
    const [r, g, b, alpha = 1] = list.match(/[\\d.e-]+/g).map(Number);
    return [...[r, g, b].map((one) => (unit === 'color' ? one : one / 255)), alpha];
  };
  const over = ([...top], ground) => ground.map((one, at) => top[at] * top[3] + one * (1 - top[3]));
  const linear = (one) => (one <= .04 ? one / 12.92 : ((one + .055) / 1.055) ** 2.4);
  const share = [.2126, .7152, .0722];
  const light = (rgb) => rgb.map(linear).reduce((sum, one, at) => sum + one * share[at], 0);
  const ground = (node) => {
    if (!node) return [1, 1, 1];
    const own = colour(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, ground(node.parentElement));
  };
  const contrast = (node, pseudo) => {
    const behind = ground(node);
    const [less, more] = [behind, over(colour(getComputedStyle(node, pseudo).color), behind)]
      .map(light).sort((one, other) => one - other);
    return (more + .05) / (less + .05);
  };
  const faint = [];
  for (const node of document.querySelectorAll('.carrel *')) {
    if (node.closest(':disabled, option') || !node.checkVisibility()) continue;
    const words = [...node.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim());
    const shown = words || node.matches('input, textarea, select');
    if (shown && contrast(node) < 4.5) faint.push(node.outerHTML);
    if (node.placeholder && contrast(node, '::placeholder') < 4.5) faint.push(node.placeholder);
  }
  return faint;
}"""
"""The texts whose contrast with their ground is less than readers need (WCAG 2, AA)."""


@pytest.mark.parametrize("theme", ["light", "dark", "dark-high-contrast"])
def test_every_word_stands_out_from_its_ground(page: Page, panel: str, theme: str) -> None:
    page.add_style_tag(path=THEMES / f"theme-{theme}-extension" / "index.css")
    page.evaluate("dark => document.body.dataset.jpThemeLight = String(!dark)", "dark" in theme)
    mount(page, panel, {**STATES[panel], "problem": None})
    page.locator(".carrel").press("?")
    assert page.evaluate(FAINT) == []


def test_a_problem_is_dismissed_and_another_one_shown(page: Page, panel: str) -> None:
    problem = {"title": "Lost the server", "detail": "It does not answer.", "advice": None}
    mount(page, panel, {**STATES[panel], "problem": problem})
    said = page.get_by_role("alert").filter(has_text="Lost the server")
    said.get_by_role("button", name="Dismiss").click()
    expect(said).to_be_hidden()
    kernel(page, "state", {"problem": problem})
    expect(said).to_be_hidden()
    kernel(page, "state", {"problem": {**problem, "detail": "Again."}})
    expect(said).to_contain_text("Again.")
    kernel(page, "state", {"problem": problem})
    expect(said).to_contain_text("It does not answer.")


def test_the_shortcuts_are_listed(page: Page, panel: str) -> None:
    mount(page, panel, {**STATES[panel], "problem": None})
    page.add_style_tag(content="dl { overflow: hidden; }")
    page.locator(".carrel").press("?")
    shortcuts = page.get_by_role("dialog", name="Shortcuts")
    expect(shortcuts.locator("kbd", has_text="?")).to_have_count(1)
    assert page.evaluate(f"{SHOWN}.some((one) => one.textContent === 'Close')")
    expect(shortcuts.locator("dl")).to_have_css("overflow", "visible")  # JupyterLab cuts lists
    page.keyboard.press("Escape")
    expect(shortcuts).to_be_hidden()
    expect(page.locator(".carrel")).to_be_focused()


def test_no_heading_and_no_column_is_without_words(page: Page, panel: str) -> None:
    mount(page, panel, {**STATES[panel], "problem": None, "title": ""})
    shown = page.locator(":is(h3, h4, th)").filter(visible=True)
    assert "" not in shown.all_text_contents()


def test_a_key_without_a_meaning_is_told(page: Page) -> None:
    mount(page, "chat", {**STATES["chat"], "problem": None})
    page.locator(".carrel").press("t")
    expect(page.get_by_text("Nothing on t here. T: Test case of the last answer")).to_be_visible()
    page.locator(".carrel").press("q")
    expect(page.get_by_text("Nothing on q here. ? lists the keys.")).to_be_visible()
    page.get_by_label("Message").press("q")
    page.locator(".carrel").press("Shift")
    expect(page.get_by_text("Nothing on q here. ? lists the keys.")).to_be_visible()


def test_no_problem_outlives_the_recovery(page: Page, panel: str) -> None:
    problem = {"title": "Lost the server", "detail": "It does not answer.", "advice": None}
    mount(page, panel, {**STATES[panel], "problem": problem, "connection": "○ lost"})
    said = page.get_by_role("alert").filter(has_text="Lost the server")
    expect(said).to_be_visible()
    kernel(page, "state", {"connection": ""})
    expect(said).to_be_hidden()


def test_a_restarted_kernel_is_said_before_anyone_acts(page: Page, panel: str) -> None:
    mount(page, panel, {**STATES[panel], "problem": None})
    page.evaluate("""() => {
      model.send = () => { throw new Error('Cannot send'); };
      model.emit('comm_live_update');
    }""")
    expect(page.get_by_role("alert").filter(has_text="The kernel is gone.")).to_be_visible()


def test_what_cannot_be_resumed_is_said_without_a_button(page: Page) -> None:
    lost = "1 file from a browser or from memory cannot be resumed; upload it again: a.pdf"
    state = {**STATES["files"], "problem": None, "left": [lost], "resumable": False}
    mount(page, "files", state)
    said = page.get_by_role("status").filter(has_text=lost)
    expect(said.get_by_role("button")).to_have_text(["Drop"])
    kernel(page, "state", {"left": ["1 upload left", lost], "resumable": True})
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_the_buttons_are_skipped(page: Page) -> None:
    mount(page, "files", {**STATES["files"], "problem": None})
    page.keyboard.press("Tab")
    skip = page.get_by_role("button", name="Skip the buttons")
    expect(skip).to_be_focused()
    expect(skip).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name="file-1.pdf")).to_be_focused()
    expect(skip).to_have_css("opacity", "0")


def test_a_button_that_goes_leaves_the_focus_in_the_panel(page: Page) -> None:
    mount(page, "document", {**STATES["document"], "read": False})
    page.get_by_role("button", name="Run OCR").focus()
    kernel(page, "state", {"reading": True})
    expect(page.locator(".carrel")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Shortcuts")).to_be_visible()


def test_a_kernel_that_is_gone_is_said_in_words(new_page: Page) -> None:
    new_page.clock.install()
    mount(new_page, "files", {**STATES["files"], "problem": None})
    new_page.wait_for_function("model.sent.some((one) => one.name === 'refresh')")
    kernel(new_page, "answer", "refresh", {})
    new_page.evaluate("() => { model.send = () => { throw new Error('Cannot send'); }; }")
    new_page.clock.run_for(10_000)  # nobody has to act to learn it
    said = new_page.get_by_role("alert").filter(has_text="The kernel is gone.")
    expect(said).to_contain_text("Run the cell again.")
    expect(new_page.locator(".carrel")).to_have_class("carrel carrel-files gone")
    new_page.evaluate("controller.abort()")


@pytest.mark.parametrize("name", ["files", "library", "agent", "chat"])
def test_a_panel_in_sight_asks_for_news_one_answer_at_a_time(new_page: Page, name: str) -> None:
    new_page.clock.install()
    new_page.evaluate("document.querySelector('#place').style.marginTop = '2000px'")
    mount(new_page, name, {**STATES[name], "problem": None})
    hello = new_page.evaluate("model.sent.find((one) => one.kind === 'hello').rid")
    kernel(new_page, "message", {"kind": "done", "rid": hello})
    new_page.clock.run_for(20_000)
    assert sent(new_page, "refresh") == []
    new_page.evaluate("document.querySelector('#place').style.marginTop = '0'")
    new_page.wait_for_function("model.sent.some((one) => one.name === 'refresh')")
    new_page.clock.run_for(20_000)
    assert len(sent(new_page, "refresh")) == 1
    expect(new_page.get_by_role("alert")).to_have_count(0)
    kernel(new_page, "answer", "refresh", {})
    new_page.evaluate("0")
    new_page.clock.run_for(6_000)
    assert len(sent(new_page, "refresh")) == 2
    new_page.evaluate("controller.abort()")
    new_page.clock.run_for(20_000)
    assert len(sent(new_page, "refresh")) == 2


def test_everything_lies_inside_the_panel_however_wide(page: Page, panel: str) -> None:
    mount(page, panel, {**STATES[panel], "problem": None})
    for width in (1000, 560):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate(OUTSIDE) == []
        root = page.locator(".carrel").bounding_box()
        assert root == {"x": 0, "y": 0, "width": width, "height": 480}


BOXES = """() => [...document.querySelectorAll('.carrel, .carrel *:not(style)')].map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  const { color, backgroundColor, font, overflow, padding, border } = getComputedStyle(one);
  const look = [color, backgroundColor, font, overflow, padding, border];
  return [one.className, x, y, width, height, ...look].join();
})"""
"""Where everything stands, and how it looks."""


@pytest.mark.parametrize("width", [1000, 560])
def test_a_panel_looks_the_same_beside_all_others(page: Page, panel: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    mount(page, panel, {**STATES[panel], "problem": None})
    if panel == "chat":
        page.get_by_role("button", name="[1] lease.pdf p.7").click()
    alone = page.evaluate(BOXES)
    for name in STATES:
        page.add_style_tag(content=assets.style(name))
    assert page.evaluate(BOXES) == alone


def test_a_view_that_ends_leaves_no_listener(page: Page, panel: str) -> None:
    before = page.evaluate("window.live")
    mount(page, panel, {**STATES[panel], "problem": None})
    kernel(page, "state", {"connection": "again"})
    assert page.evaluate("model.listeners.length") > 0
    page.evaluate("controller.abort()")
    assert page.evaluate("model.listeners.length") == 0
    assert page.evaluate("window.live") == before
    assert page.locator(".carrel").count() == 0
    assert page.evaluate("model.sent.at(-1).kind") == "goodbye"
