"""Pages with truth: every letter of a page is an element's, and a perfect answer scores 1."""

import json
import os
import random
import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from benchmarks.unseen.distance import Node, likeness, tree_distance
from benchmarks.unseen.scoring import score, table_likeness
from benchmarks.unseen.structure import Structure, Truth, answer, truth
from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page_model.features import Surroundings
from corpus.compose import Composer
from corpus.damage import scan
from corpus.document import Document
from corpus.document import number as numbered
from corpus.freehand import Freehand
from corpus.looks import Look
from corpus.make import make
from corpus.receipts import Receipt
from corpus.sources import Library
from corpus.tagged import page_truth
from corpus.truth import letters
from corpus.typesetters import reportlab_
from corpus.webpage import Page
from support.tables import Grid
from teaching.dataset import LabelledPage, labelled_pages, views
from teaching.variation import varied

_PROSE = "The reading room opens at nine and closes at six, and a lamp stands on every desk. "


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few texts and a table to make pages of."""
    content = tmp_path_factory.mktemp("content")
    for number in range(6):
        sections = [f"# Shelf {number}\n\n{_PROSE * 3}\n\n- one lamp\n- two desks\n"] * 5
        (content / f"text-{number}.md").write_text("\n".join(sections))
    rows = [f"Oslo {k},{k * 7},{k / 3:.5f}" for k in range(60)]
    (content / "loans.csv").write_text("\n".join(["place,loans,share", *rows]))
    return content


@pytest.fixture(scope="module")
def made(content: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages that reportlab set."""
    out = tmp_path_factory.mktemp("out")
    assert make(content, out, "train", "reportlab", 12, seed=1).pages >= 12
    return out / "train" / "reportlab"


def test_every_letter_lies_in_a_box_of_its_page(made: Path) -> None:
    for path in made.glob("*.pdf"):
        about = json.loads(path.with_suffix(".json").read_text())
        document = pypdfium2.PdfDocument(path)
        for page, told in zip(document, about["pages"], strict=True):
            boxes = [box for element in told["elements"] for box in element["boxes"]]
            for letter in letters(page):
                x, y = (letter.left + letter.right) / 2, (letter.top + letter.bottom) / 2
                assert any(
                    left - 1 <= x <= right + 1 and top - 1 <= y <= bottom + 1
                    for left, top, right, bottom in boxes
                ), (path, letter)
        document.close()


def test_the_same_seed_makes_the_same_truth(content: Path, made: Path, tmp_path: Path) -> None:
    first = sorted(made.glob("*.json"))[0]
    make(content, tmp_path, "train", "reportlab", 1, seed=1)
    again = tmp_path / "train" / "reportlab" / first.name
    assert json.loads(again.read_text()) == json.loads(first.read_text())


