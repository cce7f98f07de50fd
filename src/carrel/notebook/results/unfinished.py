"""The work that an earlier kernel left, which `bench.unfinished` gives."""

from html import escape

from carrel.notebook.cells.wait import wait_for
from carrel.store.store import Store


class UnfinishedWork:
    """Work that an earlier kernel or start left undone, such as `78 of 100 uploads left`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def resume(self, *, timeout: float | None = None) -> None:
        """Resume the work and wait for its end. Files that have arrived are not sent again."""

        async def resume() -> None:
            self._store.unfinished.resume()
            await self._store.unfinished.idle()

        wait_for(self._store, self._store.loop.run(resume()), timeout)

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
        left = " · ".join(self._store.unfinished.left)
        return f"{left}: resume() or drop()" if left else "Nothing was left unfinished"
