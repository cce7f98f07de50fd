import json

import pytest
from playwright.sync_api import Page, expect

from carrel.notebook.panels.core import assets
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


def test_digits_go_to_the_places_but_in_a_field(page: Page) -> None:
    mount(page, "workbench", workbench_state())
    page.get_by_role("tabpanel").press("5")
    expect(page.get_by_role("tab", name="Chat")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel")).to_be_focused()
    place = page.get_by_role("tabpanel")
    place.evaluate("one => one.append(document.createElement('input'))")
    place.locator("input").press("1")
    expect(page.get_by_role("tab", name="Chat")).to_have_attribute("aria-selected", "true")
    expect(place.locator("input")).to_have_value("1")


def test_the_badge_and_the_line_below_follow_the_connection(page: Page) -> None:
    mount(page, "workbench", workbench_state())
    lost = {"text": "local ○ lost", "role": "waiting"}
    kernel(page, "state", {"badge": lost, "connection": "○ Offline: showing a copy from 14:02"})
    expect(page.locator(".carrel-connection")).to_have_text("local ○ lost")
    expect(page.get_by_text("○ Offline: showing a copy from 14:02")).to_be_visible()


@pytest.mark.parametrize("width", [560, 280])
def test_a_narrow_workbench_shows_every_tab_and_the_whole_state(page: Page, width: int) -> None:
    mount(page, "workbench", workbench_state())
    ready = {"text": "local ● ready · smollm2 (test model)", "role": "ready"}
    tabs = [{**tab, "label": f"{tab['label']} ◐1 ✕1"} for tab in workbench_state()["tabs"]]
    kernel(page, "state", {"badge": ready, "tabs": tabs})
    page.set_viewport_size({"width": width, "height": 700})
    for one in (*page.get_by_role("tab").all(), page.locator(".carrel-connection")):
        room = one.bounding_box()
        assert room is not None and room["x"] >= 0 and room["x"] + room["width"] <= width
    badge = page.locator(".carrel-connection")
    assert badge.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_a_kernel_that_is_gone_is_said_once(page: Page) -> None:
    mount(page, "workbench", workbench_state())
    state = files_state(file_row(1), connection="")
    page.evaluate(
        """async ([module, state]) => {
          const address = URL.createObjectURL(new Blob([module], { type: 'text/javascript' }));
          const el = document.querySelector('[role=tabpanel]');
          const inner = new FakeModel(state);
          inner.send = () => { throw new Error('Cannot send'); };
          const { default: widget } = await import(address);
          await widget.render({ model: inner, el, signal: controller.signal });
        }""",
        [assets.module("files"), state],
    )
    expect(page.get_by_role("alert").filter(has_text="The kernel is gone.")).to_have_count(1)
    expect(page.locator(".carrel-workbench")).to_have_class("carrel carrel-workbench gone")
    expect(page.locator(".carrel-files")).to_have_class("carrel carrel-files gone")


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
