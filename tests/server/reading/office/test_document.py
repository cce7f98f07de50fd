"""Office, web and text files: their text as Markdown, their tables, pictures and blocks."""

import base64
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches, Pt

from carrel.wire.ocr import Page
from server.reading.conftest import Read
from support.documents import HEADING, TEXT, docx
from support.office import (
    LINK,
    NOTE,
    PAGE_BREAK,
    PICTURE,
    as_data_url,
    book_file,
    open_document,
    paragraph,
    png,
    sheet_file,
    sheet_rows,
    slide_picture,
    slide_table,
    slide_text,
    slides_file,
    word_file,
    word_table,
)
from support.tables import grids_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

SPANS = (
    '<table><tr><th colspan="2">Both</th><th rowspan="2">Third</th></tr>'
    "<tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td><td>3</td></tr></table>"
)
"""The table that is drawn in every format."""
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def _cells(html: str) -> list[tuple[object, ...]]:
    (grid,) = grids_of(html)
    return [tuple(cell) for cell in grid]


def _types(page: Page) -> list[str]:
    return [block.type for block in page.blocks or []]


def _word(path: Path) -> Path:
    return word_file(
        path,
        paragraph("Rules", style="Title")
        + paragraph("Quiet", style="heading1")
        + paragraph(f"<w:r><w:t xml:space='preserve'>See </w:t></w:r>{LINK}{NOTE}")
        + paragraph("one", bullet=1)
        + paragraph("inner", bullet=1, level=1)
        + paragraph("two", bullet=1)
        + paragraph("first", bullet=2)
        + paragraph("x = 1", style="HTMLPreformatted")
        + paragraph("y = 2", style="HTMLPreformatted")
        + word_table(
            [
                [('<w:gridSpan w:val="2"/>', "Both"), ('<w:vMerge w:val="restart"/>', "Third")],
                [("", "a"), ("", "b"), ("<w:vMerge/>", "")],
                [("", "1"), ("", "2"), ("", "3")],
            ]
        )
        + paragraph(f"{PICTURE}{PAGE_BREAK}")
        + paragraph("The next page"),
        picture=png(),
    )


async def test_word_keeps_its_structure(tmp_path: Path, read: Read) -> None:
    reading = await read(_word(tmp_path / "a.docx"), table_format="html", include_blocks=True)
    first, second = reading.pages
    assert first.markdown == (
        "# Rules\n\n# Quiet\n\nSee [the site](https://example.org/a)[^1]\n\n"
        "- one\n  - inner\n- two\n\n1. first\n\n```\nx = 1\ny = 2\n```\n\n"
        "[tbl-0.html](tbl-0.html)\n\n![img-0.jpeg](img-0.jpeg)"
    )
    assert _types(first) == ["title", "title", "text", "list", "list", "code", "table", "image"]
    assert _cells(first.tables[0].content) == _cells(SPANS)
    assert first.hyperlinks == ["https://example.org/a"]
    assert second.markdown == "The next page\n\n[^1]: The note."


async def test_word_counts_its_items_as_the_author_sees_them(tmp_path: Path, read: Read) -> None:
    body = [
        paragraph("one", bullet=2),
        paragraph("inner", bullet=2, level=1),
        paragraph("Text between the items."),
        paragraph("more", bullet=2, level=1),
        paragraph("two", bullet=2),
        paragraph("within", bullet=2, level=1),
        paragraph("three", bullet=2),
        paragraph("anew", bullet=3),
        paragraph("and on", bullet=2),
    ]
    (page,) = (await read(word_file(tmp_path / "a.docx", "".join(body)))).pages
    assert page.markdown == (
        "1. one\n   1. inner\n\nText between the items.\n\n"
        "2. more\n\n2. two\n   1. within\n3. three\n1) anew\n2) and on"
    )


def _slides(path: Path) -> Path:
    rows = [
        [('gridSpan="2"', "Both"), ('hMerge="1"', ""), ('rowSpan="2"', "Third")],
        [("", "a"), ("", "b"), ('vMerge="1"', "")],
        [("", "1"), ("", "2"), ("", "3")],
    ]
    return slides_file(
        path,
        [
            slide_text(2, "one\n  inner\ntwo", top=5, bullet='<a:buChar char="•"/>')
            + slide_text(3, "Rules", placeholder="title", top=9),
            slide_picture(2, top=3) + slide_table(3, rows, top=2) + slide_text(4, "Above", top=1),
        ],
        picture=png(),
    )


