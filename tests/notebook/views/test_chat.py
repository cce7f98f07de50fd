import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, chat_state, kernel, mount, sent, turn

pytestmark = pytest.mark.xdist_group("browser")


def test_an_answer_grows_by_blocks_and_keeps_those_before(page: Page) -> None:
    mount(page, "chat", chat_state(turn(0, "user", ["<p>Hi</p>"]), turn(1, "assistant", None)))
    delta = {"kind": "delta", "session": "s1", "turn": 1}
    kernel(page, "message", {**delta, "from": 0, "blocks": ["<p>One</p>", "<p>Tw</p>"]})
    page.evaluate("window.kept = document.querySelectorAll('.carrel-turn')[1].querySelector('p')")
    kernel(page, "message", {**delta, "from": 1, "blocks": ["<p>Two</p>", "<p>Three</p>"]})
    expect(page.locator(".carrel-turn").nth(1).locator(".carrel-text")).to_have_text("OneTwoThree")
    assert page.evaluate("window.kept.isConnected")
    kernel(page, "message", {**delta, "session": "other", "from": 0, "blocks": []})
    expect(page.locator(".carrel-turn").nth(1).locator(".carrel-text")).to_have_text("OneTwoThree")


def test_the_transcript_follows_only_a_reader_at_its_end(page: Page) -> None:
    long = ["<p>line</p>"] * 60
    mount(page, "chat", chat_state(turn(0, "user", long), turn(1, "assistant", None)))
    bottom = """() => {
      const log = document.querySelector('.carrel-log');
      return log.scrollHeight - log.scrollTop - log.clientHeight < 5;
    }"""
    delta = {"kind": "delta", "session": "s1", "turn": 1, "from": 0}
    kernel(page, "message", {**delta, "blocks": long})
    assert page.evaluate(bottom)
    page.evaluate("document.querySelector('.carrel-log').scrollTop = 0")
    page.wait_for_function("document.querySelector('.carrel-log').scrollTop === 0")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    kernel(page, "message", {**delta, "blocks": long * 2})
    assert not page.evaluate(bottom)


def test_stop_is_there_from_the_moment_of_sending(page: Page) -> None:
    mount(page, "chat", chat_state())
    page.get_by_role("textbox", name="Message").fill("How long?")
    page.keyboard.press("Enter")
    assert sent(page, "send")[0]["args"] == {"text": "How long?"}
    kernel(page, "answer", "send", {})
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    kernel(page, "state", {"busy": True, "phase": "◐ support v1: waiting for the model …"})
    expect(page.get_by_text("waiting for the model")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    assert len(sent(page, "stop")) == 1


def test_what_was_not_sent_stays_in_the_field(page: Page) -> None:
    mount(page, "chat", chat_state())
    page.get_by_role("textbox", name="Message").fill("How long?")
    page.keyboard.press("Enter")
    problem = {"title": "Lost the server", "detail": "", "advice": None}
    kernel(page, "answer", "send", {"kind": "error", "problem": problem})
    expect(page.get_by_role("textbox", name="Message")).to_have_value("How long?")


def test_a_source_opens_beside_the_answer(page: Page) -> None:
    source = {"id": 1, "label": "[1] lease.pdf p.7", "title": "Source 1 · lease.pdf p. 7"}
    source |= {"snippet": EVIL, "library": "l", "document": "d", "name": "lease.pdf", "page": 6}
    mount(page, "chat", chat_state(turn(0, "assistant", ["<p>x</p>"], sources=[source])))
    page.get_by_role("button", name="[1] lease.pdf p.7").click()
    expect(page.get_by_role("complementary", name="Source")).to_contain_text(EVIL)
    page.get_by_role("button", name="Full page").click()
    assert sent(page, "open")[0]["args"]["page"] == 6


def test_shift_enter_breaks_the_line_and_sends_nothing(page: Page) -> None:
    mount(page, "chat", chat_state())
    page.get_by_role("textbox", name="Message").fill("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Two")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("One\nTwo")
    assert sent(page, "send") == []


def test_a_retried_answer_begins_empty(page: Page) -> None:
    mount(page, "chat", chat_state(turn(0, "assistant", ["<p>Old</p>"])))
    kernel(page, "state", {"turns": [turn(0, "assistant", None)], "busy": True})
    expect(page.locator(".carrel-turn .carrel-text")).to_be_empty()
