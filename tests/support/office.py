"""Office files made by hand, as small as they may be: archives of XML."""

import base64
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image

_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_KIND = "application/vnd.openxmlformats-officedocument"
_XML = '<?xml version="1.0" encoding="UTF-8"?>'


def png(width: int = 60, height: int = 40) -> bytes:
    """A red picture."""
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(buffer, "PNG")
    return buffer.getvalue()


def zipped(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    """An archive of these files, in this order."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content if isinstance(content, bytes) else f"{_XML}{content}")
    return path


def relations(*targets: tuple[str, str]) -> str:
    """The relations rId1, rId2, … of a part: each the kind and the name of another part."""
    return (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="rId{number}" Type="{_OFFICE}/relationships/{kind}"'
            f' Target="{target}"/>'
            for number, (kind, target) in enumerate(targets, 1)
        )
        + "</Relationships>"
    )


def package(
    path: Path, main: str, kind: str, parts: Mapping[str, str | bytes], *others: tuple[str, str]
) -> Path:
    """An Office Open XML file; `others` are the kinds of further parts, by name."""
    types = "".join(
        f'<Override PartName="/{name}" ContentType="{_KIND}.{of}+xml"/>'
        for name, of in ((main, kind), *others)
    )
    return zipped(
        path,
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
            '<Default Extension="rels"'
            ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/>'
            f'<Default Extension="png" ContentType="image/png"/>{types}</Types>',
            "_rels/.rels": relations(("officeDocument", main)),
            **parts,
        },
    )


WORD = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    f' xmlns:r="{_OFFICE}/relationships"'
    ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"'
)


def word_file(path: Path, body: str, *, picture: bytes | None = None) -> Path:
    """A Word document with this body; `rId1` is the picture, `rId2` a link, lists are numbered 1
    (bullets), 2 (numbers) and 3 (the same, counted anew), note 2 is a footnote.
    """
    levels = "".join(
        f'<w:abstractNum w:abstractNumId="{number}">'
        + "".join(
            f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="{form}"/></w:lvl>' for level in range(3)
        )
        + "</w:abstractNum>"
        for number, form in ((1, "bullet"), (2, "decimal"))
    ) + "".join(
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="{number}"/></w:num>'
        for number in (1, 2)
    )
    levels += (
        '<w:num w:numId="3"><w:abstractNumId w:val="2"/><w:lvlOverride w:ilvl="0">'
        '<w:startOverride w:val="1"/></w:lvlOverride></w:num>'
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/>'
        "</w:style>"
        for name in ("heading 1", "heading 2", "Title", "Quote", "HTML Preformatted")
    )
    link = '<Relationship Id="rId2" TargetMode="External"'
    rels = relations(("image", "media/image1.png"), ("hyperlink", "https://example.org/a"))
    rels = rels.replace('<Relationship Id="rId2"', link)
    rels = rels.replace(
        "</Relationships>",
        "".join(
            f'<Relationship Id="{kind}" Type="{_OFFICE}/relationships/{kind}" Target="{kind}.xml"/>'
            for kind in ("numbering", "styles", "footnotes")
        )
        + "</Relationships>",
    )
    note = f"{paragraph('The note.')}"
    parts: dict[str, str | bytes] = {
        "word/document.xml": f"<w:document {WORD}><w:body>{body}</w:body></w:document>",
        "word/numbering.xml": f"<w:numbering {WORD}>{levels}</w:numbering>",
        "word/styles.xml": f"<w:styles {WORD}>{styles}</w:styles>",
        "word/footnotes.xml": f'<w:footnotes {WORD}><w:footnote w:id="2">{note}</w:footnote>'
        "</w:footnotes>",
        "word/_rels/document.xml.rels": rels,
    }
    if picture is not None:
        parts["word/media/image1.png"] = picture
    return package(
        path,
        "word/document.xml",
        "wordprocessingml.document.main",
        parts,
        ("word/numbering.xml", "wordprocessingml.numbering"),
        ("word/styles.xml", "wordprocessingml.styles"),
        ("word/footnotes.xml", "wordprocessingml.footnotes"),
    )


def paragraph(text: str, *, style: str = "", bullet: int = 0, level: int = 0) -> str:
    """A paragraph of a Word document; `bullet` is the number of its list."""
    numbered = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{bullet}"/></w:numPr>'
    looks = (f'<w:pStyle w:val="{style}"/>' if style else "") + (numbered if bullet else "")
    run = text if text.startswith("<") else f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    return f"<w:p><w:pPr>{looks}</w:pPr>{run}</w:p>"


def word_table(rows: Sequence[Sequence[tuple[str, str]]]) -> str:
    """A table of a Word document: each cell's properties and its text."""
    return (
        "<w:tbl>"
        + "".join(
            "<w:tr>"
            + "".join(
                f"<w:tc><w:tcPr>{looks}</w:tcPr>{paragraph(text)}</w:tc>" for looks, text in row
            )
            + "</w:tr>"
            for row in rows
        )
        + "</w:tbl>"
    )


PICTURE = (
    '<w:r><w:drawing><wp:inline><a:graphic><a:graphicData uri="x"><pic:pic><pic:blipFill>'
    '<a:blip r:embed="rId1"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline>'
    "</w:drawing></w:r>"
)
LINK = '<w:hyperlink r:id="rId2"><w:r><w:t>the site</w:t></w:r></w:hyperlink>'
NOTE = '<w:r><w:footnoteReference w:id="2"/></w:r>'
PAGE_BREAK = '<w:r><w:br w:type="page"/></w:r>'


def sheet_file(path: Path, sheets: Mapping[str, str]) -> Path:
    """A spreadsheet: the XML inside each of its sheets, by name."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    space = f'xmlns="{main}" xmlns:r="{_OFFICE}/relationships"'
    names = [f"worksheets/sheet{number}.xml" for number in range(1, len(sheets) + 1)]
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
        for number, name in enumerate(sheets, 1)
    )
    return package(
        path,
        "xl/workbook.xml",
        "spreadsheetml.sheet.main",
        {
            "xl/workbook.xml": f"<workbook {space}><sheets>{listed}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(*(("worksheet", name) for name in names)),
            **{
                f"xl/{name}": f"<worksheet {space}>{content}</worksheet>"
                for name, content in zip(names, sheets.values(), strict=True)
            },
        },
        *((f"xl/{name}", "spreadsheetml.worksheet") for name in names),
    )


def sheet_rows(rows: Sequence[Sequence[str | float | None]]) -> str:
    """The cells of a sheet."""

    def cell(place: str, value: str | float | None) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    return (
        "<sheetData>"
        + "".join(
            f'<row r="{number}">'
            + "".join(cell(f"{chr(65 + n)}{number}", value) for n, value in enumerate(row))
            + "</row>"
            for number, row in enumerate(rows, 1)
        )
        + "</sheetData>"
    )


def slides_file(path: Path, slides: Sequence[str], *, picture: bytes | None = None) -> Path:
    """A presentation: the XML of the shapes on each slide, where `rId1` is the picture."""
    space = (
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
        ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
        f' xmlns:r="{_OFFICE}/relationships"'
    )
    group = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
    names = [f"slides/slide{number}.xml" for number in range(1, len(slides) + 1)]
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in range(1, len(slides) + 1))
    parts: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {space}><p:sldIdLst>{listed}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(*(("slide", name) for name in names)),
    }
    for name, shapes in zip(names, slides, strict=True):
        parts[f"ppt/{name}"] = (
            f"<p:sld {space}><p:cSld><p:spTree>{group}<p:grpSpPr/>{shapes}</p:spTree></p:cSld>"
            "</p:sld>"
        )
        parts[f"ppt/slides/_rels/{name.removeprefix('slides/')}.rels"] = relations(
            *([("image", "../media/image1.png")] if picture is not None else [])
        )
    if picture is not None:
        parts["ppt/media/image1.png"] = picture
    return package(
        path,
        "ppt/presentation.xml",
        "presentationml.presentation.main",
        parts,
        *((f"ppt/{name}", "presentationml.slide") for name in names),
    )


def slide_text(
    number: int, text: str, *, placeholder: str = "", top: int = 0, bullet: str = ""
) -> str:
    """A shape with paragraphs, one a line; two spaces before a line are a level of its list."""
    kind = f'<p:ph type="{placeholder}"/>' if placeholder else ""
    lines = "".join(
        f'<a:p><a:pPr lvl="{(len(line) - len(line.lstrip())) // 2}">{bullet}</a:pPr>'
        f"<a:r><a:t>{line.strip()}</a:t></a:r></a:p>"
        for line in text.splitlines()
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="s{number}"/><p:cNvSpPr/><p:nvPr>{kind}'
        f'</p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="0" y="{top}"/><a:ext cx="9" cy="9"/>'
        f"</a:xfrm></p:spPr><p:txBody><a:bodyPr/>{lines}</p:txBody></p:sp>"
    )


def slide_picture(number: int, top: int = 0) -> str:
    """The picture of the slide."""
    return (
        f'<p:pic><p:nvPicPr><p:cNvPr id="{number}" name="p"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        '<p:blipFill><a:blip r:embed="rId1"/></p:blipFill><p:spPr><a:xfrm>'
        f'<a:off x="0" y="{top}"/><a:ext cx="9" cy="9"/></a:xfrm></p:spPr></p:pic>'
    )


def slide_table(number: int, rows: Sequence[Sequence[tuple[str, str]]], top: int = 0) -> str:
    """A table: each cell's attributes and its text."""
    lines = "".join(
        '<a:tr h="9">'
        + "".join(
            f"<a:tc {looks}><a:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p>"
            "</a:txBody></a:tc>"
            for looks, text in row
        )
        + "</a:tr>"
        for row in rows
    )
    columns = '<a:gridCol w="9"/>' * len(rows[0])
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="{number}" name="t"/>'
        f'<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="{top}"/>'
        '<a:ext cx="9" cy="9"/></p:xfrm><a:graphic><a:graphicData'
        ' uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl><a:tblGrid>'
        f"{columns}</a:tblGrid>{lines}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )


def book_file(path: Path, chapters: Mapping[str, str], *, picture: bytes | None = None) -> Path:
    """An EPUB: the body of each chapter, by file name; `p.png` is the picture."""
    items = "".join(
        f'<item id="i{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="i{number}"/>' for number in range(len(chapters)))
    xhtml = "http://www.w3.org/1999/xhtml"
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container version="1.0"'
        ' xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>",
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f"<metadata/><manifest>{items}</manifest><spine>{order}</spine></package>",
        **{
            f"OEBPS/{name}": f'<html xmlns="{xhtml}"><body>{body}</body></html>'
            for name, body in chapters.items()
        },
    }
    if picture is not None:
        parts["OEBPS/p.png"] = picture
    return stored_first(path, parts)


