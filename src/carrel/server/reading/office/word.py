"""Word documents to parts, via mammoth's HTML."""

import io
import re
from typing import Any

import mammoth

from carrel.server.reading.office.equations import STYLE, with_equations
from carrel.server.reading.office.html import parsed_html, parts_of_tree
from carrel.server.reading.office.numbering import item_numbers
from carrel.server.reading.office.parts import Part

_STYLES = f"""\
r.{STYLE} => var.equation
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => h2:fresh
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
p[style-name='Caption'] => figcaption:fresh
p[style-name='caption'] => figcaption:fresh
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Code'] => pre:separator('\\n')
r[style-name='HTML Code'] => code
br[type='page'] => hr.page
"""
_PAGE = re.compile(r'<hr class="page"\s*/>')


def word_pages(data: bytes) -> list[list[Part]]:
    """The parts of every page; a page ends at the author's page break."""
    pictures: dict[str, bytes] = {}

    def keep(image: "mammoth.documents.Image") -> dict[str, str]:
        name = f"picture-{len(pictures)}"
        try:
            with image.open() as file:
                pictures[name] = file.read()
        except (KeyError, OSError, ValueError):
            # The picture is linked or lost; the text is still readable.
            return {}
        return {"src": name}

    result = mammoth.convert_to_html(
        io.BytesIO(with_equations(data)),
        style_map=_STYLES,
        convert_image=mammoth.images.img_element(keep),
    )
    pages = [parsed_html(page) for page in _PAGE.split(result.value)]
    _number_items([page for page in pages if page is not None], item_numbers(data))
    return [[] if page is None else parts_of_tree(page, pictures.get) for page in pages]


def _number_items(pages: list[Any], numbers: list[int]) -> None:
    """Number the items of numbered lists, if there is a number for each."""
    items = [item for page in pages for item in page.iter("li") if _is_numbered(item)]
    if len(items) == len(numbers):
        for item, number in zip(items, numbers, strict=True):
            item.set("value", str(number))


def _is_numbered(item: Any) -> bool:
    """Whether an item is numbered: not a note, nor the mere holder of a deeper list."""
    holder = not item.text and len(item) > 0 and item[0].tag in ("ol", "ul")
    return item.getparent().tag == "ol" and not item.get("id") and not holder
