import pytest
from playwright.sync_api import Page, expect

from support.views import LAYOUT, file_row, files_state, kernel, library_state, mount, sent

pytestmark = pytest.mark.xdist_group("browser")


def layout(column: str | None = None, *, descending: bool = False, **widths: int) -> object:
    sort = column and {"column": column, "descending": descending}
    return {"sort": sort, "widths": widths}


def test_a_click_on_a_head_sorts_by_its_column(page: Page) -> None:
    mount(page, "files", files_state(file_row(1), file_row(2)))
    page.get_by_role("button", name="Size").click()
    assert sent(page, "sort")[0]["args"] == {"column": "size"}
    kernel(page, "state", {"layout": layout("size", descending=True)})
    head = page.get_by_role("columnheader", name="Size ↓")
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "none")


def test_a_column_that_cannot_be_sorted_has_no_button(page: Page) -> None:
    mount(page, "library", library_state())
    expect(page.get_by_role("columnheader", name="Summary")).to_be_visible()
    assert page.get_by_role("button", name="Summary").count() == 0


def test_the_edge_of_a_head_is_dragged(page: Page) -> None:
    mount(page, "files", files_state(file_row(1, "a long name " * 9)))
    head = page.get_by_role("columnheader", name="Name")
    before = head.bounding_box()
    edge = head.locator(".carrel-edge").bounding_box()
    assert before is not None and edge is not None
    y = edge["y"] + 5
    page.mouse.move(edge["x"] + 2, y)
    page.mouse.down()
    page.mouse.move(edge["x"] - 100, y)
    kernel(page, "state", {"range": "drawn while it is dragged"})
    page.mouse.move(edge["x"] - 98, y)
    page.mouse.up()
    after = head.bounding_box()
    assert after is not None
    assert after["width"] == pytest.approx(before["width"] - 100, abs=edge["width"])
    (widened,) = sent(page, "widen")
    assert widened["args"]["column"] == "name"
    width = widened["args"]["width"]
    assert width == pytest.approx(after["width"] / edge["width"], abs=1)


def test_a_column_is_widened_by_keys_and_by_the_kernel(page: Page) -> None:
    mount(page, "files", files_state(file_row(1), layout=layout(purpose=20)))
    head = page.get_by_role("columnheader", name="Purpose")
    first = head.bounding_box()
    page.get_by_role("button", name="Purpose").press("Shift+ArrowRight")
    assert sent(page, "widen")[0]["args"] == {"column": "purpose", "width": 22}
    second = head.bounding_box()
    assert first is not None and second is not None and second["width"] > first["width"]


def test_a_narrow_panel_leaves_out_the_column_that_is_always_the_same(page: Page) -> None:
    rows = [
        file_row(number, f"minutes of the assembly of the society {number}.pdf")
        for number in (1, 2)
    ]
    rows[0]["cells"][2:] = ["1.2 MB", "12", {"text": "● done", "role": "ready"}, "now"]
    rows[1]["cells"][2:] = ["9 kB", "1", {"text": "✕ failed", "role": "failed"}, "1 h ago"]
    mount(page, "files", files_state(*rows))

    def heads() -> list[str]:
        return page.get_by_role("columnheader").filter(visible=True).all_inner_texts()

    every = ["Marked", "Name", "Purpose", "Size", "Pages", "OCR", "Created"]
    page.set_viewport_size({"width": 640, "height": 700})
    page.wait_for_function("document.querySelector('th:nth-child(3)').offsetWidth === 0")
    assert heads() == [one for one in every if one != "Purpose"]
    page.set_viewport_size({"width": 340, "height": 700})
    page.wait_for_function("document.querySelector('th:nth-child(4)').offsetWidth === 0")
    assert heads() == ["Marked", "Name", "OCR"]
    page.set_viewport_size({"width": 1400, "height": 700})
    expect(page.get_by_role("columnheader", name="Purpose")).to_be_visible()
    assert heads() == every


