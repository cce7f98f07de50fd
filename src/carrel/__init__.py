"""Carrel: a workbench for documents and agents.

In a notebook:

    import carrel
    bench = carrel.connect()
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from carrel.notebook.bench.bench import Bench
    from carrel.notebook.cells.errors import BenchError

__all__ = ["BenchError", "connect"]


def connect(
    profile: str | None = None, *, url: str | None = None, api_key: str | None = None
) -> "Bench":
    """Return the workbench in a notebook.

    Returns at once and connects in the background.

    Args:
        profile: the name of a saved profile; by default the local server, or the default profile.
        url: the address of a service, instead of a profile.
        api_key: the service's key. It is kept in memory alone; read it from the environment, so
            that it does not stand in the notebook.

    Raises:
        BenchError: there is no such profile, or a setting is wrong.
    """
    # Imported late: only notebooks need the panels.
    from carrel.notebook.bench.bench import Bench

    return Bench(profile, url=url, api_key=api_key)


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Register `%%ask AGENT`, a cell with a question, on `%load_ext carrel`."""
    from carrel.notebook.magic import register

    register(shell)


def __getattr__(name: str) -> Any:
    if name == "BenchError":
        from carrel.notebook.cells.errors import BenchError

        return BenchError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
