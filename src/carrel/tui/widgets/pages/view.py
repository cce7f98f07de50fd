"""A page of the open document: its picture with boxes, zoomed, or one block of it."""

from textual import work
from textual.content import Content

from carrel.store.core.problem import ProblemError
from carrel.store.documents.blocks import Rect
from carrel.store.documents.boxes import Heat, boxes
from carrel.store.documents.service import DocumentsService
from carrel.store.documents.state import DocumentState
from carrel.tui.theme import labels
from carrel.tui.widgets.pages.picture import PagePicture, PictureFrame

ZOOMS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
LEGIBLE = 1.0
"""Pixels per point for legible print: at half as many, 9-point print is a grey line."""
LARGEST = 3.0
"""Most pixels per point, however small the block."""
PAGE_POINTS = 842.0
"""Most points in a page's width: pictures often claim to be metres wide."""
TINTS: dict[Heat | None, float] = {None: 0.0, "fair": 0.35, "doubtful": 0.8}
"""Opacity of the tint of each heat."""
LATE = 0.3
"""Seconds after which another page's picture is no longer shown for one that is being drawn."""
MARGIN = 0.01
"""Margin around a block that fills the pane, in fractions of the page."""


class PageView(PagePicture):
    """The current page as a picture, or `nothing` while no document is open."""

    def __init__(self, documents: DocumentsService, nothing: Content, *, id: str) -> None:
        super().__init__(id=id)
        self._documents = documents
        self._nothing = nothing
        self.filling = False
        self.warm = False
        """Whether blocks are tinted by the confidence in their words."""
        # Zooms of the page, and of a block that fills the pane.
        self._zooms = {False: ZOOMS.index(1.0), True: ZOOMS.index(1.0)}
        self._drawn: tuple[object, ...] = ()
        self._seen: tuple[object, ...] = ()

    @property
    def zoom(self) -> float:
        """The zoom relative to the fitting width of the page, or of the block that fills the
        pane."""
        return ZOOMS[self._zooms[self.filling]]

    def zoom_by(self, step: int) -> None:
        """Change the zoom by steps."""
        now = self._zooms[self.filling]
        self._zooms[self.filling] = max(0, min(now + step, len(ZOOMS) - 1))

    def fill(self, filling: bool) -> None:
        """Fill the pane with the chosen block, or show the whole page again."""
        self.filling = filling
        self._zooms[True] = ZOOMS.index(1.0)

    def chosen_rect(self, state: DocumentState) -> Rect | None:
        """Return the rectangle of the chosen block, else of the passage from which the document was
        opened."""
        if state.page is None:
            return state.place
        found = (box.rect for box in boxes(state.page) if box.block == state.block)
        return next(found, state.place)

    def forget(self) -> None:
        """Draw the picture again in changed colours."""
        self._drawn = ()

    # Described: by default a worker's description holds its arguments, here a whole reading at
    # every step.
    @work(exclusive=True, group="picture", exit_on_error=False, description="show_page")
    async def show_page(self, state: DocumentState) -> None:
        """Show the current page in its current state."""
        part = self._part(state)
        columns = self._width_of_part(state, part)
        wanted = (state.picture_path, state.current, columns, part)
        frames = self._page_frames(state, part)
        if wanted == self._drawn:
            await self.frame(frames)
            return self._look(state, part)
        self._drawn = ()
        if state.source is None:
            return await self.explain(self._nothing)
        if state.no_picture is not None:
            return await self.explain(labels.block(state.no_picture, "$muted"))
        if state.picture_path is None or state.page_count is None:
            return await (self._await_picture() if state.loading else self.explain(Content()))
        late = self.set_timer(LATE, self._await_picture, pause=self._seen[:1] == (state.current,))
        try:
            png = await self._documents.picture(state.current, self.pixels(columns), part)
        except ProblemError as error:
            return await self.explain(Content("\n").join(labels.problem(error.problem)))
        finally:
            late.stop()
        await self.show(png, columns, frames)
        self._drawn, self._seen = wanted, ()
        return self._look(state, part)

    async def _await_picture(self) -> None:
        await self.explain(labels.muted("Loading …"))

    def _part(self, state: DocumentState) -> Rect | None:
        """Return the part that fills the pane: the chosen block with a margin, else the page."""
        rect = self.chosen_rect(state)
        if not self.filling or rect is None:
            return None
        left, top = max(rect.left - MARGIN, 0.0), max(rect.top - MARGIN, 0.0)
        right = min(rect.left + rect.width + MARGIN, 1.0)
        return Rect(left, top, right - left, min(rect.top + rect.height + MARGIN, 1.0) - top)

    def _width_of_part(self, state: DocumentState, part: Rect | None) -> int:
        """Return the width in columns of the part, or of the page."""
        columns = self.columns
        if part is not None:
            points = part.width * _points_wide(state)
            least, most = (self.columns_for(scale * points) for scale in (LEGIBLE, LARGEST))
            columns = max(least, min(columns, most))
        return max(int(columns * self.zoom), 10)

    def _page_frames(self, state: DocumentState, part: Rect | None) -> tuple[PictureFrame, ...]:
        if part is not None:
            return ()
        colours = self.app.get_css_variables()
        accent, line, doubt = (colours[role] for role in ("accent", "secondary", "doubtful"))
        found = boxes(state.page) if state.page is not None else ()
        frames = [
            PictureFrame(box.rect, doubt if box.doubtful else line, dashed=box.doubtful)
            for box in found
            if box.block != state.block
        ]
        if self.warm:
            frames += [
                PictureFrame(box.rect, doubt, heat=TINTS[box.heat]) for box in found if box.heat
            ]
        if (rect := self.chosen_rect(state)) is not None:
            frames.append(PictureFrame(rect, accent, marked=True))
        return tuple(frames)

    def _look(self, state: DocumentState, part: Rect | None) -> None:
        """Scroll to the chosen part once: later scrolling by the user is kept."""
        chosen = self.chosen_rect(state)
        seen = (state.current, chosen, part, self.zoom)
        if seen == self._seen:
            return
        self._seen = seen
        if part is not None or chosen is None:
            self.scroll_home(animate=False)
        else:
            self.call_after_refresh(self.reveal, chosen)


def _points_wide(state: DocumentState) -> float:
    """Return the width of the current page in points."""
    size = state.page.dimensions if state.page is not None else None
    if size is None or not size.width:
        return PAGE_POINTS
    return min(size.width * 72 / (size.dpi or 72), PAGE_POINTS)
