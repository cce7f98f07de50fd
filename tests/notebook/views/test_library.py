import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, kernel, library_state, mount, sent

pytestmark = pytest.mark.xdist_group("browser")


def test_a_status_moves_without_losing_the_row(page: Page) -> None:
    busy = {"text": "◐ Processing", "role": "busy"}
    mount(
        page,
        "library",
        library_state(rows=[{"id": "d1", "cells": ["lease.pdf", busy, "–", "now", ""]}]),
    )
    page.evaluate("window.kept = document.querySelector('tbody tr')")
    kernel(page, "state", library_state())
    expect(page.get_by_role("row", name="lease.pdf")).to_contain_text("● Ready")
    assert page.evaluate("window.kept.isConnected")


def test_a_hit_shows_what_matched_and_opens_its_page(page: Page) -> None:
    hit = {"id": 1, "where": "lease.pdf · page 7", "passage": f"the «notice» {EVIL}"}
    mount(page, "library", library_state(query="notice", hits=[hit]))
    expect(page.locator("mark")).to_have_text("notice")
    expect(page.locator(".passage")).to_contain_text(EVIL)
    page.locator(".carrel-hits button").click()
    assert sent(page, "open_hit")[0]["args"] == {"number": 1}


def test_a_library_is_chosen_with_the_arrows(page: Page) -> None:
    mount(page, "library", library_state())
    page.get_by_role("option", name="contracts").focus()
    page.keyboard.press("ArrowDown")
    assert sent(page, "choose")[0]["args"] == {"library": "l2"}


def test_the_arrow_down_from_the_search_enters_the_documents(page: Page) -> None:
    mount(page, "library", library_state())
    page.locator(".carrel-library, .carrel-libraries").first.focus()
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("row", name="lease.pdf")).to_be_focused()


def test_particulars_and_pages_of_a_long_list(page: Page) -> None:
    state = library_state(range="1–50 of 120", last_page=2)
    mount(page, "library", state)
    details = page.locator(".details")
    expect(details).to_contain_text("shelf")
    expect(details).to_contain_text("Lease between two parties.")
    page.get_by_role("button", name="Page after").click()
    assert sent(page, "page")[0]["args"] == {"page": 1}
    details.get_by_role("button", name="Text").click()
    assert sent(page, "text")[0]["args"] == {"library": "l1", "document": "d1"}
    kernel(page, "state", {**state, "details": {**state["details"], "text": f"Term {EVIL}"}})
    expect(page.get_by_label("Text of the document")).to_have_text(f"Term {EVIL}")


def test_a_document_is_renamed_and_a_library_without_one(page: Page) -> None:
    mount(page, "library", library_state())
    page.get_by_role("button", name="Rename…").click()
    field = page.get_by_label("New name")
    expect(field).to_have_value("lease.pdf")
    field.fill("rent.pdf")
    page.keyboard.press("Enter")
    assert sent(page, "rename")[0]["args"] == {
        "library": "l1",
        "name": "rent.pdf",
        "document": "d1",
    }
    kernel(page, "state", library_state(rows=[], document=None))
    page.get_by_role("button", name="Rename…").click()
    expect(field).to_have_value("contracts")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    assert len(sent(page, "delete_library")) == 1
