"""Rejoins words hyphenated at line ends."""

import re
from collections.abc import Container, Iterable

from carrel.server.reading.page.elements import Line
from carrel.server.reading.page.table import MarkedText

_SOFT_HYPHENS = ("\u00ad", "\ufffe")
_HYPHENS = ("-", "\u2010", *_SOFT_HYPHENS)
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_HEAD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*-$")
_TAIL = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def ends_in_hyphen(text: str) -> bool:
    """Return whether a line ends in a hyphen within a word or compound."""
    return text.endswith(_HYPHENS) and text[-2:-1].isalnum()


def join_lines(lines: Iterable[Line], compounds: Container[str] = ()) -> str:
    """Join consecutive lines into one paragraph and rejoin words split at line ends.

    `compounds` are words known to have a hyphen, in lower case.
    """
    text = ""
    for line in lines:
        text = join_texts(text, line.text.strip(), compounds)
    return text


def join_texts(text: str, addition: str, compounds: Container[str] = ()) -> str:
    """Join a text with its continuation and rejoin the word that the break splits."""
    if not ends_in_hyphen(text):
        return f"{text} {addition}".strip()
    if text.endswith(_SOFT_HYPHENS) or (
        text[-2].isalpha() and addition[:1].islower() and not _is_known(text, addition, compounds)
    ):
        return text[:-1] + addition
    # Keep the hyphen: Anglo-Saxon, 1914-1918.
    return text + addition


def join_marked(text: MarkedText, addition: MarkedText) -> MarkedText:
    """Join a text with its continuation, and their marks."""
    gap = len(join_texts(text.text, addition.text)) - len(text.text) - len(addition.text)
    if gap < 0:
        text = text.without_last_letter()
    return text.followed_by(addition, " " * gap)


def compounds_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the words hyphenated within a line, in lower case."""
    return frozenset(
        word for text in texts if "-" in text for word in _COMPOUND.findall(text.lower())
    )


def _is_known(before: str, after: str, compounds: Container[str]) -> bool:
    """Return whether the word split at the line end is one of the compounds."""
    head, tail = _HEAD.search(before), _TAIL.match(after)
    return head is not None and tail is not None and (head[0] + tail[0]).lower() in compounds
