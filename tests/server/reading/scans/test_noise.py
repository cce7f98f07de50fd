"""Grain is measured beside text, and taken away only where there is much of it."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from carrel.server.reading.scans.noise import noise, without_noise

PAGE = Image.new("L", (600, 400), 230)
for _row in range(10, 380, 40):
    ImageDraw.Draw(PAGE).text((20, _row), "What stands on the page is not its grain. " * 2, fill=20)


def grainy(deviation: float) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    grain = np.random.default_rng(1).normal(0, deviation, (400, 600))
    return np.asarray((np.asarray(PAGE) + grain).clip(0, 255), np.uint8)


@pytest.mark.parametrize("deviation", [0, 3, 10, 20])
def test_the_noise_of_a_printed_page_is_measured(deviation: float) -> None:
    assert noise(grainy(deviation)) == pytest.approx(deviation, rel=0.25, abs=1)


def test_a_clean_picture_stays_as_it_is() -> None:
    picture = np.dstack([grainy(3)] * 3)
    assert without_noise(picture) is picture


def test_paper_is_smoothed_and_print_stays_dark() -> None:
    smooth = without_noise(np.dstack([grainy(20)] * 3))[:, :, 0].astype(float)
    paper = np.asarray(PAGE) > 200
    margin = smooth[:, :15]
    assert margin.std() < 10
    assert smooth[paper].mean() - smooth[~paper].mean() > 80
