"""Office, web and text files."""

import zipfile
from pathlib import Path

import pytest

from server.reading.conftest import Read
from support.documents import HEADING, TEXT, docx

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_word(tmp_path: Path, read: Read) -> None:
    reading = await read(docx(tmp_path / "a.docx"), granularity="word")
    (page,) = reading.pages
    assert page.markdown.splitlines()[0].lstrip("# ") == HEADING
    assert TEXT in page.markdown
    assert not reading.ocr_used
    assert page.dimensions is not None
    assert page.dimensions.width and page.dimensions.height and page.dimensions.dpi
    scores = page.confidence_scores
    assert scores is not None
    for word in scores.word_confidence_scores or []:
        assert page.markdown.startswith(word.text, word.start_index)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.html", "<html><h1>A title</h1><p>Some <b>bold</b> text</p></html>", "# A title"),
        ("a.csv", "name,seats\nNorth,24\nSouth,36\n", "North"),
        ("a.md", "# A title\n\n- one\n- two\n", "# A title"),
        ("a.txt", "Nothing but text, with an é.\n", "with an é."),
        ("a.eml", "Subject: Hello\nFrom: a@b.example\n\nThe body of the mail.\n", "The body"),
    ],
)
async def test_text_files(
    tmp_path: Path, read: Read, name: str, content: str, expected: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    (page,) = (await read(path)).pages
    assert expected in page.markdown


async def test_a_stored_file_without_a_name_is_read_by_its_type(tmp_path: Path, read: Read) -> None:
    path = docx(tmp_path / "0123456789abcdef")
    assert TEXT in (await read(path)).pages[0].markdown
    (tmp_path / "b").write_text("<h1>A title</h1>")
    (page,) = (await read(tmp_path / "b", mimetype="text/html")).pages
    assert page.markdown == "# A title"


async def test_a_missing_picture_does_not_fail_a_presentation(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a.pptx"
    _presentation_with_linked_picture(path)
    assert "The text of the slide" in (await read(path)).pages[0].markdown


def _presentation_with_linked_picture(path: Path) -> None:
    """One slide with text and a picture that is linked, not embedded."""
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.presentationml"

    def relation(id: str, type: str, target: str, mode: str = "") -> str:
        return (
            f'<Relationship Id="{id}" Type="{office}/relationships/{type}"'
            f' Target="{target}"{mode}/>'
        )

    def relations(*parts: str) -> str:
        return f'<Relationships xmlns="{package}/relationships">{"".join(parts)}</Relationships>'

    names = f'xmlns:p="{main}" xmlns:a="{drawing}" xmlns:r="{office}/relationships"'
    shape = (
        '<p:sp><p:nvSpPr><p:cNvPr id="2" name="t"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
        "<p:txBody><a:bodyPr/><a:p><a:r><a:t>The text of the slide</a:t></a:r></a:p></p:txBody>"
        "</p:sp>"
    )
    linked = (
        '<p:pic><p:nvPicPr><p:cNvPr id="3" name="i"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        '<p:blipFill><a:blip r:link="rId2"/></p:blipFill><p:spPr/></p:pic>'
    )
    group = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/ppt/presentation.xml" ContentType="{kind}.presentation.main+xml"/>'
        f'<Override PartName="/ppt/slides/slide1.xml" ContentType="{kind}.slide+xml"/></Types>',
        "_rels/.rels": relations(relation("rId1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f'<p:presentation {names}><p:sldIdLst><p:sldId id="256"'
        ' r:id="rId1"/></p:sldIdLst></p:presentation>',
        "ppt/_rels/presentation.xml.rels": relations(
            relation("rId1", "slide", "slides/slide1.xml")
        ),
        "ppt/slides/slide1.xml": f"<p:sld {names}><p:cSld><p:spTree>{group}<p:grpSpPr/>"
        f"{shape}{linked}</p:spTree></p:cSld></p:sld>",
        "ppt/slides/_rels/slide1.xml.rels": relations(
            relation("rId2", "image", "file:///gone.png", ' TargetMode="External"')
        ),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
