"""Word documents to parts, by way of mammoth's HTML."""

import io
import re

import mammoth

from carrel.server.reading.office.html import parts_of_html
from carrel.server.reading.office.parts import Part

_STYLES = """\
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
    """The parts of every page; a page ends where the author broke it."""
    pictures: dict[str, bytes] = {}

    def keep(image: "mammoth.documents.Image") -> dict[str, str]:
        name = f"picture-{len(pictures)}"
        try:
            with image.open() as file:
                pictures[name] = file.read()
        except (KeyError, OSError, ValueError):
            # It is linked to, or lost: the text can be read all the same.
            return {}
        return {"src": name}

    result = mammoth.convert_to_html(
        io.BytesIO(data), style_map=_STYLES, convert_image=mammoth.images.img_element(keep)
    )
    return [parts_of_html(page, pictures.get) for page in _PAGE.split(result.value)]
