"""Figures: pictures and drawings with their labels and captions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from carrel.server.reading.page.elements import Box, Line, Region
from carrel.server.reading.page.hyphens import join_lines
from carrel.server.reading.page.lines import LABELLED, adjoin, one_line
from carrel.server.reading.page_model.pieces import piece_rows
from carrel.server.reading.tables.decode import joined_text

_LEAST_FIGURE = 8.0
"""Points. Anything thinner is a rule or an ornament."""
_FIGURE_LINES = 5
"""Maximum lines of text in a picture; with more, it is a background."""
_COVERED = 0.25
"""Largest part of a picture that text covers; with more, it is a background."""
_LIKELY = 0.5
_REACH = 1.5
"""Largest distance of a label from a drawing, in line heights."""
_SHORT = 6.0
"""Largest width of a label that stands alone, in line heights."""
_NAMES = 3
"""Fewest lines that are labels by standing alone, as names on a map do."""
_SENTENCE = 10
"""Least words of a line of prose."""
_PROSE_LINES = 3
"""Lines of prose that make a drawing the frame of a text."""
_AXES = 2
"""Rings of labels around a drawing: an axis's values, then its title."""


def pictures(boxes: Sequence[Box], lines: Sequence[Line], drawn: Sequence[Region]) -> list[Region]:
    """Return the pictures on the page, without parts of drawings and a background of text."""
    return [
        Region("figure", box)
        for box in boxes
        if min(box.width, box.height) >= _LEAST_FIGURE
        and not any(figure.box.holds_centre(box) for figure in drawn)
        and not _is_background(box, [line.box for line in lines if box.holds_centre(line.box)])
    ]


def _is_background(picture: Box, lines: Sequence[Box]) -> bool:
    """Return whether text is set over a picture."""
    text = sum(line.area for line in lines)
    return len(lines) > _FIGURE_LINES or text > _COVERED * picture.area


@dataclass(frozen=True)
class FigurePlace:
    """A figure's bounding box; `frames` are boxes of text drawn in it.

    A place that is a `picture` has labels only where the page model sees some.
    """

    box: Box
    frames: tuple[Box, ...] = ()
    picture: bool = False


def label_figures(
    places: Sequence[FigurePlace],
    lines: list[Line],
    turned: list[Line],
    chance: Callable[[Line], float],
) -> tuple[list[Region], list[Line], list[Line]]:
    """Return the figures with their labels, the other horizontal lines, and the `turned` lines.

    A drawing with prose in it is a background. A picture without labels is left out. `chance` is
    how likely the page model takes a line for a label, less how likely for a heading and the like.
    """
    figures: list[Region] = []
    for place in places:
        inside = [line for line in lines if place.box.holds_centre(line.box)]
        captions = [line for line in inside if LABELLED.match(line.text)]
        # Headings and items in a drawing stay what they are.
        held = [line for line in inside if line in captions or chance(line) > -_LIKELY]
        labels = [line for line in held if line not in captions]
        if are_prose(inside) or (place.picture and not _are_labels(held, chance)):
            continue
        lines = [line for line in lines if line not in held]
        aside = list[Line]()
        whole = place.box
        for _ in range(_AXES):
            near = [line for line in lines if _is_near(whole, line)]
            labels += [line for line in near if _is_label(line, lines, chance)]
            aside += [line for line in turned if _is_near(whole, line)]
            lines = [line for line in lines if line not in labels]
            turned = [line for line in turned if line not in aside]
            whole = Box.around([place.box, *(line.box for line in [*labels, *aside])])
        shown = (*_sort_labels(labels, place.frames), *aside)
        figures.append(Region("figure", whole, lines=tuple(captions), labels=shown))
    return figures, lines, turned


def are_prose(lines: Iterable[Line]) -> bool:
    """Return whether lines in a drawing or picture are a text, not labels: some are sentences."""
    words = (sum(word[0].isalpha() for word in line.text.split()) for line in lines)
    return sum(number >= _SENTENCE for number in words) >= _PROSE_LINES


def _is_near(box: Box, line: Line) -> bool:
    return box.is_near(line.box, _REACH * min(line.box.width, line.box.height))


def _are_labels(lines: Sequence[Line], chance: Callable[[Line], float]) -> bool:
    """Return whether lines on a picture are labels: most are for the model, or all stand alone."""
    alone = len(lines) >= _NAMES and all(_is_alone(line, lines) for line in lines)
    return alone or 2 * sum(chance(line) > _LIKELY for line in lines) > len(lines)


def _is_label(line: Line, lines: Iterable[Line], chance: Callable[[Line], float]) -> bool:
    """Return whether a line beside a drawing is a label of it."""
    return chance(line) > _LIKELY or (chance(line) > -_LIKELY and _is_alone(line, lines))


def _is_alone(line: Line, lines: Iterable[Line]) -> bool:
    """Return whether a line is short and outside any text of several lines."""
    short = line.box.width <= _SHORT * line.box.height
    return short and not any(adjoin(line, other) for other in lines if other is not line)


def _sort_labels(lines: Sequence[Line], frames: Sequence[Box]) -> list[Line]:
    """Return the labels in reading order, from row to row; a box's text is one."""
    rest, framed = list(lines), list[Line]()
    for frame in frames:
        inside = [line for line in rest if frame.holds_centre(line.box)]
        rest = [line for line in rest if line not in inside]
        if inside:
            text, marks = joined_text(inside)
            read = tuple(word for row in piece_rows(inside) for line in row for word in line.read)
            framed.append(Line(text, frame, inside[0].size, read, marks=marks))
    # Lines outside of boxes may stand on one, as do the values of an axis.
    rows = [[one_line(row)] for row in piece_rows(rest)] + piece_rows(framed)
    return [line for row in sorted(rows, key=lambda row: row[0].box.top) for line in row]


def with_text(region: Region) -> Iterator[Region]:
    """Yield a figure, followed by its labels and its caption."""
    lines = region.lines
    if region.kind != "figure" or not (lines or region.labels):
        yield region
        return
    yield replace(region, lines=(), labels=())
    if region.labels:
        text = "\n".join(label.text for label in region.labels)
        yield Region("aside", region.box, text, lines=region.labels)
    if lines:
        box = Box.around(line.box for line in lines)
        yield Region("caption", box, join_lines(lines), lines=lines)
