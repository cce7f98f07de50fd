"""What office files hold beside their text: running heads, comments, and damaged parts."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from carrel.server.reading.options import UnreadableDocument
from server.reading.conftest import Read
from support.office import (
    PAGE_BREAK,
    WORD,
    paragraph,
    png,
    sheet_file,
    sheet_rows,
    slide_picture,
    slide_text,
    slides_file,
    word_file,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "application/vnd.openxmlformats-officedocument"


def changed(path: Path, parts: Mapping[str, str], edits: Mapping[str, tuple[str, str]]) -> Path:
    """The file with further parts, and with a text in some parts replaced by another."""
    with zipfile.ZipFile(path) as source:
        entries: dict[str, bytes] = {name: source.read(name) for name in source.namelist()}
    for name, (old, new) in edits.items():
        assert old.encode() in entries[name], name
        entries[name] = entries[name].replace(old.encode(), new.encode(), 1)
    with zipfile.ZipFile(path, "w") as target:
        for name, content in entries.items():
            target.writestr(name, content)
        for name, text in parts.items():
            target.writestr(name, text)
    return path


def relation(id: str, kind: str, target: str) -> tuple[str, str]:
    """The edit that adds a relation to a part's."""
    kind = kind if kind.startswith("http") else f"{_KINDS}/{kind}"
    new = f'<Relationship Id="{id}" Type="{kind}" Target="{target}"/></Relationships>'
    return ("</Relationships>", new)


def with_heads(path: Path) -> Path:
    """A Word document of three pages with a header of its own on the first, and a footer."""
    heads = "".join(
        f'<w:{kind}Reference w:type="{type}" r:id="{id}"/>'
        for kind, type, id in (
            ("header", "default", "h1"), ("header", "first", "h2"), ("footer", "default", "f1"),
        )
    )  # fmt: skip
    body = paragraph(f"<w:r><w:t>One</w:t></w:r>{PAGE_BREAK}")
    body += paragraph(f"<w:r><w:t>Two</w:t></w:r>{PAGE_BREAK}") + paragraph("Three")
    word_file(path, f"{body}<w:sectPr>{heads}<w:titlePg/></w:sectPr>")
    parts = {
        f"word/{name}.xml": f"<w:{tag} {WORD}>{paragraph(text)}</w:{tag}>"
        for name, tag, text in (
            ("top", "hdr", "Annual report"), ("first", "hdr", "Draft *2*"), ("low", "ftr", "Oslo"),
        )
    }  # fmt: skip
    rels = "word/_rels/document.xml.rels"
    for relation_of in (("h1", "header", "top.xml"), ("h2", "header", "first.xml")):
        changed(path, {}, {rels: relation(*relation_of)})
    changed(path, {}, {rels: relation("f1", "footer", "low.xml")})
    return changed(path, parts, {})


async def test_headers_and_footers_of_word_are_read(tmp_path: Path, read: Read) -> None:
    path = with_heads(tmp_path / "a.docx")
    pages = (await read(path, include_blocks=True)).pages
    assert [page.markdown for page in pages] == [
        "Draft \\*2\\*\n\nOne", "Annual report\n\nTwo\n\nOslo", "Annual report\n\nThree\n\nOslo",
    ]  # fmt: skip
    assert [block.type for block in pages[1].blocks or []] == ["header", "text", "footer"]
    apart = (await read(path, extract_header=True, extract_footer=True)).pages
    assert [page.markdown for page in apart] == ["One", "Two", "Three"]
    assert [page.header for page in apart] == ["Draft \\*2\\*", "Annual report", "Annual report"]
    assert [page.footer for page in apart] == [None, "Oslo", "Oslo"]


async def test_comments_of_word_are_notes(tmp_path: Path, read: Read) -> None:
    body = paragraph('<w:r><w:t>Rent</w:t></w:r><w:r><w:commentReference w:id="7"/></w:r>')
    path = word_file(tmp_path / "a.docx", body)
    comment = f'<w:comment w:id="7" w:author="Ada">{paragraph("Too high?")}</w:comment>'
    changed(
        path,
        {"word/comments.xml": f"<w:comments {WORD}>{comment}</w:comments>"},
        {"word/_rels/document.xml.rels": relation("c", "comments", "comments.xml")},
    )
    [page] = (await read(path)).pages
    assert page.markdown == "Rent[^1]\n\n[^1]: Ada: Too high?"


