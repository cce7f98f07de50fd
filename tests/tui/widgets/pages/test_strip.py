import pytest

from carrel.store.documents.formatting import page_marks
from carrel.store.documents.state import DocumentState
from carrel.tui.widgets.pages.strip import page_strip


@pytest.mark.parametrize(
    ("current", "shown"),
    [
        (0, "[○1] ○2 ○3 ○4 ○5 …"),
        (24_999, "… [○25000] ○25001 …"),
        (49_999, "… ○49999 [○50000]"),
    ],
)
def test_of_many_pages_those_around_the_current_one_are_shown(current: int, shown: str) -> None:
    count, width = 50_000, 21
    everything = frozenset(range(count))
    state = DocumentState(
        page_count=count, pages=(None,) * count, wanted=everything, current=current
    )
    marks = page_marks(state, width)
    assert len(marks) <= 2 * width + 1
    assert page_strip(marks, count, width).plain == shown
