import pytest

from carrel.notebook.cells.errors import BenchError
from carrel.notebook.results.unfinished import UnfinishedWork
from carrel.store.activity.state import ActivityItem, ActivityState
from carrel.store.store import Store


def test_files_of_a_browser_are_said_to_be_lost(store: Store) -> None:
    work = UnfinishedWork(store)
    assert not work
    item = ActivityItem("1", "upload", "<b>scan</b>.pdf", "interrupted")
    store.activity.slice.put(ActivityState((item,)))
    lost = "1 file from a browser or from memory cannot be resumed; upload it again: "
    assert repr(work) == f"<{lost}<b>scan</b>.pdf · drop() forgets it>"
    assert "<b>" not in work._repr_html_()
    with pytest.raises(BenchError, match=r"Nothing can be resumed\. 1 file"):
        work.resume()
