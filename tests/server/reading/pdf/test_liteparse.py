"""The private door of liteparse that a page is parsed through, for after an upgrade."""

import importlib

import pytest

from carrel.server.reading.pdf.liteparse import parse_pages
from support.documents import digital_pdf


def test_the_native_parser_is_still_where_it_was() -> None:
    native = importlib.import_module("liteparse._liteparse")
    parser = getattr(native, "LiteParse", None)
    assert hasattr(parser, "parse_bytes"), (
        "liteparse._liteparse.LiteParse.parse_bytes is gone: parse with liteparse.LiteParse.parse,"
        " which is slower, or find the new native class"
    )


def test_it_gives_all_that_is_read_of_a_page(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = digital_pdf(tmp_path_factory.mktemp("pdf") / "a.pdf")
    (page,) = parse_pages(path.read_bytes(), [0])
    assert page.items and page.trusted
    item = page.items[0]
    assert item.font and item.size > 0 and item.words
    assert item.box.left <= item.words[0].x and item.words[0].width > 0
