"""Cleaning of text: remote text steers no terminal, and what is logged holds no secrets."""

import re
from typing import Any

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """The text without C0 and C1 control characters, except line feed and tab.

    A lone surrogate, which no output can encode, becomes U+FFFD. Works character by
    character, so the pieces of a stream may be cleaned one by one.
    """
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub("", text))


def clean_json(value: Any) -> Any:
    """Parsed JSON with every string in it, keys too, cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): clean_json(item) for key, item in value.items()}
    return value


_SECRETS = (
    (re.compile(r"(?i)(bearer\s+|api[_-]?key\W{1,4})[^\s\"',;)]+"), r"\1…"),
    (re.compile(r"(/signed/)[^\s\"'?]+"), r"\1…"),
    (re.compile(r"(?i)(https?://[^\s\"'?]+\?)[^\s\"']+"), r"\1…"),
    (re.compile(r"(?i)(https?://)[^/\s\"'@]+@"), r"\1…@"),
)


def redact(text: str) -> str:
    """The text without keys, signed addresses and the queries of addresses."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text
