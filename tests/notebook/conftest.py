"""A store that talks to nobody."""

from collections.abc import Iterator

import pytest

from carrel.config.profiles import Profile
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store


@pytest.fixture
def store() -> Iterator[Store]:
    """The whole state on a loop in a thread of its own, never started."""
    store = Store(Profile("test", "http://127.0.0.1:9"), OwnerLoop.in_thread())
    yield store
    store.loop.run(store.close()).result(10)
    store.loop.close()
