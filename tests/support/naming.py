"""Records that name blobs, as collectors ask for them."""

from collections.abc import Awaitable, Callable, Collection


def naming(*live: str) -> Callable[[Collection[str]], Awaitable[set[str]]]:
    """Says of hashes which are among those named here; at most a thousand are asked for."""

    async def named(hashes: Collection[str]) -> set[str]:
        assert 0 < len(hashes) <= 1000
        return set(hashes) & set(live)

    return named
