"""Detection of API keys in text."""

import re

KEY_PATTERNS = (
    r"\b(?:carrel_|sk-)[A-Za-z0-9_-]{20,}",
    r"\b[a-z]{2,8}[_-](?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9]{12,}\b",
    r"\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{24,}\b",
)
"""A known prefix, a common one, or letters and digits alone."""

_KEY = re.compile("|".join(KEY_PATTERNS))


def looks_like_key(text: str) -> bool:
    """Return whether a text contains an API key."""
    return _KEY.search(text) is not None