async def test_comments_on_slides_follow_them(tmp_path: Path, read: Read) -> None:
    path = slides_file(tmp_path / "a.pptx", [slide_text(2, "Plan")])
    ns = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    a = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    new = "http://schemas.microsoft.com/office/2018/10/relationships/comments"
    said = "<p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody>".format
    parts = {
        "ppt/comments/c1.xml": f'<p:cmLst {ns}><p:cm authorId="0"><p:text>Late?</p:text></p:cm>'
        "</p:cmLst>",
        "ppt/comments/c2.xml": f'<p:cmLst {ns} {a}><p:cm authorId="{{B}}"><p:replyLst>'
        f'<p:reply authorId="0">{said("Agreed")}</p:reply></p:replyLst>{said("Move it")}</p:cm>'
        "</p:cmLst>",
        "ppt/commentAuthors.xml": f'<p:cmAuthorLst {ns}><p:cmAuthor id="0" name="Ada"/>'
        '<p:cmAuthor id="{B}" name="Bo"/></p:cmAuthorLst>',
    }
    rels = "ppt/slides/_rels/slide1.xml.rels"
    changed(path, parts, {rels: relation("c1", "comments", "../comments/c1.xml")})
    changed(path, {}, {rels: relation("c2", new, "../comments/c2.xml")})
    main = relation("ca", "commentAuthors", "commentAuthors.xml")
    changed(path, {}, {"ppt/_rels/presentation.xml.rels": main})
    [page] = (await read(path)).pages
    assert page.markdown == "Plan\n\n> Ada: Late?\n\n> Bo: Move it\n\n> Ada: Agreed"


async def test_a_damaged_picture_costs_itself_alone(tmp_path: Path, read: Read) -> None:
    shapes = slide_text(2, "The text") + slide_picture(3)
    path = slides_file(tmp_path / "a.pptx", [shapes], picture=png())
    data = path.read_bytes()
    at = data.index(b"\x89PNG") if b"\x89PNG" in data else data.index(b"image1.png") + 14
    path.write_bytes(data[:at] + bytes(8) + data[at + 8 :])
    [page] = (await read(path)).pages
    assert "The text" in page.markdown
    assert "damaged picture" in page.markdown


async def test_a_link_and_a_slide_that_the_file_lacks(tmp_path: Path, read: Read) -> None:
    path = slides_file(tmp_path / "a.pptx", [slide_text(2, "One"), slide_text(2, "Two")])
    slide = 'Target="slides/slide2.xml"'
    changed(path, {}, {"ppt/_rels/presentation.xml.rels": (slide, 'Target="slides/none.xml"')})
    [page] = (await read(path)).pages
    assert page.markdown == "One"


async def test_an_archive_without_a_readable_entry_is_refused(tmp_path: Path, read: Read) -> None:
    path = word_file(tmp_path / "a.docx", paragraph("Rent"))
    with zipfile.ZipFile(path) as archive:
        places = [entry.header_offset for entry in archive.infolist()]
    data = bytearray(path.read_bytes())
    for place in places:
        data[place : place + 30] = bytes(30)
    path.write_bytes(data)
    with pytest.raises(UnreadableDocument, match="cannot be"):
        await read(path, mimetype=f"{_TYPES}.wordprocessingml.document")


async def test_a_workbook_with_macros_and_lost_sheets_is_read(tmp_path: Path, read: Read) -> None:
    rows = {name: sheet_rows([[f"On {name}", 1]]) for name in ("Loans", "Macros", "Lost")}
    path = sheet_file(tmp_path / "a.xlsm", rows)
    macro = "http://schemas.microsoft.com/office/2006/relationships/xlMacrosheet"
    relations = "xl/_rels/workbook.xml.rels"
    macros = f'Id="rId2" Type="{macro}" Target="macrosheets/sheet1.xml"'
    changed(
        path,
        {"xl/macrosheets/sheet1.xml": f"<worksheet>{rows['Macros']}</worksheet>"},
        {
            relations: (
                f'Id="rId2" Type="{_KINDS}/worksheet" Target="worksheets/sheet2.xml"',
                macros,
            ),
            "xl/workbook.xml": ('r:id="rId3"', 'r:id=""'),
        },
    )
    pages = [page.markdown for page in (await read(path)).pages]
    assert [page.partition("\n")[0] for page in pages] == ["## Loans", "## Macros"]
    assert "On Loans" in pages[0]


async def test_an_office_file_with_names_as_windows_parts_them_is_read(
    tmp_path: Path, read: Read
) -> None:
    path = sheet_file(tmp_path / "a.xlsx", {"Loans": sheet_rows([["Both", "Third"], [1, 2]])})
    with zipfile.ZipFile(path) as source:
        entries = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(path, "w") as target:
        for name, content in entries.items():
            target.writestr(name.lower().replace("/", "\\"), content)
    assert "| Both | Third |" in (await read(path)).pages[0].markdown


async def test_a_sheet_that_tells_its_rows_without_columns_is_read(
    tmp_path: Path, read: Read
) -> None:
    rows = {name: sheet_rows([["Both", f"On {name}"], [1, 2]]) for name in ("Loans", "Dues")}
    path = sheet_file(tmp_path / "a.xlsx", rows)
    extent = ("<sheetData>", '<dimension ref="1:2"/><sheetData>')
    changed(path, {}, {"xl/worksheets/sheet2.xml": extent})
    pages = [page.markdown for page in (await read(path)).pages]
    assert ["On Loans" in pages[0], "On Dues" in pages[1]] == [True, True]
