import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.notebook.html.markdown import GrowingText, to_blocks, to_html, typed_to_html

TEXT = """# Lease

The notice period is *three months*.

| Year | Rent |
|------|------|
| 2024 | 1,200 |

```
code
```

- one
- two
"""


def test_markdown_becomes_html() -> None:
    html = to_html(TEXT)
    for part in ("<h1>Lease</h1>", "<em>three months</em>", "<td>1,200</td>", "<li>two</li>"):
        assert part in html


def test_a_note_of_one_word_is_shown_with_its_mark() -> None:
    assert to_html("Rent[^1]\n\n[^1]: Why?") == "<p>Rent¹</p>\n<p>¹ Why?</p>\n"


def test_a_typed_text_keeps_its_lines_and_is_no_markdown() -> None:
    html = typed_to_html("# 1 < 2\n  __rent__")
    assert html == "<p># 1 &lt; 2<br>  __rent__</p>"


def test_blocks_are_the_same_html_in_pieces() -> None:
    blocks = to_blocks(TEXT)
    assert "".join(blocks) == to_html(TEXT)
    assert len(blocks) == 5


def test_a_growing_text_changes_only_its_last_block() -> None:
    before, after = to_blocks("# One\n\nTwo\n\nThr"), to_blocks("# One\n\nTwo\n\nThree and more")
    assert before[:2] == after[:2]
    assert before[2] != after[2]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)">x</a>',
        "inline <b onclick=alert(1)>b</b>",
    ],
)
def test_raw_html_stays_text(text: str) -> None:
    html = to_html(text)
    for tag in ("<script", "<img", "<a ", "<b "):
        assert tag not in html
    assert "&lt;" in html


def test_a_picture_is_its_name_and_asks_no_host() -> None:
    html = to_html("![chart](https://example.com/c.png) and ![](img-0.jpeg)")
    assert "<img" not in html
    assert "example.com" not in html
    assert "chart" in html
    assert "Picture 1" in html


@pytest.mark.parametrize("address", ["javascript:alert(1)", "vbscript:x", "data:text/html,x"])
def test_a_script_address_is_no_link(address: str) -> None:
    assert "<a " not in to_html(f"[x]({address})")


def test_a_link_opens_elsewhere_and_tells_nothing() -> None:
    html = to_html('[x](https://example.com/?a=1&b="2")')
    assert 'target="_blank" rel="noopener noreferrer"' in html
    assert '"2"' not in html


PIECES = (
    "# Head\n", "word ", "\n\n", "- item\n", "1. one\n", "```\n", "| a | b |\n|---|---|\n", "> q\n",
    "---\n", "    code\n", "  ", "\n", "===\n", "<b>\n", "\r\n", "\u2028",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_a_text_that_grows_has_the_blocks_of_the_whole(pieces: list[str]) -> None:
    growing, text = GrowingText(), ""
    for piece in pieces:
        text += piece
        assert growing.blocks(text) == to_blocks(text)
