"""The OCR process: decoded RGB in, lines of text out. It never sees a file.

Run as `python -m carrel.server.reading.ocr`. Each message in is `{"width", "height"}` with
`width * height * 3` bytes; each answer is `{"lines": [...]}`. The first message out says which
engine was loaded and how long that took.
"""

import logging
import os
import sys
import time
from typing import Any, BinaryIO

from carrel.server.reading.frames import Frame, read_frame, write_frame


def _load() -> tuple[Any, str]:
    """The recogniser and the name of its engine: OpenVINO, or onnxruntime where that fails."""
    import numpy as np
    from rapidocr import EngineType, RapidOCR

    for engine in (EngineType.OPENVINO, EngineType.ONNXRUNTIME):
        parameters = {
            # Its line classifier turns good lines over; whole pages are turned instead.
            "Global.use_cls": False,
            "Global.log_level": "error",
            # Pictures arrive in the size they are to be read in.
            "Global.max_side_len": 4096,
            "Det.engine_type": engine,
            "Rec.engine_type": engine,
            # Several servers on one machine would otherwise share one core.
            "EngineConfig.openvino.enable_cpu_pinning": False,
        }
        try:
            recogniser = RapidOCR(params=parameters)
            sample = np.full((64, 256, 3), 255, np.uint8)
            sample[24:40, 32:224:8] = 0
            recogniser(sample, return_word_box=True)
        except Exception:
            if engine is EngineType.ONNXRUNTIME:
                raise
            logging.getLogger(__name__).warning("OpenVINO does not work here", exc_info=True)
        else:
            break
    return recogniser, engine.value


def _quad(points: Any) -> list[list[float]]:
    return [[round(float(x), 1), round(float(y), 1)] for x, y in points]


def _lines(result: Any) -> list[dict[str, Any]]:
    if result.boxes is None or result.txts is None:
        return []
    words = result.word_results or [()] * len(result.txts)
    return [
        {
            "text": text,
            "confidence": float(score),
            "quad": _quad(quad),
            "words": [[word, float(certainty)] for word, certainty, _ in parts if word],
        }
        for text, score, quad, parts in zip(
            result.txts, result.scores, result.boxes, words, strict=True
        )
    ]


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answers until the pipe closes."""
    import numpy as np

    started = time.monotonic()
    recogniser, engine = _load()
    seconds = time.monotonic() - started
    write_frame(answers, Frame({"engine": engine, "seconds": seconds}))
    while frame := read_frame(requests):
        shape = (frame.header["height"], frame.header["width"], 3)
        rgb = np.frombuffer(frame.body, np.uint8).reshape(shape)
        # rapidocr expects OpenCV's order of channels.
        result = recogniser(np.ascontiguousarray(rgb[:, :, ::-1]), return_word_box=True)
        write_frame(answers, Frame({"lines": _lines(result)}))


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not end up between the messages.
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
