"""The sample that is shipped: a document of two pages about the workbench itself."""

from importlib.resources import files
from pathlib import Path

NAME = "guide to the workbench.pdf"
QUESTION = "What is a library?"
"""What the sample's agent is asked; the document answers it."""


def content() -> bytes:
    """Return the document."""
    return files("carrel.samples").joinpath("guide.pdf").read_bytes()


def demo() -> Path:
    """Return the file of the demo that is shipped."""
    return Path(str(files("carrel.samples").joinpath("demo.yaml")))
