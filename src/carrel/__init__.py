"""Carrel: a workbench for documents and agents.

In a notebook:

    import carrel
    bench = carrel.connect()
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.notebook.bench import Bench

__all__ = ["connect"]


def connect(profile: str | None = None) -> "Bench":
    """The workbench in a notebook, for the local server or a named profile.

    Returns at once and connects in the background.

    Raises:
        BenchError: there is no such profile, or a setting is wrong.
    """
    # Imported late: nothing but a notebook needs the panels.
    from carrel.notebook.bench import Bench

    return Bench(profile)