def _formula(inner: str) -> str:
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    return f'<m:oMath xmlns:m="{math}">{inner}</m:oMath>'


def _of(name: str, **parts: str) -> str:
    inner = "".join(f"<m:{part}>{content}</m:{part}>" for part, content in parts.items())
    return f"<m:{name}>{inner}</m:{name}>"


def _m(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("equation", "latex"),
    [
        (_of("f", num=_m("m&lt;3"), den=_m("a_b")), r"\frac{m<3}{a\_b}"),
        (_of("sSup", e=_m("x"), sup=_m("2")) + _m("+1"), "{x}^{2}+1"),
        (_of("sSubSup", e=_m("x"), sub=_m("i"), sup=_m("2")), "{x}_{i}^{2}"),
        (_of("rad", deg="", e=_m("x")), r"\sqrt{x}"),
        (_of("rad", deg=_m("3"), e=_m("x")), r"\sqrt[3]{x}"),
        (
            _of("nary", naryPr='<m:chr m:val="∑"/>', sub=_m("i=1"), sup=_m("n"), e=_m("i")),
            r"\sum_{i=1}^{n} i",
        ),
        (_of("d", dPr='<m:begChr m:val="{"/><m:endChr m:val=""/>', e=_m("x")), r"\left\{x\right."),
        (_of("func", fName=_m("sin"), e=_m("θ")), r"\sin θ"),
        (_of("acc", accPr='<m:chr m:val="\u20d7"/>', e=_m("v")), r"\vec{v}"),
        (
            "<m:m>" + 2 * _of("mr", e=_m("1") + "</m:e><m:e>" + _m("0")) + "</m:m>",
            r"\begin{matrix}1 & 0 \\ 1 & 0\end{matrix}",
        ),
    ],
)
async def test_equations_in_word_are_latex(
    tmp_path: Path, read: Read, equation: str, latex: str
) -> None:
    before = '<w:r><w:t xml:space="preserve">For *all* </w:t></w:r>'
    path = word_file(tmp_path / "a.docx", paragraph(before + _formula(equation)))
    (page,) = (await read(path)).pages
    assert page.markdown == rf"For \*all\* ${latex}$"


async def test_equations_beside_each_other_stay_apart(tmp_path: Path, read: Read) -> None:
    path = word_file(tmp_path / "a.docx", paragraph(_formula(_m("a")) + _formula(_m("b"))))
    assert (await read(path)).pages[0].markdown == "$a$ $b$"


async def test_check_boxes_show_what_is_checked(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.html").write_text(
        "<p><input type=checkbox checked>Tea</p><p><input type=CHECKBOX>Milk<input value=Sugar></p>"
    )
    assert (await read(tmp_path / "a.html")).pages[0].markdown == "☒ Tea\n\n☐ Milk"
    boxes = "".join(
        "<w:sdt><w:sdtPr>"
        '<w14:checkbox xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml">'
        f'<w14:checked w14:val="{checked}"/></w14:checkbox></w:sdtPr>'
        f"<w:sdtContent><w:r><w:t>{sign}</w:t></w:r></w:sdtContent></w:sdt>"
        f"<w:r><w:t>{word}</w:t></w:r>"
        for checked, sign, word in ((1, "☒", "Tea "), (0, "☐", "Milk"))
    )
    (page,) = (await read(word_file(tmp_path / "a.docx", paragraph(boxes)))).pages
    assert page.markdown == "☒ Tea ☐ Milk"


