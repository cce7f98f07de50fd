"""Figures: pictures and drawings with their labels and captions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

from carrel.server.reading.layout.flow import rows
from carrel.server.reading.layout.hyphens import continued, join_lines
from carrel.server.reading.page.elements import Box, Line, Region
from carrel.server.reading.page.lines import LABELLED, one_line

_LEAST_FIGURE = 8.0
"""Points. Anything thinner is a rule or an ornament."""
_FIGURE_LINES = 5
"""Maximum lines of text in a picture; with more, it is a background."""
_COVERED = 0.25
"""Largest part of a picture that text covers; with more, it is a background."""
_SAME_SIZE = 0.05
"""Size tolerance for lines of one text, as a part of their size."""
_SET_TIGHT = 0.6
"""Maximum gap between lines of one text, as a part of their height."""
_NUMBER_APART = 3
"""Maximum gap after the number of a figure, in line heights."""
_BESIDE = 6.0
"""Largest width of a label beside a drawing, in line heights."""
_BELOW = 0.4
"""Largest width of a label below or above a drawing, as a part of the drawing's."""
_TURNED = 1.5
"""Largest distance of a turned label from a drawing, in line heights."""
_SENTENCE = 10
"""Least words of a line of prose."""
_PROSE_LINES = 3
"""Lines of prose that make a drawing the frame of a text."""
_NAMES = 3
"""Fewest lines that are labels by standing alone, as names on a map do."""
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
    text = sum(line.width * line.height for line in lines)
    return len(lines) > _FIGURE_LINES or text > _COVERED * picture.width * picture.height


@dataclass(frozen=True)
class FigurePlace:
    """A figure's bounding box; `frames` are boxes of text drawn in it.

    A place that is a `picture` has labels only where the page model sees some.
    """

    box: Box
    frames: tuple[Box, ...] = ()
    picture: bool = False


def outside_tables(places: Sequence[FigurePlace], tables: Sequence[Box]) -> list[FigurePlace]:
    """Return the figures that do not overlap a table."""
    return [place for place in places if not any(place.box.meets(table) for table in tables)]


def labelled(
    places: Sequence[FigurePlace],
    lines: list[Line],
    turned: list[Line],
    is_label: Callable[[Line], bool],
) -> tuple[list[Region], list[Line], list[Line]]:
    """Return the figures with their labels, the other horizontal lines, and the `turned` lines.

    A drawing with prose in it is a background. A picture without labels is left out.
    """
    figures: list[Region] = []
    for place in places:
        inside = [line for line in lines if place.box.holds_centre(line.box)]
        if _has_prose(inside) or (place.picture and not _are_labels(inside, is_label)):
            continue
        captions = _captions(inside)
        labels = [line for line in inside if line not in captions]
        aside = [line for line in turned if place.box.holds_centre(line.box)]
        for _ in range(_AXES):
            whole = Box.around([place.box, *(line.box for line in [*labels, *aside])])
            labels += _labels(whole, [line for line in lines if line not in labels])
            aside += [line for line in turned if line not in aside and _is_beside(whole, line.box)]
        lines = [line for line in lines if line not in labels and line not in captions]
        turned = [line for line in turned if line not in aside]
        whole = Box.around([place.box, *(line.box for line in [*labels, *aside])])
        shown = (*_in_order(labels, place.frames), *aside)
        figures.append(Region("figure", whole, lines=tuple(captions), labels=shown))
    return figures, lines, turned


def _are_labels(lines: Sequence[Line], is_label: Callable[[Line], bool]) -> bool:
    """Return whether lines on a picture are labels: most are for the model, or all stand alone."""
    if 2 * sum(map(is_label, lines)) > len(lines):
        return True
    alone = not any(_belong(one, other) for one, other in combinations(lines, 2))
    return alone and len(lines) >= _NAMES and not any(map(_is_prose, lines))


def _is_prose(line: Line) -> bool:
    return len(line.text.split()) >= _SENTENCE


def _has_prose(lines: Iterable[Line]) -> bool:
    """Return whether lines in a drawing make it the frame of a text."""
    return sum(map(_is_prose, lines)) >= _PROSE_LINES


