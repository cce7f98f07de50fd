"""The inner modules of rapidocr that lines are found with, for after an upgrade."""

import importlib
import inspect

import pytest


@pytest.mark.parametrize(
    ("module", "name", "parameters"),
    [
        ("rapidocr.ch_ppocr_det.utils", "DBPostProcess", {"thresh", "box_thresh", "unclip_ratio"}),
        ("rapidocr.utils.process_img", "get_rotate_crop_image", {"img", "points"}),
    ],
)
def test_rapidocr_still_has(module: str, name: str, parameters: set[str]) -> None:
    door = getattr(importlib.import_module(module), name, None)
    assert door is not None, f"{module}.{name} is gone: see carrel.server.reading.ocr.detector"
    assert parameters <= set(inspect.signature(door).parameters), f"{name} takes other arguments"
