import io
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.style import Style

from carrel.tui.theme.prose import prose_theme
from carrel.tui.theme.themes import DEFAULT, read_theme, shipped_folder
from carrel.tui.widgets.text.prose import MIN_TAIL, Prose, settled_length

COLOURS = read_theme(shipped_folder() / f"{DEFAULT}.yaml").variables


def drawn(text: str, width: int = 60) -> str:
    output = io.StringIO()
    console = Console(file=output, width=width, theme=prose_theme(COLOURS))
    console.print(Prose(text))
    return output.getvalue()


def squeezed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


blocks = st.sampled_from(
    [
        "A paragraph of some words.",
        "# Heading",
        "- one\n- two\n\n- three",
        "1. first\n2. second\n\n   more of it",
        "```python\nx = 1\n\n\ny = 2\n```",
        "~~~\ncode\n\n```\nstill code\n~~~",
        "> quoted\n>\n> again",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "***",
    ]
)


@given(st.lists(blocks, min_size=2, max_size=12), st.integers(2, 40))
@settings(deadline=None, max_examples=60)
def test_a_text_drawn_in_two_parts_looks_like_the_whole(parts: list[str], repeat: int) -> None:
    text = "\n\n".join(parts) + "\n\n" + "tail " * (MIN_TAIL // 5 + repeat)
    cut = settled_length(text)
    assert len(text) - cut >= MIN_TAIL
    assert squeezed(drawn(text[:cut]) + drawn(text[cut:])) == squeezed(drawn(text))


def test_an_open_fence_is_never_cut() -> None:
    assert settled_length("```\n" + "line\n\n" * 2000) == 0


def test_a_long_text_is_settled_for_the_most_part() -> None:
    text = "A paragraph.\n\n" * 2000
    assert len(text) - settled_length(text) < MIN_TAIL + 100


def test_markup_and_control_characters_are_text() -> None:
    shown = drawn("invoice [/final] \x1b]0;x\x07.pdf and [bold]this[/bold]")
    assert "invoice [/final] ]0;x.pdf and [bold]this[/bold]" in " ".join(shown.split())


def test_links_are_words_only() -> None:
    shown = drawn("[here](file:///etc/passwd)")
    assert "here" in shown and "\x1b]8" not in shown


def test_headings_lists_and_tables_are_drawn() -> None:
    shown = drawn("# Term\n\n1. one\n\n| Year | Rent |\n|---|---|\n| 2024 | 1,200 |")
    assert shown.splitlines()[0].startswith("Term")
    assert "1 one" in shown and "2024" in shown and "1,200" in shown


@given(st.integers(1, 6))
def test_a_heading_of_any_level_stands_out_from_the_text(level: int) -> None:
    console = Console(width=40, theme=prose_theme(COLOURS))
    (style,) = {
        segment.style
        for segment in console.render(Prose(f"{'#' * level} Situation\n\nIt is quiet."))
        if segment.text.startswith("Situation")
    }
    assert style is not None and style.bold
    assert style.color != console.get_style("carrel.muted").color


def test_numbers_in_brackets_are_those_of_sources() -> None:
    console = Console(file=io.StringIO(), width=60, theme=prose_theme(COLOURS))
    show = {number: Style(meta={"shows": number}) for number in (1, 2)}
    text = "- Three months [1].\n\nIn writing [2, 3, 1], *today [2]*.\n\n    y[1]"
    found = [
        (segment.text, segment.style.meta["shows"])
        for segment in console.render(Prose(text, sources=show))
        if segment.style is not None and segment.style.meta
    ]
    assert found == [("1", 1), ("2", 2), ("1", 1), ("2", 2)]


WIDE = "| Region | Total | Total | Share |\n|---|---|---|---|\n" + (
    "| the north and the far north of the land | 59,082,426 | 14,898,243 | 73.98 |"
)


def test_numbers_of_a_wide_table_stay_whole_beside_words_that_wrap() -> None:
    said = drawn(WIDE, 40)
    assert max(map(len, said.splitlines())) <= 40
    for number in ("59,082,426", "14,898,243", "73.98"):
        assert number in said
    assert "…" not in said


def test_a_table_without_room_for_its_words_loses_no_letter() -> None:
    said = drawn(WIDE, 20)
    assert "…" not in said
    letters = "".join(said.replace("─", "").split())
    assert sorted(letters) == sorted(re.sub(r"[|\s-]", "", WIDE))


def test_a_table_whose_columns_do_not_fit_is_a_block_of_lines_for_each_row() -> None:
    row = "| south | 9,082,426 |  | 26.02 |"
    lines = [" ".join(line.split()) for line in drawn(f"{WIDE}\n{row}", 26).splitlines()]
    south = lines.index("Region south")
    assert lines[south - 1 : south + 3] == ["", "Region south", "Total 9,082,426", "Share 26.02"]
    assert {"Total 59,082,426", "Total 14,898,243", "Share 73.98"} <= {*lines[:south]}


def test_a_table_whose_columns_do_not_fit_tells_the_heads_of_empty_columns() -> None:
    form = "| Province | Packages sold | Cannabis duty |\n|---|---|---|\n| Alberta | | + |"
    said = drawn(form, 24)
    assert [" ".join(line.split()) for line in said.splitlines() if line.strip()] == [
        "Packages sold", "Province Alberta", "Cannabis duty +"
    ]  # fmt: skip


def test_a_second_row_of_heads_names_the_cells_where_the_columns_do_not_fit() -> None:
    table = (
        "| Part | Quarter | | Share |\n|---|---|---|---|\n| | 2017 | 2016 | |\n"
        "| Fuel | 59,082,426 | 14,898,243 | 73.98 |\n| Tires | 2,061 | 1,862 | 1.02 |"
    )
    lines = [" ".join(line.split()) for line in drawn(table, 30).splitlines()]
    assert [line for line in lines if line] == [
        "Part Fuel",
        "Quarter · 2017 59,082,426",
        "Quarter · 2016 14,898,243",
        "Share 73.98",
        "Part Tires",
        "Quarter · 2017 2,061",
        "Quarter · 2016 1,862",
        "Share 1.02",
    ]


def test_an_address_is_broken_before_the_columns_of_a_table_are_given_up() -> None:
    address = "https://library.example/catalogue/rooms/1"
    said = drawn(f"| Room | Address |\n|---|---|\n| one | `{address}` |", 30)
    assert said.split()[:2] == ["Room", "Address"]
    assert address in "".join(said.split())
