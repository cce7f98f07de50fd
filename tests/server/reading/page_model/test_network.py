"""The networks of the page model."""

from pathlib import Path

import numpy as np
import pytest

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.rules import Rule, Shade
from carrel.server.reading.page_model import network
from carrel.server.reading.page_model.features import Surroundings, page_features
from carrel.server.reading.page_model.network import PageView, look

ROWS = [
    [Line("A heading", Box(50, 60, 150, 76), 16, bold=True)],
    [Line("A line of the text of the page", Box(50, 90, 250, 100), 10)],
    [Line("that goes on below it.", Box(50, 104, 190, 114), 10)],
    [Line("Name", Box(50, 130, 80, 140), 10), Line("12", Box(200, 130, 212, 140), 10)],
    [Line("Other", Box(50, 144, 82, 154), 10), Line("7", Box(206, 144, 212, 154), 10)],
]


def test_the_mean_of_the_networks_is_the_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with np.load(network.WEIGHTS) as file:
        weights = {name: file[name] for name in file.files}
    features = page_features([(ROWS, Surroundings(600, 800))])[0]
    (whole,) = look([features])

    def alone(number: int) -> PageView:
        path = tmp_path / f"{number}.npz"
        np.savez(path, **{name: each[number : number + 1] for name, each in weights.items()})
        monkeypatch.setattr(network, "WEIGHTS", path)
        return look([features])[0]

    views = [alone(number) for number in range(len(weights["leave"]))]
    assert len(views) > 1
    assert not np.allclose(views[0].roles, views[1].roles, atol=0.001)
    np.testing.assert_allclose(whole.flags, np.mean([v.flags for v in views], 0), atol=1e-5)
    np.testing.assert_allclose(whole.shared, np.mean([v.shared for v in views], 0), atol=1e-5)
    roles = np.prod([view.roles for view in views], 0) ** (1 / len(views))
    roles /= roles.sum(1, keepdims=True)
    np.testing.assert_allclose(whole.roles, roles, atol=1e-5)


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
