import pytest
from playwright.sync_api import Page, expect

from support.views import file_row, files_state, library_state, mount, preview

pytestmark = pytest.mark.xdist_group("browser")

STATES = {
    "files": files_state(file_row(1), preview=preview(name="lease.pdf", note="A lease.")),
    "library": library_state(),
}


@pytest.mark.parametrize("panel", STATES)
def test_details_are_reached_in_a_narrow_panel(page: Page, panel: str) -> None:
    page.set_viewport_size({"width": 600, "height": 700})
    mount(page, panel, STATES[panel])
    name = page.get_by_role("heading", name="lease.pdf")
    expect(name).to_be_hidden()
    page.get_by_role("button", name="Details", exact=True).click()
    expect(name).to_be_visible()
    close = page.get_by_role("button", name="Close the details")
    expect(close).to_be_focused()
    close.click()
    expect(name).to_be_hidden()
    expect(page.get_by_role("button", name="Details", exact=True)).to_be_focused()


@pytest.mark.parametrize("panel", STATES)
def test_a_key_folds_the_details_of_a_wide_panel(page: Page, panel: str) -> None:
    mount(page, panel, STATES[panel])
    name = page.get_by_role("heading", name="lease.pdf")
    expect(name).to_be_visible()
    page.locator(".carrel").press("i")
    expect(name).to_be_hidden()
    page.locator(".carrel").press("i")
    expect(name).to_be_visible()
