"""The shipped sample: a document of two pages about the workbench."""

from importlib.resources import files
from pathlib import Path

NAME = "guide to the workbench.pdf"
QUESTION = "What is a library?"
"""The question to the sample's agent, which the document answers."""


def content() -> bytes:
    """Return the document."""
    return files("carrel.samples").joinpath("guide.pdf").read_bytes()


def demo() -> Path:
    """Return the path of the shipped demo."""
    return Path(str(files("carrel.samples").joinpath("demo.yaml")))
