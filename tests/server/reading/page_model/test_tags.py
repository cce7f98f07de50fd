"""What the page model believes of a tagged page's blocks."""

import numpy as np

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page_model.network import FLAGS, ROLES, SHARED, PageView
from carrel.server.reading.page_model.tags import Tag, with_tags


def test_a_paragraph_is_no_heading_if_one_of_its_lines_is_none() -> None:
    boxes = [Box(85, 100, 500, 112), Box(72, 114, 500, 126)]
    texts = ["1. The house at the end of the road", "has stood empty for long."]
    pieces = [Line(text, box, 11) for text, box in zip(texts, boxes, strict=True)]
    roles = np.full((2, len(ROLES)), 0.001)
    roles[:, ROLES.index("heading")] = 0.93, 0.3
    roles[:, ROLES.index("text")] = 0.06, 0.69
    nobody = [2, 2]
    neighbours = np.array([nobody, nobody, [1, 2], [2, 0]])
    shared = np.full((4, 2, len(SHARED)), 0.7)
    view = PageView(roles, np.full((2, len(FLAGS)), 0.5), shared, neighbours)
    told = with_tags(view, pieces, [(box, Tag(block=1)) for box in boxes])
    assert [ROLES[number] for number in told.roles.argmax(1)] == ["text", "text"]
