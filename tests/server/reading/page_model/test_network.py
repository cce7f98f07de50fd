"""The network of the page model."""

import numpy as np

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.rules import Rule, Shade
from carrel.server.reading.page_model.features import Surroundings, page_features
from carrel.server.reading.page_model.network import look

ROWS = [
    [Line("A heading", Box(50, 60, 150, 76), 16, bold=True)],
    [Line("A line of the text of the page", Box(50, 90, 250, 100), 10)],
    [Line("that goes on below it.", Box(50, 104, 190, 114), 10)],
    [Line("Name", Box(50, 130, 80, 140), 10), Line("12", Box(200, 130, 212, 140), 10)],
    [Line("Other", Box(50, 144, 82, 154), 10), Line("7", Box(206, 144, 212, 154), 10)],
]


def test_pages_looked_at_together_are_seen_as_each_alone() -> None:
    rule, shade = Rule(True, 100, 50, 500), Shade(Box(0, 90, 600, 400), "ff0000ff")
    arounds = [Surroundings(600, 800), Surroundings(500, 900, [rule], [shade], [shade.box])]
    asked = [(rows, around) for rows in (ROWS, ROWS[:1], ROWS[3:]) for around in arounds]
    pages = page_features(asked)
    for one, page, view in zip(asked, pages, look(pages), strict=True):
        (features,) = page_features([one])
        np.testing.assert_allclose(page.pieces, features.pieces, atol=1e-6)
        np.testing.assert_allclose(page.pairs, features.pairs, atol=1e-6)
        assert (page.neighbours == features.neighbours).all()
        assert (page.rows == features.rows).all()
        (alone,) = look([features])
        assert (view.neighbours == page.neighbours).all()
        for together, single in (
            (view.roles, alone.roles),
            (view.flags, alone.flags),
            (view.shared, alone.shared),
        ):
            np.testing.assert_allclose(together, single, atol=1e-5)
