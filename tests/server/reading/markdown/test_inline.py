"""Text that Markdown shows as it stands on the page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from carrel.server.reading.markdown.inline import add_inline, address, escaped
from carrel.server.reading.markdown.scored_text import ScoredText
from carrel.server.reading.page.elements import Box, Line, Region
from carrel.server.reading.page.table import LinkMark

WORDS = [
    "shelf",
    "a_b",
    "_x_",
    "*",
    "**",
    "`",
    "#",
    "##",
    "-",
    "+",
    "1.",
    "1984)",
    ">",
    "---",
    "===",
]
WORDS += [
    "<b>",
    "</b>",
    "&amp;",
    "[a](b)",
    "[^1]",
    "\\*",
    "\\",
    "~~x~~",
    "5*3",
    "snake_case",
    "<!--",
]


def _shown(markdown: str) -> str:
    """The text that a reader of the rendered Markdown sees; fails where anything is markup."""
    shown = ""
    for token in MarkdownIt("commonmark").enable("strikethrough").parse(markdown):
        assert token.type in ("paragraph_open", "inline", "paragraph_close"), token.type
        for child in token.children or []:
            assert child.type in ("text", "softbreak", "text_special"), child.type
            shown += "\n" if child.type == "softbreak" else child.content
    return shown


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=1, max_size=3))
def test_escaped_text_is_shown_as_it_is(lines: list[list[str]]) -> None:
    text = "\n".join(" ".join(words) for words in lines)
    assert _shown(escaped(text)) == text


def test_plain_text_is_left_alone() -> None:
    text = "A snake_case name - 5 * 3, 50 % off; see #4 (p. 12) & more: x < y > z [1]"
    assert escaped(text) == text


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://example.org/a?b=c&d=%20e", "https://example.org/a?b=c&d=%20e"),
        ("https://example.org/a (b)\n", "https://example.org/a%20%28b%29%0A"),
        ("mailto:reader@example.org", "mailto:reader@example.org"),
        ("javascript:alert(1)", None),
        ("file.pdf", None),
    ],
)
def test_only_addresses_that_can_be_followed_are_links(url: str, target: str | None) -> None:
    assert address(url) == target


def _line(text: str, top: float, *marks: LinkMark) -> Line:
    return Line(text, Box(50, top, 50 + 5 * len(text), top + 10), 10, marks=marks)


def _inline(text: str, *lines: Line) -> str:
    markdown = ScoredText()
    add_inline(markdown, Region("paragraph", Box(0, 0, 1, 1), text, lines=lines))
    return str(markdown)


URL = "https://example.org"


def test_a_link_over_two_lines_is_one() -> None:
    first = _line("See the cata-", 100, LinkMark(4, 13, URL))
    second = _line("logue of it and ask.", 112, LinkMark(0, 11, URL))
    assert _inline("See the catalogue of it and ask.", first, second) == (
        f"See [the catalogue of it]({URL}) and ask."
    )


def test_a_link_is_found_behind_a_marker_and_among_words_like_it() -> None:
    item = _line("1. here, and here", 100, LinkMark(13, 17, URL))
    assert _inline("here, and here", item) == f"here, and [here]({URL})"


def test_a_mark_without_address_leads_to_a_note() -> None:
    assert _inline("Nine.1 Ten", _line("Nine.1 Ten", 100, LinkMark(5, 6))) == "Nine.[^1] Ten"
