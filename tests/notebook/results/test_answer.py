"""An answer as a plain object."""

from dataclasses import replace
from pathlib import Path

from PIL import Image

from carrel.notebook.cells.errors import BenchError
from carrel.notebook.results.answer import Answer, Source
from carrel.store.core.problem import Problem
from carrel.wire.generation.completions import Passage, Usage


def blank(passage: Passage, width: int) -> Image.Image:
    return Image.new("RGB", (width, width), "white")


def gone(passage: Passage, width: int) -> Image.Image:
    raise BenchError(Problem("Not there any more", ""))


def answer(draw: object = blank) -> Answer:
    passage = Passage(
        index=1,
        library_id="l",
        document_id="d",
        document_name="lease <1>.pdf",
        page=6,
        snippet="Three months.",
    )
    source = Source(passage, draw)  # type: ignore[arg-type]
    return Answer("support", "Three **months** [1].", (source,), Usage(), 4)


def test_an_answer_shows_its_text_and_the_pages_of_its_sources() -> None:
    shown = answer()._repr_html_()
    assert "<strong>months</strong>" in shown and "<li>lease &lt;1&gt;.pdf p. 7</li>" in shown
    assert shown.count('src="data:image/jpeg') == 1
    assert "<img" not in answer(gone)._repr_html_()


def test_a_source_shows_its_page() -> None:
    (source,) = answer().sources
    assert source.show(300).width == 300
    assert (source.page_number, source.snippet) == (7, "Three months.")
    assert "Three months." in source._repr_html_()
    assert "lease <1>.pdf" in repr(source)


def test_an_answer_is_saved_with_its_sources(tmp_path: Path) -> None:
    path = answer().save(tmp_path / "answers")
    assert path.name == "support v4.md"
    text = path.read_text("utf-8")
    assert text.startswith("Three **months** [1].") and "1. lease <1>.pdf p. 7" in text


def test_passages_that_are_given_are_told_apart_from_those_that_are_cited() -> None:
    cited = answer()
    assert "<p>Sources</p>" in cited.to_html()
    assert "<p>Sources, none cited</p>" in replace(cited, text="Three.").to_html()
