"""The search over all libraries and chats, which every panel opens."""

import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, chat_state, file_row, files_state, kernel, mount, sent

pytestmark = pytest.mark.xdist_group("browser")

FOUND = {
    "groups": [
        {
            "title": "contracts · 1 passage",
            "hits": [{"id": 0, "place": "lease.pdf p. 2", "passage": f"the «notice» {EVIL}"}],
        },
        {
            "title": "Chats · 1 passage",
            "hits": [{"id": 1, "place": "Notice", "passage": "«notice»"}],
        },
    ],
    "said": "Looked through 2 libraries and 12 chats of this machine.",
}
NOTHING = {"groups": [], "said": "Nothing found. Looked through 2 libraries."}


def look(page: Page, query: str, result: object) -> None:
    page.get_by_label("Search libraries and chats").last.fill(query)
    page.keyboard.press("Enter")
    page.wait_for_function("query => model.sent.at(-1).args?.query === query", arg=query)
    kernel(page, "answer", "look_for", {"result": result})


def test_hits_are_grouped_and_one_is_opened_by_keys(page: Page) -> None:
    mount(page, "files", files_state(file_row(1)))
    page.evaluate("""() => {
      window.shown = [];
      const heard = ({ key }) => key !== 'Control' && shown.push(key);
      document.addEventListener('keydown', heard);
      document.addEventListener('carrel:show', (event) => shown.push(event.detail));
    }""")
    page.get_by_role("row", name="file-1.pdf").press("Control+f")
    search = page.get_by_role("dialog", name="Search libraries and chats")
    expect(search).to_be_visible()
    look(page, "notice", FOUND)
    expect(search.get_by_role("heading")).to_have_text(
        ["Search libraries and chats", "contracts · 1 passage", "Chats · 1 passage"]
    )
    expect(search.locator("mark")).to_have_text(["notice", "notice"])
    assert EVIL in search.inner_text()
    assert page.evaluate("window.hacked") is None
    expect(search).to_contain_text("Looked through 2 libraries and 12 chats of this machine.")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert sent(page, "open_found")[0]["args"] == {"query": "notice", "number": 0}
    kernel(page, "answer", "open_found", {"result": "Document"})
    expect(search).to_be_hidden()
    assert page.evaluate("shown") == ["Document"]


def test_nothing_found_says_what_was_looked_through(page: Page) -> None:
    mount(page, "chat", chat_state())
    page.get_by_label("Message").press("Control+f")  # in a field, too
    look(page, "unicorns", NOTHING)
    search = page.get_by_role("dialog", name="Search libraries and chats")
    expect(search).to_contain_text("Nothing found. Looked through 2 libraries.")
    page.keyboard.press("Escape")
    expect(search).to_be_hidden()
    expect(page.locator(".carrel")).to_be_focused()


def test_a_newer_search_is_shown_and_a_failure_said(page: Page) -> None:
    mount(page, "files", files_state())
    page.get_by_role("button", name="Search libraries and chats").click()
    field = page.get_by_label("Search libraries and chats").last
    look(page, "notice", None)  # ended by the next
    look(page, "notices", FOUND)
    search = page.get_by_role("dialog", name="Search libraries and chats")
    expect(search).to_contain_text("lease.pdf p. 2")
    field.fill("notice period")
    field.press("Enter")
    page.wait_for_function("model.sent.at(-1).args?.query === 'notice period'")
    problem = {"title": "The connection failed", "detail": "No server answers.", "advice": None}
    page.evaluate(
        """problem => {
          const asked = model.sent.at(-1);
          const answer = { kind: 'error', rid: asked.rid, to: asked.view, problem };
          model.emit('msg:custom', answer);
        }""",
        problem,
    )
    expect(search).to_contain_text("✕ The connection failed. No server answers.")
    expect(search).not_to_contain_text("lease.pdf")
