"""What the bench gives back, as plain objects."""

import sys
from types import ModuleType
from typing import Any

import pytest

from carrel.notebook.results import Reading
from support.pages import TABLE, lease_page

HEAD, *ROWS = (("Year", "Rent"), ("2024", "1,200.00"), ("2025", "1,240.00"))


def reading() -> Reading:
    def no_panel(**options: Any) -> Any:
        raise AssertionError("no panel was asked for")

    return Reading("lease.pdf", (lease_page(0), lease_page(1)), no_panel)


def test_blocks_and_text_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = reading().pages[1].blocks
    assert blocks is not None and [block.type for block in blocks][:2] == ["title", "text"]
    assert reading().markdown.count(TABLE) == 2


def test_tables_are_texts_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    first, _ = reading().tables
    assert first.rows == (HEAD, *ROWS)
    assert first.csv == 'Year,Rent\r\n2024,"1,200.00"\r\n2025,"1,240.00"\r\n'
    assert repr(first).startswith("| Year | Rent |")
    assert "<td>1,200.00</td>" in first._repr_html_()


def test_tables_are_data_frames_where_pandas_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = ModuleType("pandas")
    monkeypatch.setattr(
        pandas, "DataFrame", lambda rows, columns: (tuple(columns), *rows), raising=False
    )
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert reading().tables == [(HEAD, *ROWS)] * 2
