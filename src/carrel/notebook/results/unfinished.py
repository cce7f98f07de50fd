"""The work that an earlier kernel left: `bench.unfinished`."""

from html import escape
from typing import Self

from carrel.notebook.cells.errors import BenchError
from carrel.notebook.cells.wait import run
from carrel.store.store import Store


class UnfinishedWork:
    """Work that an earlier kernel or start left undone, such as `78 of 100 uploads left`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def resume(self, *, timeout: float | None = None) -> Self:
        """Resume the work, wait for its end, and return what cannot be resumed.

        Files that have arrived are not sent again.

        Raises:
            BenchError: nothing can be resumed: files from a browser are to be uploaded again.
        """
        if self and not self._store.unfinished.resumable:
            raise BenchError("Nothing can be resumed", f"{self._left}.")

        async def resume() -> None:
            self._store.unfinished.resume()
            await self._store.unfinished.idle()

        run(self._store, resume(), timeout)
        return self

    def drop(self) -> None:
        """Forget the work. Files that have arrived stay."""
        self._store.unfinished.drop()

    def __bool__(self) -> bool:
        return bool(self._store.unfinished.left)

    def __repr__(self) -> str:
        return f"<{self._words}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._words)}</p>"

    @property
    def _words(self) -> str:
        if not self:
            return "Nothing was left unfinished"
        ways = "resume() or drop()" if self._store.unfinished.resumable else "drop() forgets it"
        return f"{self._left} · {ways}"

    @property
    def _left(self) -> str:
        return " · ".join(self._store.unfinished.left)
