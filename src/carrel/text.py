"""Cleaning of remote text, and its width in a terminal; cleaning of logs from secrets."""

import re
import unicodedata
from typing import Any

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SEPARATOR = re.compile("[\u2028\u2029]")
# Zero-width spaces and word joiners, invisible operators, byte order marks, tags.
_UNSEEN = re.compile("[\u200b\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Return the text without C0 and C1 control characters, except line feed and tab, and without
    bidirectional controls.

    The marks U+200E, U+200F and U+061C stay: right-to-left text needs them, and each affects at
    most one letter. A lone surrogate, which no output can encode, becomes U+FFFD. Works character
    by character, so that pieces of a stream may be cleaned separately.
    """
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub("", text))


def clean_name(text: str) -> str:
    """Return a name or title without invisible content.

    Unicode's line and paragraph separators become spaces; zero-width letters, which make different
    names look alike or hide a message, are removed. Joiners of letters or emoji stay.
    """
    return _UNSEEN.sub("", _SEPARATOR.sub(" ", text))


def clean_json(value: Any) -> Any:
    """Return parsed JSON with all strings and keys cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): clean_json(item) for key, item in value.items()}
    return value


def width_of(text: str) -> int:
    """Return the width of a text in terminal cells: two for an ideograph."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


_SECRETS = (
    (
        re.compile(
            r"(?i)((?:bearer|basic)\s+|(?:access|api|model|ocr|rerank)[_-]?key\W{1,4}"
            r"|(?:password|secret|token)[\"']?\s*[:=]\s*[\"']?)[^\s\"',;)]+"
        ),
        r"\1…",
    ),
    (re.compile(r"\b(?:carrel_|sk-)[A-Za-z0-9_-]{16,}"), "…"),
    (re.compile(r"(/signed/)[^\s\"'?]+"), r"\1…"),
    (re.compile(r"(?i)(https?://[^\s\"'?]+\?)[^\s\"']+"), r"\1…"),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.]{0,30}://)[^/\s\"'@]+@"), r"\1…@"),
)


def redact(text: str) -> str:
    """Return the text with keys, passwords, signed addresses and URL queries removed."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text