def open_document(path: Path, kind: str, body: str, *, picture: bytes | None = None) -> Path:
    """An OpenDocument file, `kind` text or presentation; `Pictures/p.png` is the picture."""
    names = {
        "office": "office:1.0",
        "text": "text:1.0",
        "table": "table:1.0",
        "draw": "drawing:1.0",
        "style": "style:1.0",
    }
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}"'
        for short, name in names.items()
    )
    styles = (
        '<office:automatic-styles><text:list-style style:name="L1">'
        '<text:list-level-style-number text:level="1"/></text:list-style>'
        "</office:automatic-styles>"
    )
    parts: dict[str, str | bytes] = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f'<office:document-content {spaces} xmlns:xlink="http://www.w3.org/1999/'
        f'xlink">{styles}<office:body><office:{kind}>{body}</office:{kind}></office:body>'
        "</office:document-content>",
    }
    if picture is not None:
        parts["Pictures/p.png"] = picture
    return stored_first(path, parts)


def stored_first(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    """An archive whose first file is not packed, so that its kind can be told."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, content) in enumerate(parts.items()):
            packed = zipfile.ZIP_DEFLATED if number else zipfile.ZIP_STORED
            archive.writestr(name, content, packed)
    return path


def as_data_url(picture: bytes) -> str:
    """For a page of HTML."""
    return "data:image/png;base64," + base64.b64encode(picture).decode("ascii")