def test_in_a_narrow_panel_a_note_stands_under_its_row(page: Page) -> None:
    note = "This file can't be read. It is no PDF, or it is damaged. Open it in a viewer."
    cells = ["OCR", "a.pdf", {"text": "✕ Failed", "role": "failed"}, "", "", "", note]
    rows = [{"id": "1", "cells": cells, "running": False, "retryable": True}]
    mount(page, "activity", {"rows": rows, "empty": "", "layout": LAYOUT, "problem": None})
    cell, name = page.get_by_role("gridcell", name=note), page.get_by_role("gridcell", name="a.pdf")
    page.set_viewport_size({"width": 600, "height": 700})
    page.wait_for_function("document.querySelector('th.wide').offsetWidth === 0")
    under, over = cell.bounding_box(), name.bounding_box()
    assert under is not None and over is not None
    assert under["width"] > 500 and under["y"] >= over["y"] + over["height"]
    page.set_viewport_size({"width": 1000, "height": 700})
    expect(page.get_by_role("columnheader", name="Note")).to_be_visible()


def test_a_chosen_row_stays_in_view(page: Page) -> None:
    rows = [file_row(number) for number in range(60)]
    mount(page, "files", files_state(*rows))
    far = page.get_by_role("row", name="file-50.pdf")
    expect(far).not_to_be_in_viewport()
    kernel(page, "state", {"selected": "f50"})
    expect(far).to_be_in_viewport()
    kernel(page, "state", {"rows": rows[::-1], "layout": layout("name", descending=True)})
    expect(far).to_be_in_viewport()


def test_rows_have_the_colour_of_the_host(page: Page) -> None:
    page.add_style_tag(content="body { --vscode-foreground: rgb(1, 2, 3); }")
    mount(page, "files", files_state(file_row(1)))
    expect(page.locator("tbody td.name")).to_have_css("color", "rgb(1, 2, 3)")


@pytest.mark.parametrize(
    ("attribute", "value", "scheme"),
    [
        ("class", "vscode-dark", "dark"),
        ("class", "vscode-high-contrast", "dark"),
        ("class", "vscode-high-contrast vscode-high-contrast-light", "light"),
        ("style", "color-scheme: dark", "dark"),
        ("data-jp-theme-light", "false", "dark"),
    ],
)
def test_fields_and_scroll_bars_follow_the_host(
    page: Page, attribute: str, value: str, scheme: str
) -> None:
    page.evaluate("([name, value]) => document.body.setAttribute(name, value)", [attribute, value])
    mount(page, "files", files_state(file_row(1)))
    expect(page.locator(".carrel")).to_have_css("color-scheme", scheme)


def opened(page: Page) -> object:
    """The file that the button opens."""
    page.get_by_role("button", name="Run OCR").click()
    return sent(page, "open")[-1]["args"]["id"]


def test_a_state_from_before_a_click_does_not_take_it_back(page: Page) -> None:
    rows = (file_row(1), file_row(2), file_row(3))
    mount(page, "files", files_state(*rows))
    page.get_by_role("row", name="file-2.pdf").click()
    kernel(page, "state", {"rows": [file_row(4), *rows], "selected": "f1"})
    assert opened(page) == "f2"
    kernel(page, "answer", "select", {})
    kernel(page, "state", {"selected": "f2", "range": "4 files"})
    assert opened(page) == "f2"
    kernel(page, "state", {"selected": "f3"})
    assert opened(page) == "f3"


def test_a_row_that_comes_back_is_chosen_again(page: Page) -> None:
    mount(page, "files", files_state(file_row(1), file_row(2)))
    page.get_by_role("row", name="file-2.pdf").click()
    kernel(page, "answer", "select", {})
    for rows in ([file_row(1)], [file_row(1), file_row(2)]):
        kernel(page, "state", {"rows": rows, "selected": "f2"})
    assert opened(page) == "f2"


def test_a_choice_that_is_refused_follows_the_kernel_again(page: Page) -> None:
    mount(page, "files", files_state(file_row(1), file_row(2)))
    page.get_by_role("row", name="file-2.pdf").click()
    problem = {"title": "The service does not answer", "detail": "", "hint": ""}
    kernel(page, "answer", "select", {"kind": "error", "problem": problem})
    kernel(page, "state", {"selected": "f1", "range": "2 files"})
    assert opened(page) == "f1"
