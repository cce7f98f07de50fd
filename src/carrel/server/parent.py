"""Ending with whoever started this process, whatever it is doing then."""

import ctypes
import os
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """From now on the system kills this process when its parent ends, be it by SIGKILL.

    The parent holds the other end of standard input, and the thread that started this process
    counts as the parent. Only Linux can do this; elsewhere a process ends when it notices that
    its pipes are closed, which a library that hangs may keep it from.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    stdin = select.poll()
    stdin.register(0, 0)
    if stdin.poll(0):
        # The parent was faster: it has ended already.
        os._exit(0)
