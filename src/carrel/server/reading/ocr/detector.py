"""Detection of lines of text in a picture, inside the OCR process."""

import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from carrel.server.reading.ocr.inference import Pixels, load

Quad = list[list[float]]
"""Four corners in pixels, clockwise from the top left."""

_SIDE = 1600
"""Longest side in pixels of the picture searched for text; reading uses full resolution."""
_MULTIPLE = 32
"""The model takes pictures whose sides are multiples of this many pixels."""


@dataclass(frozen=True)
class DetectedLine:
    """A line of text: its corners, and its deskewed pixels."""

    quad: Quad
    pixels: Pixels

    @property
    def length(self) -> int:
        """The longer side, in pixels."""
        return int(self.pixels.shape[1])

    @property
    def stands(self) -> bool:
        """Whether the line is vertical."""
        (x0, y0), (x1, y1), _, (x3, y3) = self.quad
        return math.hypot(x3 - x0, y3 - y0) > 1.5 * math.hypot(x1 - x0, y1 - y0)


class Detector:
    """Finds lines of text."""

    def __init__(self, path: Path) -> None:
        """Load a PP-OCR detection model."""
        from rapidocr.ch_ppocr_det.utils import DBPostProcess

        self._model = load(path)
        self._boxes = DBPostProcess(
            thresh=0.3, box_thresh=0.5, max_candidates=1000, unclip_ratio=1.6, use_dilation=True
        )

    def find(self, picture: Pixels) -> list[DetectedLine]:
        """Find the lines in a BGR picture, in any order."""
        from rapidocr.utils.process_img import get_rotate_crop_image

        height, width = picture.shape[:2]
        scale = min(1.0, _SIDE / max(width, height)) / _MULTIPLE
        size = [max(1, round(side * scale)) * _MULTIPLE for side in (width, height)]
        # Scaled to -1 to 1, channels first.
        scaled = cv2.resize(picture, size).astype(np.float32) / 127.5 - 1
        tensor = np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])
        boxes, _ = self._boxes(self._model(tensor)[0], (height, width))
        return [
            DetectedLine(corners.tolist(), pixels)
            for corners in np.asarray(boxes, np.float32)
            if (pixels := get_rotate_crop_image(picture, corners)).size
        ]
