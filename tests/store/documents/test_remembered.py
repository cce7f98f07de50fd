from pathlib import Path

import pytest

from carrel.store.documents.reader import USUAL, OCROptions
from carrel.store.documents.remembered import KINDS, RememberedOptions


def test_options_are_remembered_by_kind(tmp_path: Path) -> None:
    remembered = RememberedOptions(tmp_path)
    html = OCROptions(tables="html", scores="page", headers=True, pictures=True)
    remembered.note("lease.PDF", OCROptions("1-3", "html", True, "page", True, '{"a": 1}'))
    remembered.note("scan.png", OCROptions(tables="markdown"))
    remembered.save()
    again = RememberedOptions(tmp_path)
    assert again.of("other.pdf") == html, "pages and a schema are of one document"
    assert again.of("photo.JPG").tables == "markdown", "pictures are one kind"
    assert again.of("notes.docx") == again.of("no ending") == USUAL


def test_only_the_kinds_chosen_last_are_remembered(tmp_path: Path) -> None:
    remembered = RememberedOptions(tmp_path)
    for number in range(KINDS + 1):
        remembered.note(f"a.kind{number}", OCROptions(tables="html"))
    assert remembered.of("b.kind0") == USUAL
    assert remembered.of("b.kind1") != USUAL


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", '{"format": 0}', '{"format": 1, "kinds": {"pdf": {}}}',
        '{"format": 1, "kinds": {"pdf": {"tables": "no", "scores": "word", "headers": false, '
        '"pictures": false}}}',
    ],
)  # fmt: skip
def test_damaged_options_are_the_usual_ones(tmp_path: Path, text: str) -> None:
    (tmp_path / "ocr-options.json").write_text(text)
    assert RememberedOptions(tmp_path).of("a.pdf") == USUAL
