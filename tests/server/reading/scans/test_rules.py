"""Rules are seen in pictures of pages as they are drawn."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter

from carrel.server.reading.page.elements import PageFrame
from carrel.server.reading.scans.rules import find_rules
from carrel.server.reading.tables.framed import grids
from support.documents import font

SIZE = (595, 842)
SCALE = 2


@pytest.mark.parametrize("pitch", [11, 20, 40])
def test_a_grid_is_whole_though_letters_stand_close_to_its_rules(pitch: int) -> None:
    page = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), "white")
    pen = ImageDraw.Draw(page)
    edges = {"left": 60, "middle": 82, "right": 400}
    heights = [100 + pitch * row for row in range(6)]
    for y in heights:
        pen.line([(60 * SCALE, y * SCALE), (400 * SCALE, y * SCALE)], "black", 2)
        # Right on the rule below.
        pen.text((300 * SCALE, (y - 1) * SCALE), "12.50", "black", font(16), anchor="ls")
    for x in edges.values():
        pen.line([(x * SCALE, 100 * SCALE), (x * SCALE, heights[-1] * SCALE)], "black", 2)
    grid, *_ = grids(find_rules(page, PageFrame(*SIZE)))
    assert len(grid.fields) == 10
    assert grid.xs == pytest.approx([*edges.values()], abs=1)
    assert grid.ys == pytest.approx(heights, abs=1)


def test_letters_and_bars_are_no_rules() -> None:
    page = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), "white")
    pen = ImageDraw.Draw(page)
    for row in range(8):
        text = "the reading room holds rare volumes and keeps them"
        pen.text((60 * SCALE, (100 + 20 * row) * SCALE), text, "black", font(24, bold=row > 3))
    pen.rectangle([60 * SCALE, 300 * SCALE, 400 * SCALE, 310 * SCALE], "black")
    assert find_rules(page, PageFrame(*SIZE)) == []


def test_the_grain_of_a_noisy_picture_is_no_rule_and_hides_none() -> None:
    page = Image.new("L", (SIZE[0] * SCALE, SIZE[1] * SCALE), "white")
    pen = ImageDraw.Draw(page)
    for row in range(8):
        text = "the reading room holds rare volumes and keeps them"
        pen.text((60 * SCALE, (100 + 20 * row) * SCALE), text, "black", font(24))
    pen.rectangle([60 * SCALE, 400 * SCALE, 400 * SCALE, 500 * SCALE], outline="black", width=2)
    pen.line([(200 * SCALE, 400 * SCALE), (200 * SCALE, 500 * SCALE)], "black", 2)
    grain = np.random.default_rng(1).normal(0, 18, (page.height, page.width))
    pixels = np.asarray(page, np.float64) * 0.85 + 25 + grain
    noisy = Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).convert("RGB")
    grid, *_ = grids(find_rules(noisy, PageFrame(*SIZE)))
    assert grid.xs == pytest.approx((60, 200, 400), abs=1)
    assert grid.ys == pytest.approx((400, 500), abs=1)


def test_hairlines_out_of_focus_are_whole_in_grain() -> None:
    page = Image.new("L", (SIZE[0] * SCALE, SIZE[1] * SCALE), "white")
    pen = ImageDraw.Draw(page)
    heights, edges = [400, 420, 440, 460, 480], [60, 200, 400]
    for row in range(12):
        text = "the reading room holds rare volumes and keeps them for a hundred years"
        pen.text((60 * SCALE, (100 + 12 * row) * SCALE), text, "black", font(14))
    for y in heights:
        pen.line([(60 * SCALE, y * SCALE), (400 * SCALE, y * SCALE)], 60, 1)
    for x in edges:
        pen.line([(x * SCALE, 400 * SCALE), (x * SCALE, 480 * SCALE)], 60, 1)
    grain = np.random.default_rng(2).normal(0, 20, (page.height, page.width))
    pixels = np.asarray(page.filter(ImageFilter.GaussianBlur(0.6)), np.float64) * 0.85 + 25 + grain
    noisy = Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).convert("RGB")
    rules = find_rules(noisy, PageFrame(*SIZE))
    assert len([rule for rule in rules if rule.across]) == len(heights)
    grid, *_ = grids(rules)
    assert grid.xs == pytest.approx(edges, abs=1)
    assert grid.ys == pytest.approx(heights, abs=1)


def test_a_rule_between_columns_is_one_and_a_letters_stroke_is_none() -> None:
    page = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), "white")
    pen = ImageDraw.Draw(page)
    for at, foot in ((300, 700), (150, 180), (20, 800)):
        pen.line([(at * SCALE, 100 * SCALE), (at * SCALE, foot * SCALE)], "black", 3)
    (rule,) = find_rules(page, PageFrame(*SIZE))
    assert not rule.across
    assert (rule.at, rule.start, rule.end) == pytest.approx((300, 100, 700), abs=2)
