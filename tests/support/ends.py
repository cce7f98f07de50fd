"""Servers that a process of the tests starts once end with it."""

import atexit
from contextlib import ExitStack

ENDS = ExitStack()
"""`tests/conftest.py` closes it, because a worker of pytest-xdist leaves without `atexit`."""

atexit.register(ENDS.close)
