import io

import pytest
from PIL import Image
from textual.app import App, ComposeResult
from textual.content import Content

from carrel.store.documents.blocks import Rect
from carrel.tui.terminal.graphics import PictureProtocol
from carrel.tui.widgets.pages.picture import DETAIL, PagePicture, PictureFrame


class PictureApp(App[None]):
    def compose(self) -> ComposeResult:
        yield PagePicture()

    @property
    def pane(self) -> PagePicture:
        return self.query_one(PagePicture)


def png(*rows: tuple[str, ...]) -> bytes:
    """A picture of squares of one colour each."""
    picture = Image.new("RGB", (len(rows[0]), len(rows)))
    for y, row in enumerate(rows):
        for x, colour in enumerate(row):
            picture.paste(colour, (x, y, x + 1, y + 1))
    large = picture.resize(
        (picture.width * DETAIL, picture.height * DETAIL), Image.Resampling.NEAREST
    )
    data = io.BytesIO()
    large.save(data, "PNG")
    return data.getvalue()


def cells(app: PictureApp) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    found = []
    for strip in app.screen._compositor.render_strips(app.size):
        for segment in strip:
            if "▀" in segment.text and segment.style and segment.style.color:
                assert segment.style.bgcolor is not None
                fore, back = segment.style.color.triplet, segment.style.bgcolor.triplet
                assert fore is not None and back is not None
                found.append((segment.text, tuple(fore), tuple(back)))
    return found


async def test_two_pixels_stand_in_a_cell() -> None:
    app = PictureApp()
    async with app.run_test(size=(20, 6)) as pilot:
        await app.pane.show(png(("red", "red", "blue"), ("white", "white", "black")))
        await pilot.pause()
        red, blue, white, black = (255, 0, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0)
        assert cells(app) == [("▀▀", red, white), ("▀", blue, black)]


@pytest.mark.parametrize(
    ("colours", "drawn"), [("truecolor", (255, 233, 233)), ("", (240, 240, 240))]
)
async def test_paper_stays_grey_where_there_are_few_colours(
    colours: str, drawn: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", colours)
    app = PictureApp()
    async with app.run_test(size=(20, 6)) as pilot:
        await app.pane.show(png(("#fff1f1", "red"), ("#fff1f1", "red")))
        await pilot.pause()
        assert cells(app) == [("▀", drawn, drawn), ("▀", (255, 0, 0), (255, 0, 0))]


async def test_the_last_row_of_an_odd_height_is_drawn() -> None:
    app = PictureApp()
    async with app.run_test(size=(20, 6)) as pilot:
        await app.pane.show(png(("red",), ("red",), ("blue",)))
        await pilot.pause()
        assert [text for text, *_ in cells(app)] == ["▀", "▀"]


async def test_no_other_frame_is_seen_inside_the_marked_one() -> None:
    app = PictureApp()
    async with app.run_test(size=(20, 12)) as pilot:
        marked = PictureFrame(Rect(0.2, 0.2, 0.6, 0.6), "red", marked=True)
        within = PictureFrame(Rect(0.3, 0.3, 0.4, 0.4), "blue")
        await app.pane.show(png(*[("white",) * 10] * 10), 10, (marked, within))
        await pilot.pause()
        drawn = {colour for _, fore, back in cells(app) for colour in (fore, back)}
        assert drawn == {(255, 255, 255), (255, 0, 0)}


async def test_a_zoomed_picture_can_be_scrolled() -> None:
    app = PictureApp()
    async with app.run_test(size=(20, 6)) as pilot:
        columns = 2 * app.pane.columns
        assert app.pane.pixels(columns) == columns * DETAIL
        await app.pane.show(png(*[("red", "blue")] * 40), columns)
        await pilot.pause()
        assert app.pane.max_scroll_y > 0 and app.pane.max_scroll_x > 0


async def test_a_sentence_stands_where_there_is_no_picture() -> None:
    app = PictureApp()
    async with app.run_test(size=(40, 6)) as pilot:
        await app.pane.explain(Content("No picture [/here]."))
        await pilot.pause()
        strips = app.screen._compositor.render_strips(app.size)
        assert any("No picture [/here]." in strip.text for strip in strips)


@pytest.mark.parametrize(("protocol", "begin"), [("kitty", "\x1b_G"), ("sixel", "\x1bP")])
async def test_a_terminal_that_shows_pictures_gets_one(
    protocol: PictureProtocol, begin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, terminal = PictureApp(), io.StringIO()
    async with app.run_test(size=(20, 12)) as pilot:
        monkeypatch.setattr("sys.__stdout__", terminal)
        app.pane._protocol = protocol
        await app.pane.show(png(("red", "blue")))
        await pilot.pause()
        drawn = "".join(strip.text for strip in app.screen._compositor.render_strips(app.size))
        assert begin in terminal.getvalue() + drawn
        assert app.pane.children[0].size.height > 1