async def test_underlined_blanks_are_seen(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.html").write_text("<p>Name <u>&nbsp; &nbsp; &nbsp;</u>, <u>a b</u><u> </u>")
    (page,) = (await read(tmp_path / "a.html")).pages
    assert page.markdown == r"Name \_\_\_\_, a b"
    line = '<w:r><w:rPr><w:u w:val="single"/></w:rPr><w:tab/></w:r>'
    body = f"<w:r><w:t>Unit</w:t></w:r>{line}{line}<w:r><w:t> of Lot</w:t><w:tab/></w:r>{line}"
    (page,) = (await read(word_file(tmp_path / "a.docx", paragraph(body)))).pages
    assert page.markdown == r"Unit\_\_\_\_ of Lot \_\_\_\_"


async def test_slides_are_pages(tmp_path: Path, read: Read) -> None:
    path = _slides(tmp_path / "a.pptx")
    first, second = (await read(path, table_format="html", include_blocks=True)).pages
    assert first.markdown == "# Rules\n\n- one\n  - inner\n- two"
    assert _types(first) == ["title", "list"]
    expected = "Above\n\n[tbl-1000.html](tbl-1000.html)\n\n![img-1000.jpeg](img-1000.jpeg)"
    assert second.markdown == expected
    assert _cells(second.tables[0].content) == _cells(SPANS)
    (alone,) = (
        await read(path, table_format="html", include_blocks=True, pages=[range(1, 2)])
    ).pages
    assert alone == second


def _write(shape: Any, *lines: tuple[str, int, str], **number: str) -> None:
    """Write paragraphs: their words, their level and the name of their bullet, if any."""
    frame = shape.text_frame
    for place, (words, level, bullet) in enumerate(lines):
        line = frame.add_paragraph() if place else frame.paragraphs[0]
        line.text, line.level = words, level
        if bullet:
            etree.SubElement(line._p.get_or_add_pPr(), f"{_DRAWING}{bullet}", number)


async def test_slides_have_the_lists_that_their_bullets_make(tmp_path: Path, read: Read) -> None:
    deck = Presentation()
    layout = deck.slide_layouts[3]
    inherited: Any = layout.placeholders.get(idx=2)
    etree.SubElement(inherited._element.find(".//{*}lvl2pPr"), f"{_DRAWING}buNone")
    slide = deck.slides.add_slide(layout)
    _, left, right = slide.placeholders
    _write(
        left, ("of the master", 0, ""), ("below", 1, ""), ("text", 0, "buNone"), ("alone", 0, "")
    )
    _write(right, ("of the master", 0, ""), ("text of the layout", 1, ""), ("and on", 0, ""))
    boxes = [slide.shapes.add_textbox(0, Inches(top), 9, 9) for top in (5, 6, 7, 8)]
    _write(
        boxes[0],
        ("Steps", 0, ""),
        ("one", 0, "buAutoNum"),
        ("point", 1, "buChar"),
        ("two", 0, "buAutoNum"),
    )
    _write(boxes[1], ("five", 0, "buAutoNum"), ("six", 0, "buAutoNum"), startAt="5")
    style = etree.SubElement(boxes[2]._element.txBody, f"{_DRAWING}lstStyle")
    etree.SubElement(etree.SubElement(style, f"{_DRAWING}lvl1pPr"), f"{_DRAWING}buBlip")
    _write(boxes[2], ("of the box", 0, ""), ("text", 0, "buNone"))
    _write(boxes[3], ("damaged", 0, "buAutoNum"), startAt="first")
    deck.save(str(tmp_path / "a.pptx"))
    (page,) = (await read(tmp_path / "a.pptx", include_blocks=True)).pages
    assert page.markdown == (
        "- of the master\n  - below\n\ntext\n\n- alone\n\n"
        "- of the master\n\n  text of the layout\n- and on\n\n"
        "Steps\n\n1. one\n   - point\n2. two\n\n5. five\n6. six\n\n- of the box\n\ntext"
        "\n\n1. damaged"
    )
    types = ["list", "text", "list", "list", "text", "list", "list", "list", "text", "list"]
    assert _types(page) == types


async def test_text_boxes_make_a_slide_with_a_title_and_typed_lists(
    tmp_path: Path, read: Read
) -> None:
    deck = Presentation()
    for size in (26, 14):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        title, items = (slide.shapes.add_textbox(0, Inches(top), 9, 9) for top in (1, 2))
        _write(title, ("Purpose", 0, ""))
        title.text_frame.paragraphs[0].runs[0].font.size = Pt(size)
        _write(items, ("•  One", 0, ""), ("–  inner", 1, ""), ("-5 degrees", 0, ""))
    deck.save(str(tmp_path / "a.pptx"))
    titled, plain = (await read(tmp_path / "a.pptx")).pages
    assert titled.markdown == "# Purpose\n\n- One\n  - inner\n\n-5 degrees"
    assert plain.markdown == titled.markdown[2:]


async def test_charts_of_slides_are_read_with_their_numbers(tmp_path: Path, read: Read) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["Spring", "Autumn"]
    data.add_series("Loans", [1.5, None])
    data.add_series("Returns", [2, 3])
    place = (Inches(1), Inches(1), Inches(4), Inches(3))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.chart_title.text_frame.text = "A year"
    deck.save(str(tmp_path / "a.pptx"))
    (page,) = (await read(tmp_path / "a.pptx")).pages
    assert page.markdown == (
        "A year\n\n|  | Loans | Returns |\n| --- | --- | --- |\n"
        "| Spring | 1.5 | 2 |\n| Autumn |  | 3 |"
    )


async def test_sheets_are_pages(tmp_path: Path, read: Read) -> None:
    path = sheet_file(
        tmp_path / "a.xlsx",
        {
            "Loans": sheet_rows([["Both", None, "Third"], ["a", "b"], [1, 2, 3.5]])
            + '<mergeCells><mergeCell ref="A1:B1"/><mergeCell ref="C1:C2"/></mergeCells>',
            "Empty": "<sheetData/>",
        },
    )
    first, second = (await read(path, table_format="html", include_blocks=True)).pages
    assert first.markdown == "## Loans\n\n[tbl-0.html](tbl-0.html)"
    assert _cells(first.tables[0].content) == _cells(SPANS.replace("3<", "3.5<"))
    assert second.markdown == "## Empty"


async def test_titles_above_the_table_of_a_sheet_are_no_heads_of_its_columns(
    tmp_path: Path, read: Read
) -> None:
    rows: list[list[str | float]] = [
        ["Table 1"],
        [],
        ["Loans\nof 2020"],
        ["Town", "Loans"],
        ["Total"],
        ["Bath", 3],
    ]
    merged = '<mergeCells><mergeCell ref="A3:B3"/><mergeCell ref="A5:B5"/></mergeCells>'
    sheets = {"A": sheet_rows(rows) + merged, "B": sheet_rows([["only"], ["one"]])}
    first, second = (await read(sheet_file(tmp_path / "a.xlsx", sheets))).pages
    assert first.markdown == (
        "## A\n\nTable 1\n\nLoans of 2020\n\n"
        "| Town | Loans |\n| --- | --- |\n| Total |  |\n| Bath | 3 |"
    )
    assert second.markdown == "## B\n\n| only |\n| --- |\n| one |"


HTML = f"""<!doctype html><title>No text</title><script>no()</script>
<h2>Rules</h2>Loose &amp; <b>bold</b> text<p>See <a href="https://example.org/a">the
  site</a>, <code>x*y</code>, <a href="javascript:no()">nothing</a>.<br>Next line
<ul><li>one<ul><li>inner</li></ul></li><li><p>two</p><p>more</p></li></ul>
<ol start="3"><li>third</li></ol><blockquote><p>Quoted</p></blockquote>
<pre><code class="language-py">def f():
    return "# 1"</code></pre>{SPANS}<table><tr><td><h3>For the looks</h3></td></tr></table>
<figure><img src="PICTURE"><figcaption>A picture</figcaption></figure>
<p>1. is no list, *nor* emphasis</p><img src="https://example.org/p.png" alt="far">"""


async def test_html_keeps_its_structure(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a"
    path.write_text(HTML.replace("PICTURE", as_data_url(png())))
    (page,) = (await read(path, table_format="html", include_blocks=True)).pages
    assert page.markdown == (
        "## Rules\n\nLoose & **bold** text\n\n"
        "See [the site](https://example.org/a), `x*y`, nothing.  \nNext line\n\n"
        "- one\n  - inner\n- two\n\n  more\n\n3. third\n\n> Quoted\n\n"
        '```py\ndef f():\n    return "# 1"\n```\n\n[tbl-0.html](tbl-0.html)\n\n'
        "### For the looks\n\n![img-0.jpeg](img-0.jpeg)\n\nA picture\n\n"
        "1\\. is no list, \\*nor\\* emphasis\n\n![far](https://example.org/p.png)"
    )
    types = "title text text list list text code table title image caption text text"
    assert " ".join(_types(page)) == types
    assert _cells(page.tables[0].content) == _cells(SPANS)
    assert page.hyperlinks == ["https://example.org/a"]


async def test_the_chapters_of_a_book_are_pages(tmp_path: Path, read: Read) -> None:
    chapters = {"a.xhtml": f"<h1>One</h1>{SPANS}", "b.xhtml": '<h1>Two</h1><img src="p.png"/>'}
    path = book_file(tmp_path / "a.epub", chapters, picture=png())
    first, second = (await read(path, table_format="html")).pages
    assert first.markdown == "# One\n\n[tbl-0.html](tbl-0.html)"
    assert _cells(first.tables[0].content) == _cells(SPANS)
    assert second.markdown == "# Two\n\n![img-1000.jpeg](img-1000.jpeg)"


async def test_open_document_text(tmp_path: Path, read: Read) -> None:
    path = open_document(
        tmp_path / "a.odt",
        "text",
        '<text:h text:outline-level="2">Rules</text:h>'
        '<text:p>See<text:s/><text:a xlink:href="https://example.org/a">the site</text:a>'
        "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>The note.</text:p></text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
        '<text:list text:style-name="L1"><text:list-item><text:p>first</text:p></text:list-item>'
        "</text:list><table:table><table:table-row>"
        '<table:table-cell table:number-columns-spanned="2"><text:p>Both</text:p>'
        "</table:table-cell><table:covered-table-cell/><table:table-cell"
        ' table:number-rows-spanned="2"><text:p>Third</text:p></table:table-cell>'
        "</table:table-row><table:table-row><table:table-cell><text:p>a</text:p>"
        "</table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell>"
        "<table:covered-table-cell/></table:table-row><table:table-row>"
        + "".join(f"<table:table-cell><text:p>{n}</text:p></table:table-cell>" for n in (1, 2, 3))
        + "</table:table-row></table:table><text:p><draw:frame><draw:image"
        ' xlink:href="Pictures/p.png"/></draw:frame></text:p>',
        picture=png(),
    )
    (page,) = (await read(path, table_format="html")).pages
    assert page.markdown == (
        "## Rules\n\nSee [the site](https://example.org/a)[^1]\n\n- one\n\n1. first\n\n"
        "[tbl-0.html](tbl-0.html)\n\n![img-0.jpeg](img-0.jpeg)\n\n[^1]: The note."
    )
    assert _cells(page.tables[0].content) == _cells(SPANS)


async def test_open_document_slides_are_pages(tmp_path: Path, read: Read) -> None:
    slide = "<draw:page><draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    body = "".join(slide.format(text) + "</draw:page>" for text in ("One", "Two"))
    pages = (await read(open_document(tmp_path / "a.odp", "presentation", body))).pages
    assert [page.markdown for page in pages] == ["One", "Two"]


CELLS = """<table><tr><th>Room</th><th>a | b</th></tr><tr><td>
<a href="https://example.org/a|b">the <b>north</b></a> <a href="javascript:no()">room</a></td>
<td>*one*<br>two_<p>[three](four) &lt;b&gt;</td></tr></table>"""


async def test_cells_keep_their_links_and_show_what_looks_like_syntax(
    tmp_path: Path, read: Read
) -> None:
    (tmp_path / "a.html").write_text(CELLS)
    (page,) = (await read(tmp_path / "a.html")).pages
    assert page.markdown == (
        "| Room | a \\| b |\n| --- | --- |\n"
        "| [the north](https://example.org/a%7Cb) room"
        " | \\*one\\* two\\_ \\[three](four) \\<b> |"
    )
    assert page.hyperlinks == ["https://example.org/a|b"]
    (page,) = (await read(tmp_path / "a.html", table_format="html")).pages
    assert '<td><a href="https://example.org/a%7Cb">the north</a> room</td>' in (
        page.tables[0].content
    )
    (tmp_path / "a.md").write_text("| a |\n| - |\n| see [the *site*](https://example.org/) |\n")
    (page,) = (await read(tmp_path / "a.md", table_format="html")).pages
    assert '<td>see <a href="https://example.org/">the site</a></td>' in page.tables[0].content


MARKDOWN = """\
# A title

Text[^1] with `code`, [a link](https://example.org/a) and

- one
    - inner

| a | b |
|---|---|
| 1 | `2` |

```py
x = "# 1"
```

[^1]: The note.
[ref]: https://example.org/b
"""


async def test_markdown_stays_as_it_is(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.md").write_text(MARKDOWN)
    (page,) = (await read(tmp_path / "a.md", include_blocks=True)).pages
    assert page.markdown == MARKDOWN.strip()
    assert _types(page)[:5] == ["title", "text", "list", "table", "code"]
    assert page.hyperlinks == ["https://example.org/a"]
    (page,) = (await read(tmp_path / "a.md", table_format="markdown")).pages
    assert page.tables[0].content == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert "[tbl-0.md](tbl-0.md)" in page.markdown


async def test_plain_text_keeps_its_lines(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.txt").write_text("First line\n  second line\r\n\r\n\nWith an é.\n")
    (page,) = (await read(tmp_path / "a.txt", include_blocks=True)).pages
    assert page.markdown == "First line\n  second line\n\nWith an é."
    assert _types(page) == ["text", "text"]


@pytest.mark.parametrize(
    ("encoding", "delimiter"),
    [("utf-8-sig", ","), ("utf-16", ","), ("utf-16-be", ","), ("cp1252", ";"), ("utf-8", "\t")],
)
async def test_tables_in_text_files(
    tmp_path: Path, read: Read, encoding: str, delimiter: str
) -> None:
    rows = [["Räume", "Seats", "Note"], ["North", "24", '"two\nlines"'], ["South", "36", "é"]]
    text = "\n".join(delimiter.join(row) for row in rows)
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    (page,) = (await read(tmp_path / "a.csv")).pages
    assert page.markdown == (
        "| Räume | Seats | Note |\n| --- | --- | --- |\n"
        "| North | 24 | two lines |\n| South | 36 | é |"
    )


async def test_messages_attached_to_a_message_are_read(tmp_path: Path, read: Read) -> None:
    digest = (
        "Subject: Digest\nFrom: list@b.example\nMIME-Version: 1.0\n"
        "Content-Type: multipart/digest; boundary=x\n\n"
        "--x\n\nSubject: First\nFrom: eve@b.example\n\nHello all.\n\n"
        "--x\n\nSubject: Second\n\nAnd so do I.\n\n--x--\n"
    )
    for encoding in ("utf-8", "utf-16-le"):
        (tmp_path / "a.eml").write_bytes(digest.encode(encoding))
        (page,) = (await read(tmp_path / "a.eml")).pages
        assert page.markdown == (
            "# Digest\n\n- **From:** list@b.example\n\n"
            "## First\n\n- **From:** eve@b.example\n\nHello all.\n\n"
            "## Second\n\nAnd so do I."
        )


async def test_mail(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.eml").write_bytes(
        b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nFrom: Anna <a@b.example>\r\n"
        b"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n"
        b"--x\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n<p>Caf\xe9</p>"
        + SPANS.encode()
        + b'<img src="cid:p">\r\n--x\r\nContent-Type: image/png; name=p.png\r\n'
        b"Content-ID: <p>\r\nContent-Transfer-Encoding: base64\r\n"
        b"Content-Disposition: attachment; filename=p.png\r\n\r\n"
        + base64.b64encode(png())
        + b"\r\n--x--\r\n"
    )
    (page,) = (await read(tmp_path / "a.eml", table_format="html")).pages
    assert page.markdown == (
        "# Grüße\n\n- **From:** Anna \\<a@b.example>\n- **Attached:** p.png\n\nCafé\n\n"
        "[tbl-0.html](tbl-0.html)\n\n![img-0.jpeg](img-0.jpeg)"
    )
    assert _cells(page.tables[0].content) == _cells(SPANS)


async def test_pictures_come_as_asked(tmp_path: Path, read: Read) -> None:
    pictures = "".join(f'<img src="{as_data_url(png(side, side))}">' for side in (10, 50, 90))
    (tmp_path / "a.html").write_text(f"<p>Text</p>{pictures}")
    (page,) = (await read(tmp_path / "a.html")).pages
    assert [image.id for image in page.images] == ["img-0.jpeg", "img-1.jpeg", "img-2.jpeg"]
    assert [image.image_base64 for image in page.images] == [None] * 3
    (page,) = (
        await read(tmp_path / "a.html", image_min_size=50, image_limit=1, include_image_base64=True)
    ).pages
    assert page.markdown == "Text\n\n![img-0.jpeg](img-0.jpeg)"
    (image,) = page.images
    assert image.image_base64 is not None
    data = base64.b64decode(image.image_base64.removeprefix("data:image/jpeg;base64,"))
    assert Image.open(io.BytesIO(data)).size == (50, 50)


async def test_a_picture_in_deep_grey_stays_grey(tmp_path: Path, read: Read) -> None:
    written = io.BytesIO()
    Image.new("I;16", (60, 60), 0x4000).save(written, "PNG")
    (tmp_path / "a.html").write_text(f'<img src="{as_data_url(written.getvalue())}">')
    (page,) = (await read(tmp_path / "a.html", include_image_base64=True)).pages
    shown = page.images[0].image_base64
    assert shown is not None
    data = base64.b64decode(shown.removeprefix("data:image/jpeg;base64,"))
    assert Image.open(io.BytesIO(data)).getpixel((30, 30)) == (0x40, 0x40, 0x40)


@pytest.mark.parametrize("make", [_word, _slides], ids=["docx", "pptx"])
@pytest.mark.parametrize("table_format", [None, "html", "markdown"])
async def test_every_word_is_scored_where_it_stands(
    tmp_path: Path, read: Read, make: Callable[[Path], Path], table_format: str | None
) -> None:
    reading = await read(make(tmp_path / "a"), granularity="word", table_format=table_format)
    seen = 0
    for page in reading.pages:
        assert page.confidence_scores is not None
        assert page.confidence_scores.minimum_page_confidence_score == 1.0
        scored = [(page.markdown, page.confidence_scores.word_confidence_scores or [])]
        scored += [(table.content, table.word_confidence_scores or []) for table in page.tables]
        for text, words in scored:
            for word in words:
                assert text.startswith(word.text, word.start_index)
                assert "img-" not in word.text and "tbl-" not in word.text
            seen += len(words)
    assert seen > 10


async def test_a_page_has_a_size(tmp_path: Path, read: Read) -> None:
    (page,) = (await read(docx(tmp_path / "a.docx"))).pages
    assert page.markdown == f"# {HEADING}\n\n{TEXT}"
    assert page.dimensions is not None
    assert page.dimensions.width and page.dimensions.height and page.dimensions.dpi


async def test_a_rarer_format_is_read_too(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.rtf").write_text(r"{\rtf1\ansi The reading room opens at nine.\par}")
    (page,) = (await read(tmp_path / "a.rtf", granularity="word", include_blocks=True)).pages
    assert "The reading room opens at nine." in page.markdown
    assert _types(page) == ["text"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("paper.tex", "\\section{Method}\nEvery line\nbelongs together."),
        ("talk.vtt", "WEBVTT\n\n00:00.000 --> 00:02.000\nGood morning"),
        ("cut_off.json", '{"title": "Method", "pages": ['),
        ("indented.yaml", "a: [1\n  b: :"),
    ],
)
async def test_text_that_no_reader_understands_is_shown_as_written(
    tmp_path: Path, read: Read, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    (page,) = (await read(tmp_path / name)).pages
    assert page.markdown == content


async def test_the_content_decides_and_not_the_name(tmp_path: Path, read: Read) -> None:
    path = docx(tmp_path / "0123456789abcdef.html")
    assert TEXT in (await read(path)).pages[0].markdown
    (tmp_path / "a.txt").write_text("<!doctype html><h1>A title</h1>")
    (page,) = (await read(tmp_path / "a.txt")).pages
    assert page.markdown == "# A title"
    (tmp_path / "b").write_text("From: a@b.example\nSubject: A letter\n\nIts text.\n")
    (page,) = (await read(tmp_path / "b")).pages
    assert page.markdown.startswith("# A letter")


async def test_a_missing_picture_does_not_fail_a_presentation(tmp_path: Path, read: Read) -> None:
    shapes = slide_text(2, "The text of the slide") + slide_picture(3)
    path = slides_file(tmp_path / "a.pptx", [shapes])
    assert (await read(path)).pages[0].markdown == "The text of the slide"
