import json

import pytest
from playwright.sync_api import Page, expect

from support.views import file_row, files_state, kernel, mount, workbench_state

pytestmark = pytest.mark.xdist_group("browser")


def test_a_place_is_drawn_when_it_is_first_shown(page: Page) -> None:
    mount(page, "workbench", workbench_state())
    expect(page.get_by_role("tabpanel")).to_have_text("panel anywidget:Files")
    page.get_by_role("tab", name="Files").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Libraries")).to_be_focused()
    expect(page.get_by_role("tabpanel")).to_have_text("panel anywidget:Libraries")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("children.length === 2")
    page.keyboard.press("End")
    expect(page.get_by_role("tab", name="Activity")).to_have_attribute("aria-selected", "true")


def test_a_panel_inside_can_show_another_place(page: Page) -> None:
    mount(page, "workbench", workbench_state())
    page.evaluate("""() => document.querySelector('[role=tabpanel]').dispatchEvent(
      new CustomEvent('carrel:show', { bubbles: true, cancelable: true, detail: 'Document' }))""")
    expect(page.get_by_role("tab", name="Document")).to_have_attribute("aria-selected", "true")
    # The focus goes there: keys such as ? go on working.
    expect(page.get_by_role("tabpanel")).to_be_focused()


def test_the_badge_and_the_line_below_follow_the_connection(page: Page) -> None:
    mount(page, "workbench", workbench_state())
    lost = {"text": "local ○ lost", "role": "waiting"}
    kernel(page, "state", {"badge": lost, "connection": "○ Offline: showing a copy from 14:02"})
    expect(page.locator(".carrel-connection")).to_have_text("local ○ lost")
    expect(page.get_by_text("○ Offline: showing a copy from 14:02")).to_be_visible()


@pytest.mark.parametrize("dark", [True, False])
def test_colours_come_from_the_host(page: Page, dark: bool) -> None:
    back = "rgb(17, 17, 17)" if dark else "rgb(250, 250, 250)"
    page.evaluate(
        """([back, light]) => {
          document.body.dataset.jpThemeLight = light;
          document.body.style.setProperty('--jp-layout-color1', back);
        }""",
        [back, json.dumps(not dark)],
    )
    mount(page, "files", files_state(file_row(1)))
    style = page.evaluate(
        """() => {
          const style = getComputedStyle(document.querySelector('.carrel'));
          return [style.backgroundColor, style.colorScheme];
        }"""
    )
    assert style == [back, "dark" if dark else "light"]