def test_a_crash_of_the_typesetter_drops_one_document_alone(
    content: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_both, crashed = reportlab_.set_both, tmp_path / "crashed"

    def crash_once(document: Document, look: Look) -> tuple[bytes, bytes]:
        if not crashed.exists():
            crashed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return set_both(document, look)

    monkeypatch.setattr(reportlab_, "set_both", crash_once)
    result = make(content, tmp_path, "train", "reportlab", 3, seed=1)
    assert result.pages >= 3
    assert result.dropped["crash of the typesetter"] == 1


def test_the_cells_of_a_table_fill_its_grid(made: Path) -> None:
    grids = [grid for told in _truths(made) for grid in told.structure.tables]
    assert grids
    for grid in grids:
        places = [
            (row, column)
            for cell in grid
            for row in range(cell.row, cell.row + cell.rows)
            for column in range(cell.column, cell.column + cell.columns)
        ]
        assert len(places) == len(set(places))


def test_a_scan_keeps_the_truth_and_has_no_letters(made: Path, tmp_path: Path) -> None:
    source = sorted(made.glob("*.pdf"))[0]
    pages = scan(source, tmp_path / source.name, random.Random(2))
    document = pypdfium2.PdfDocument(tmp_path / source.name)
    assert len(document) == pages
    assert not [letter for page in document for letter in letters(page)]
    document.close()
    assert truth(tmp_path / source.name).structure == truth(source).structure


def test_what_ocr_finds_in_a_scan_has_the_truth_of_its_letters(made: Path, tmp_path: Path) -> None:
    source = next(path for path in sorted(made.glob("*.pdf")) if "cell" in _roles(path))
    scan(source, tmp_path / source.name, random.Random(2))
    pages = labelled_pages(tmp_path / source.name)
    assert pages and all(page.around.scanned for page in pages)
    pieces = [piece for page in pages for row in page.rows for piece in row]
    labels = [label for page in pages for label in page.labels]
    told = [pair for pair in zip(pieces, labels, strict=True) if pair[1]]
    assert len(told) > 0.8 * len(pieces)
    words = [(word, label["text"]) for piece, label in told if label for word in piece.text.split()]
    assert sum(word in text for word, text in words) > 0.8 * len(words)
    assert {label["role"] for _, label in told if label} >= {"cell", "text"}


def test_the_role_of_text_on_a_shade_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "desk.pdf"
    canvas = Canvas(str(path), (595, 842))
    canvas.setFillGray(0.8)
    canvas.rect(60, 600, 400, 60, stroke=0, fill=1)
    canvas.setFillGray(0)
    elements = []
    for number, y in enumerate((630, 500), 1):
        canvas.drawString(72, y, "A lamp stands on every desk of the reading room.")
        box = [72, 842 - y - 10, 350, 842 - y + 3]
        elements.append({"id": number, "role": "text", "boxes": [box]})
    canvas.save()
    path.with_suffix(".json").write_text(json.dumps({"pages": [{"elements": elements}]}))
    (page,) = labelled_pages(path)
    assert [label and label["role"] for label in page.labels] == [None, "text"]
    assert all(page.labels)


def test_truth_by_hand_is_believed_more_than_teachers() -> None:
    rows = [[Line("A lamp stands on every desk.", Box(72, 90, 250, 100), 10)]]
    around = Surroundings(595, 842)

    def trust(name: str, role: str | None) -> float:
        label = {"id": 1, "role": role} if role else None
        (kind,) = {view.kind for view in views(LabelledPage(name, rows, around, [label]), 1)}
        return kind.trust

    assert trust("hand/desk/0", "text") < trust("typst/desk/0", "text") < 1
    assert trust("plain/desk/0", None) == trust("hand/desk/0", None) == 1


def test_a_text_taller_than_a_map_is_strewn_over_it() -> None:
    rows = [[Line("A", Box(50, 50, 90, 800), 10)], [Line("Name", Box(50, 810, 80, 820), 10)]]
    labels = [{"id": number, "role": "text"} for number in range(2)]
    around = Surroundings(595, 842)
    for seed in range(80):
        made, _, known = varied(rows, around, labels, np.random.default_rng(seed))
        assert len(known) == sum(map(len, made))


@pytest.mark.parametrize("kind", [Freehand, Receipt])
@pytest.mark.parametrize("seed", range(8))
def test_each_text_of_a_page_in_its_own_html_has_its_number(
    content: Path, seed: int, kind: type[Freehand | Receipt]
) -> None:
    rng = random.Random(seed)
    composer = Composer(Library(content), "en", 1, rng)
    document = kind(composer).document()
    leaves = numbered(document)
    written = re.findall(r'data-leaf="(\d+)"', Page(document, Look(), twin=True).html())
    margins = {leaf.id for leaf in document.margins.leaves()}
    assert sorted(map(int, written)) == sorted(set(leaves) - margins)


_Text = tuple[str, str, float, float]
"""A kind, and a text with its place from the lower left corner."""
_LONG: _Text = ("P", (_PROSE.strip() + "\n") * 4, 72, 700)
_CELLS: list[list[_Text]] = [
    [("TH", "place", 72, 560), ("TH", "loans", 220, 560), ("TH", "share", 340, 560)],
    [("TD", "Oslo", 72, 540), ("TD", "412", 220, 540), ("TD", "0.62", 340, 540)],
    [("TD", "Bergen", 72, 520), ("TD", "207", 220, 520), ("TD", "0.38", 340, 520)],
]


def _tagged(texts: list[_Text], rows: list[list[_Text]]) -> bytes:
    """Return a page with its structure tree: texts, then a table."""
    tree: dict[int, str] = {}
    content: list[str] = []
    owners: list[int] = []

    def leaf(parent: int, kind: str, text: str, x: float, y: float) -> int:
        owner, mark = 10 + len(tree), len(owners)
        tree[owner] = f"<</S/{kind}/P {parent} 0 R/Pg 3 0 R/K {mark}>>"
        owners.append(owner)
        lines = " ".join(f"({line}) Tj T*" for line in text.split("\n"))
        font = f"/F {20 if kind == 'H1' else 10} Tf"
        content.append(f"/{kind}<</MCID {mark}>>BDC BT {font} {x} {y} Td 12 TL {lines} ET EMC")
        return owner

    def branch(parent: int, kind: str) -> int:
        owner = 10 + len(tree)
        tree[owner] = f"<</S/{kind}/P {parent} 0 R/K []>>"
        return owner

    def grow(owner: int, kids: list[int]) -> None:
        told = " ".join(f"{kid} 0 R" for kid in kids)
        tree[owner] = tree[owner].replace("[]", f"[{told}]")

    tops = [leaf(6, *text) for text in texts]
    if rows:
        tops.append(table := branch(6, "Table"))
        lines = [branch(table, "TR") for _ in rows]
        grow(table, lines)
        for line, cells in zip(lines, rows, strict=True):
            grow(line, [leaf(line, *cell) for cell in cells])
    stream = "\n".join(content)
    tree[6] = "<</S/Document/P 5 0 R/K []>>"
    grow(6, tops)
    objects = {
        1: "<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 5 0 R>>",
        2: "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/StructParents 0"
        "/Resources<</Font<</F 8 0 R>>>>>>",
        4: f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
        5: "<</Type/StructTreeRoot/K 6 0 R/ParentTree 7 0 R>>",
        7: f"<</Nums[0 [{' '.join(f'{owner} 0 R' for owner in owners)}]]>>",
        8: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        **tree,
    }
    written = "".join(f"{name} 0 obj{body}\nendobj\n" for name, body in objects.items())
    return f"%PDF-1.7\n{written}trailer<</Size {max(objects) + 1}/Root 1 0 R>>\n%%EOF".encode()


def _told(texts: list[_Text], rows: list[list[_Text]]) -> list[dict[str, Any]]:
    with pypdfium2.PdfDocument(_tagged(texts, rows)) as document:
        found: list[dict[str, Any]] = page_truth(document[0])["elements"]
        return found


def test_a_structure_tree_tells_headings_paragraphs_and_tables() -> None:
    told = _told([("H1", "Loans", 72, 760), _LONG], _CELLS)
    assert [one["role"] for one in told[:2]] == ["heading", "text"]
    cells = {one["text"]: (one["row"], one["column"], one["head"]) for one in told[2:]}
    assert cells["loans"] == (0, 1, True)
    assert cells["0.38"] == (2, 2, False)


def test_a_tree_whose_columns_cross_tells_no_table() -> None:
    crossed: list[_Text] = [("TD", "Bergen", 340, 520), ("TD", "207", 72, 520)]
    told = _told([("H1", "Loans", 72, 760), _LONG], [*_CELLS[:2], crossed])
    assert [one["role"] for one in told] == ["heading", "text"]


def test_a_paragraph_that_may_be_anything_has_no_role() -> None:
    told = _told([("P", "Loans of the reading rooms", 72, 760), _LONG], [])
    assert [one["role"] for one in told] == [None, "text"]


def test_an_answer_as_the_truth_scores_one(made: Path) -> None:
    for told in _truths(made):
        found = score(told.structure, told.structure)
        assert (found.order, found.tables or 1, found.headings or 1) == (1, 1, 1)


def test_markdown_is_taken_apart() -> None:
    found = answer(
        "# Loans\n\nOf *last* year.\n\n| Place | Loans |\n|---|---|\n| Oslo | 7 |\n\n"
        "<table><tr><td colspan=2>All</td></tr><tr><td>1</td><td>2</td></tr></table>\n"
    )
    assert found.headings == [(1, "Loans")]
    assert [len(grid) for grid in found.tables] == [4, 3]
    assert found.tables[1][0].columns == 2
    assert "last" in found.text and "Oslo" in found.text


def test_a_missing_row_costs_its_nodes() -> None:
    whole = answer("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n").tables[0]
    part = answer("| a | b |\n|---|---|\n| 1 | 2 |\n").tables[0]
    assert table_likeness(whole, part) == pytest.approx(1 - 3 / 10)


def test_a_table_too_many_halves_the_tables() -> None:
    grid: Grid = answer("| a | b |\n|---|---|\n| 1 | 2 |\n").tables[0]
    true, found = Structure("ab12", [grid]), Structure("ab12", [grid, grid])
    assert score(true, found).tables == pytest.approx(0.5)


@given(st.text("abc ", max_size=30), st.text("abc ", max_size=30))
def test_likeness_is_that_of_the_common_subsequence(one: str, other: str) -> None:
    rows = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            rows[i + 1][j + 1] = rows[i][j] + 1 if a == b else max(rows[i][j + 1], rows[i + 1][j])
    total = len(one) + len(other)
    assert likeness(one, other) == pytest.approx(2 * rows[-1][-1] / total if total else 1.0)


_TREES = st.recursive(
    st.builds(Node, st.sampled_from("ab")),
    lambda inner: st.builds(Node, st.sampled_from("ab"), st.just(""), st.lists(inner, max_size=3)),
    max_leaves=6,
)


@given(_TREES, _TREES)
def test_the_distance_of_trees_is_a_metric(one: Node, other: Node) -> None:
    def rename(a: Node, b: Node) -> float:
        return float(a.label != b.label)

    assert tree_distance(one, one, rename) == 0
    there, back = tree_distance(one, other, rename), tree_distance(other, one, rename)
    assert there == back
    assert abs(one.size() - other.size()) <= there <= one.size() + other.size()


def _roles(path: Path) -> set[str]:
    about = json.loads(path.with_suffix(".json").read_text())
    return {element["role"] for page in about["pages"] for element in page["elements"]}


def _truths(folder: Path) -> list[Truth]:
    return [truth(path) for path in sorted(folder.glob("*.pdf"))]
