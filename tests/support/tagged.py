"""PDFs that say what their text is: a structure tree of elements around lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_FONTS = {False: b"F1", True: b"F2"}


class Text(NamedTuple):
    """A line of text; its place is in points from the bottom left corner of the page."""

    x: float
    y: float
    text: str
    size: float = 11
    bold: bool = False


class Element(NamedTuple):
    """An element of the tree with its attributes, as PDF writes them."""

    kind: str
    kids: Sequence[Element | Text | Picture]
    attributes: str = ""


class Picture(NamedTuple):
    """A grey picture instead of a text."""

    x: float
    y: float
    size: float


def tagged_pdf(path: Path, *elements: Element, says: bool = True) -> Path:
    """Write a page of A4 with these elements; without `says` the tree is left out."""
    objects: list[bytes] = [b""] * 6
    content, parents = list[bytes](), list[int]()

    def add(element: Element, parent: int) -> int:
        number = len(objects) + 1
        objects.append(b"")
        kids = list[bytes]()
        for kid in element.kids:
            if isinstance(kid, Element):
                kids.append(b"%d 0 R" % add(kid, number))
                continue
            kids.append(b"%d" % len(parents))
            if isinstance(kid, Picture):
                place = (kid.size, kid.size, kid.x, kid.y)
                drawn = b"q %f 0 0 %f %f %f cm BI/W 1/H 1/CS/G/BPC 8 ID\n\x99\nEI Q" % place
            else:
                text = kid.text.encode("cp1252").translate(None, b"()\\")
                where = (_FONTS[kid.bold], kid.size, kid.x, kid.y, text)
                drawn = b"BT /%s %f Tf %f %f Td (%s) Tj ET" % where
            content.append(b"/S <</MCID %d>> BDC %s EMC" % (len(parents), drawn))
            parents.append(number)
        said = (element.kind.encode(), parent, b" ".join(kids), element.attributes.encode())
        objects[number - 1] = b"<</Type/StructElem/S/%s/P %d 0 R/Pg 3 0 R/K[%s]%s>>" % said
        return number

    kids = b" ".join(b"%d 0 R" % add(element, 5) for element in elements)
    tree = b"/StructTreeRoot 5 0 R/MarkInfo<</Marked true>>" if says else b""
    objects[0] = b"<</Type/Catalog/Pages 2 0 R%s>>" % tree
    objects[1] = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
    fonts = b"".join(
        b"/%s<</Type/Font/Subtype/Type1/BaseFont/%s/Encoding/WinAnsiEncoding>>" % font
        for font in ((b"F1", b"Helvetica"), (b"F2", b"Helvetica-Bold"))
    )
    objects[2] = (
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 595 842]/StructParents 0"
        b"/Resources<</Font<<%s>>>>>>" % fonts
    )
    stream = b"\n".join(content)
    objects[3] = b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream)
    objects[4] = b"<</Type/StructTreeRoot/K[%s]/ParentTree 6 0 R>>" % kids
    numbers = b" ".join(b"%d 0 R" % number for number in parents)
    objects[5] = b"<</Nums[0[%s]]>>" % numbers
    pdf, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(pdf))
        pdf += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    count = len(objects) + 1
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (count, len(pdf))
    path.write_bytes(pdf + b"xref\n0 %d\n0000000000 65535 f \n" % count + table + end)
    return path
