"""Tables of cells on a grid: whatever the spans, no cell is lost."""

from hypothesis import given
from hypothesis import strategies as st

from carrel.server.reading.page.table import Cell, LinkMark, Table

PLACES = st.tuples(*[st.integers(0, 4)] * 2, *[st.integers(1, 4)] * 2)


def test_a_span_ends_where_another_cell_begins() -> None:
    table = Table.of([Cell("Table 5", 0, 0, columns=3), Cell("in 000", 0, 2), Cell("Assam", 1, 0)])
    assert [(cell.text, cell.columns) for cell in table.rows()[0]] == [
        ("Table 5", 2),
        ("in 000", 1),
    ]


def test_cells_of_one_place_are_one_with_the_links_of_both() -> None:
    link = LinkMark(0, 3, "https://a.example")
    (cell,) = Table.of([Cell("one", 0, 0), Cell("two", 0, 0, marks=(link,))]).cells
    assert (cell.text, cell.marks) == ("one two", (link.shifted(4),))


@given(st.lists(PLACES, max_size=12))
def test_exactly_one_cell_covers_each_place_and_every_text_is_kept(
    places: list[tuple[int, int, int, int]],
) -> None:
    table = Table.of(Cell(f"t{number}", *place) for number, place in enumerate(places))
    covered = [
        (row, column)
        for cell in table.cells
        for row in range(cell.row, cell.row + cell.rows)
        for column in range(cell.column, cell.column + cell.columns)
    ]
    assert len(covered) == len(set(covered)) == table.height * table.width
    texts = [word for cell in table.cells for word in cell.text.split()]
    assert sorted(texts) == sorted(f"t{number}" for number in range(len(places)))