def _captions(lines: Sequence[Line]) -> list[Line]:
    """Return the captions among a figure's lines, and the lines that continue them."""
    captions: list[Line] = []
    for row in rows(lines):
        if LABELLED.match(row[0].text) or any(
            _belong(line, caption) for line in row for caption in captions
        ):
            captions += row
    return captions


@dataclass(frozen=True)
class _Label:
    """A label, of one or more lines."""

    box: Box
    lines: list[Line]
    single: bool = True
    """Whether it may stand on one line with others, as do the values of an axis."""


def _in_order(lines: Sequence[Line], frames: Sequence[Box]) -> list[Line]:
    """Return the labels in reading order, from row to row; a box's text is one."""
    rest = list(lines)
    labels: list[_Label] = []
    for frame in frames:
        inside = [line for line in rest if frame.holds_centre(line.box)]
        rest = [line for line in rest if line not in inside]
        if inside:
            text = reduce(continued, map(one_line, rows(inside)))
            labels.append(_Label(frame, [text], single=False))
    for stack in _stacks(rest):
        box = Box.around(line.box for line in stack)
        labels.append(_Label(box, stack, single=len(stack) == 1))
    ordered: list[Line] = []
    for row in rows(labels):
        if all(label.single for label in row):
            ordered.append(one_line([label.lines[0] for label in row]))
        else:
            ordered += (line for label in row for line in label.lines)
    return ordered


def _stacks(lines: Sequence[Line]) -> list[list[Line]]:
    """Group lines that are set below each other like those of one text."""
    stacks: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.box.top):
        above = next((stack for stack in stacks if _adjoin(stack[-1], line)), None)
        if above is None:
            stacks.append([line])
        else:
            above.append(line)
    return stacks


def _is_beside(box: Box, label: Box) -> bool:
    """Return whether a turned label stands right beside a drawing."""
    reach = _TURNED * min(label.width, label.height)
    beside = box.left - reach <= label.right and label.left <= box.right + reach
    return beside and box.top <= label.centre[1] <= box.bottom


def _labels(box: Box, lines: Sequence[Line]) -> list[Line]:
    """Return the short lines around a drawing that are no part of the text there."""
    return _apart([line for line in lines if _is_near(box, line.box)], lines)


def _apart(near: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """Return the `near` lines that belong neither to a caption nor to other text."""
    captions = _captions(near)
    others = [line for line in lines if line not in near or line in captions]
    return [
        line
        for line in near
        if line not in captions and not any(_belong(line, other) for other in others)
    ]


def _on_one_line(line: Line, other: Line) -> bool:
    """Return whether two pieces are on one line; a caption's number may stand apart."""
    one, two = line.box, other.box
    level = abs(one.centre[1] - two.centre[1]) < min(one.height, two.height) / 2
    first = line if one.left < two.left else other
    reach = (_NUMBER_APART if LABELLED.match(first.text) else 1) * max(one.height, two.height)
    return level and max(one.left - two.right, two.left - one.right) < reach


def _is_near(box: Box, label: Box) -> bool:
    reach = label.height
    if box.top <= label.centre[1] <= box.bottom:
        beside = box.left - reach <= label.right and label.left <= box.right + reach
        return beside and label.width <= _BESIDE * reach
    around = box.top - reach <= label.bottom and label.top <= box.bottom + reach
    within = box.left - reach <= label.left and label.right <= box.right + reach
    return around and within and label.width <= _BELOW * box.width


def _belong(line: Line, other: Line) -> bool:
    """Return whether two lines are of one text."""
    return _adjoin(line, other) or _on_one_line(line, other)


def _adjoin(line: Line, other: Line) -> bool:
    """Return whether two lines are set and spaced like neighbours in one text."""
    above, below = sorted((line.box, other.box), key=lambda box: box.top)
    across = min(above.right, below.right) - max(above.left, below.left)
    gap = below.top - above.bottom
    alike = abs(line.size - other.size) <= _SAME_SIZE * other.size and line.bold == other.bold
    return alike and across > 0 and gap < _SET_TIGHT * min(above.height, below.height)


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
