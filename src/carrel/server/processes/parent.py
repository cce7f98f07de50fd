"""Ends a child process with its parent, and keeps its answers apart from other output."""

import ctypes
import os
import select
import signal
import sys
from typing import BinaryIO

_PR_SET_PDEATHSIG = 1
"""The number of Linux's prctl.h."""


def end_with_parent() -> None:
    """Make the system kill this process when its parent ends, even by SIGKILL.

    The parent holds the other end of standard input, and the thread that started this process
    counts as the parent. Linux only; elsewhere a process ends when it notices that
    its pipes are closed, which a library that hangs may keep it from.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    stdin = select.poll()
    stdin.register(0, 0)
    if stdin.poll(0):
        # The parent has already ended.
        os._exit(0)


def claim_output() -> BinaryIO:
    """Return standard output for messages alone: what libraries print goes to standard error."""
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return messages
