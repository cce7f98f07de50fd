"""API keys, told by their look."""

import re

KEY_PATTERNS = (
    r"\b[a-z]{2,8}[_-](?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9]{12,}\b",
    r"\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{24,}\b",
)
"""A prefix as services give it, such as `sk-`, or letters and digits alone."""

_KEY = re.compile("|".join(KEY_PATTERNS))


def looks_like_key(text: str) -> bool:
    """Return whether a text has an API key in it."""
    return _KEY.search(text) is not None
