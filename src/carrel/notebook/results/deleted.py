"""The deleted items that `bench.trash()` returns."""

import time
from collections.abc import Iterator, Sequence
from typing import overload

from carrel.notebook.cells.errors import BenchError
from carrel.notebook.html.tables import moment, table
from carrel.store.trash.formatting import deleted_rows, trash_title
from carrel.store.trash.state import DeletedItem, TrashState


class DeletedItems(Sequence[DeletedItem]):
    """Deleted items, last deleted first; shown as a table."""

    def __init__(self, state: TrashState) -> None:
        self._state = state

    def find(self, item: str) -> DeletedItem:
        """Return the item of this name or id; of several with one name, the last deleted.

        Raises:
            BenchError: there is no such item.
        """
        found = next((one for one in self if item in (one.id, one.name)), None)
        if found is None:
            raise BenchError(f"“{item}” is not in the trash", "", "bench.trash() lists what is.")
        return found

    @overload
    def __getitem__(self, index: int) -> DeletedItem: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[DeletedItem]: ...
    def __getitem__(self, index: int | slice) -> DeletedItem | Sequence[DeletedItem]:
        return self._state.items[index]

    def __iter__(self) -> Iterator[DeletedItem]:
        return iter(self._state.items)

    def __len__(self) -> int:
        return len(self._state.items)

    def __repr__(self) -> str:
        return f"<{trash_title(self._state)}>"

    def _repr_html_(self) -> str:
        if not self:
            return "<p>Nothing is in the trash.</p>"
        rows = zip(deleted_rows(self._state, time.time()), self, strict=True)
        cells = [
            (row.kind, row.name, moment(item.deleted_at), moment(item.expires_at))
            for row, item in rows
        ]
        return table(trash_title(self._state), ("Kind", "Name", "Deleted", "Kept until"), cells)
