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
    hit = {
        "id": 1,
        "document": "d1",
        "page": 6,
        "where": "lease.pdf 7",
        "passage": f"the «notice» {EVIL}",
    }
    mount(page, "library", library_state(query="notice", hits=[hit]))
    expect(page.locator("mark")).to_have_text("notice")
    expect(page.locator(".passage")).to_contain_text(EVIL)
    page.locator(".carrel-hits button").click()
    assert sent(page, "open")[0]["args"] == {"document": "d1", "page": 6}


def test_a_library_is_chosen_with_the_arrows(page: Page) -> None:
    mount(page, "library", library_state())
    page.get_by_role("option", name="contracts").focus()
    page.keyboard.press("ArrowDown")
    assert sent(page, "choose")[0]["args"] == {"library": "l2"}
