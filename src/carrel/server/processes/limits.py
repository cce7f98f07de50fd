"""Limits of a process that reads documents: memory, processor time, no files."""

import sys

try:
    import resource
except ImportError:  # Windows has no such limits; wall-clock time-outs stand in.
    resource = None  # type: ignore[assignment]

COPIES_READ = sys.platform == "linux"
"""Whether a forked copy reads each document. Off Linux, system libraries do not survive a fork."""
_ADDRESS_SPACE = 2**31
"""Bytes. liteparse's PDFium reserves half of them at start; otherwise it is a tenth slower."""


def limit_this_process() -> None:
    """Limit memory and forbid writing files for the rest of this process's life."""
    if resource is None:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def allow_cpu(seconds: int) -> None:
    """End this process after `seconds` more of processor time."""
    if resource is None:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    used = int(usage.ru_utime + usage.ru_stime)
    resource.setrlimit(resource.RLIMIT_CPU, (used + 1 + seconds, hard))
