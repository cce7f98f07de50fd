"""A document that was read, as plain objects."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import Image

from carrel.notebook.bench.reading import Reading, ReadPage, Table
from carrel.notebook.cells.errors import BenchError
from carrel.notebook.results.frames import own_names
from carrel.notebook.results.pictures import DOUBTFUL, SURE
from carrel.store.core.problem import Problem
from support.pages import TABLE, lease_page

HEAD, *ROWS = (("Year", "Rent"), ("2024", "1,200.00"), ("2025", "1,240.00"))


def blank(page: int, width: int) -> Image.Image:
    return Image.new("RGB", (width, width), "white")


def undrawable(page: int, width: int) -> Image.Image:
    raise BenchError(Problem("No picture of this page", ""))


def reading(draw: Any = blank, annotation: Any = None) -> Reading:
    def no_panel(**options: Any) -> Any:
        raise AssertionError("no panel was asked for")

    pages = tuple(ReadPage(lease_page(index), draw) for index in (0, 1))
    return Reading("lease <1>.pdf", pages, annotation, no_panel)


@pytest.fixture
def pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pandas whose data frames are tuples: the real one is no dependency."""
    module = ModuleType("pandas")
    make = lambda rows, columns: (tuple(columns), *rows)  # noqa: E731
    monkeypatch.setattr(module, "DataFrame", make, raising=False)
    monkeypatch.setitem(sys.modules, "pandas", module)


def test_blocks_and_text_are_there() -> None:
    assert [block.type for block in reading().pages[1].blocks][:2] == ["title", "text"]
    assert reading().markdown.count(TABLE) == 2


def test_a_reading_says_how_sure_it_is() -> None:
    assert repr(reading()) == "<Reading of lease <1>.pdf: 2 pages · 2 tables · 98 % sure>"
    with_options = replace(reading(), options="tables as HTML")
    assert repr(with_options).endswith("98 % sure · tables as HTML>")
    assert "98 % sure · tables as HTML</p>" in with_options._repr_html_()
    assert repr(reading().pages[0]) == "<Page 1 · Check: 1 word · 98 % sure>"
    assert reading().confidence == pytest.approx(0.98)


def test_a_reading_without_text_says_so() -> None:
    page = lease_page(0).model_copy(update={"markdown": "![img-0.jpeg](img-0.jpeg)", "blocks": []})
    empty = replace(reading(), pages=(ReadPage(page, blank),))
    assert repr(empty) == "<Reading of lease <1>.pdf: 1 page · no text found>"


def test_a_reading_shows_its_pages_and_its_text() -> None:
    shown = reading(annotation={"rent": "<b>"})._repr_html_()
    assert shown.count('src="data:image/jpeg') == 2
    assert "lease &lt;1&gt;.pdf" in shown and "&lt;b&gt;" in shown
    assert "<td>1,200.00</td>" in shown and "and 1 more page" in shown


def test_a_document_without_pictures_shows_its_text() -> None:
    shown = reading(undrawable)._repr_html_() + reading(undrawable).pages[0]._repr_html_()
    assert "<img" not in shown and "<td>1,200.00</td>" in shown


def test_a_page_is_a_picture_with_its_boxes() -> None:
    page = reading().pages[0]
    assert page.image.width == 1000, "the size that it was read in"
    colours = {colour for _, colour in page.show(400).getcolors() or ()}
    assert colours == {(255, 255, 255), SURE, DOUBTFUL}


def test_tables_are_texts_in_rows() -> None:
    first, _ = reading().tables
    assert first.rows == (HEAD, *ROWS)
    assert first.csv == 'Year,Rent\r\n2024,"1,200.00"\r\n2025,"1,240.00"\r\n'
    assert repr(first) == "<Table of 2 rows: Year, Rent>"
    assert "<td>1,200.00</td>" in first.to_html()


@pytest.mark.usefixtures("pandas")
def test_tables_are_data_frames_with_a_name_for_every_column() -> None:
    assert reading().tables[0].to_pandas() == (HEAD, *ROWS)
    doubled = Table((("Rent", "", "Rent", " "), ("1", "2", "3", "4")))
    assert doubled.to_pandas()[0] == ("Rent", "column 2", "Rent 2", "column 4")
    assert own_names(["a", "a 2", "a"]) == ["a", "a 2", "a 3"]


@pytest.mark.usefixtures("pandas")
def test_blocks_are_a_data_frame() -> None:
    head, first, *_ = reading().to_pandas()
    assert head[:4] == ("page_number", "type", "text", "confidence")
    assert first[:3] == (1, "title", "# Term") and first[4:] == (0.05, 0.02, 0.85, 0.06)


def test_without_pandas_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(BenchError, match="pip install pandas"):
        reading().to_pandas()


def test_a_reading_is_saved_and_saved_again(tmp_path: Path) -> None:
    made = reading(annotation={"rent": 1200})
    written = made.save(tmp_path / "out")
    assert [path.suffix for path in written] == [".md", ".json", ".csv", ".csv"]
    assert json.loads(written[1].read_text())["document_annotation"] == '{"rent": 1200}'
    assert made.save(tmp_path / "out") == written
    assert len([*(tmp_path / "out").iterdir()]) == 4
