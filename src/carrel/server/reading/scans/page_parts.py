"""OCR for parts of a page whose rest has a text layer."""

from collections.abc import Iterable

from PIL import Image

from carrel.server.reading.page.elements import Box, Line, PageFrame
from carrel.server.reading.scans.looking import Look
from carrel.server.reading.scans.recognition import PageScan, recognise_page


def recognise_part(
    picture: Image.Image, box: Box, size: tuple[float, float], look: Look
) -> PageScan:
    """Read a box of an upright page of `size` points; `picture` shows the whole page."""
    scale = picture.width / size[0]
    edges = (box.left * scale, box.top * scale, box.right * scale, box.bottom * scale)
    left, top, right, bottom = map(round, edges)
    part = recognise_page(picture.crop((left, top, right, bottom)), (box.width, box.height), look)
    frame = part.frame

    def placed(line: Line) -> Line:
        place = _moved(frame.on_page(line.box), box)
        return line.moved(place.left - line.box.left, place)

    lines, slanted = [*map(placed, part.lines)], [*map(placed, part.slanted)]
    if frame.turn:
        lines, slanted = [], [*lines, *slanted]
    rules = [] if frame.turn or frame.skew else part.rules
    return PageScan(
        PageFrame(*size),
        lines,
        slanted,
        [
            rule._replace(
                at=rule.at + (box.top if rule.across else box.left),
                start=rule.start + (box.left if rule.across else box.top),
                end=rule.end + (box.left if rule.across else box.top),
            )
            for rule in rules
        ],
        [_moved(frame.on_page(figure), box) for figure in part.figures],
    )


def together(scans: Iterable[PageScan], frame: PageFrame) -> PageScan:
    """Merge the scans of several parts of one page."""
    found = PageScan(frame)
    for scan in scans:
        found.lines.extend(scan.lines)
        found.slanted.extend(scan.slanted)
        found.rules.extend(scan.rules)
        found.figures.extend(scan.figures)
    return found


def not_over(lines: Iterable[Line], known: Iterable[Box]) -> list[Line]:
    """Return the lines that do not lie over known text."""
    known = list(known)
    return [line for line in lines if not any(box.holds_centre(line.box) for box in known)]


def _moved(box: Box, by: Box) -> Box:
    return Box(box.left + by.left, box.top + by.top, box.right + by.left, box.bottom + by.top)
