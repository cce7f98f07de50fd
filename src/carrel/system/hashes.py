"""SHA-256 of files, and hashed file names."""

import hashlib
from pathlib import Path


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hashed_name(text: str) -> str:
    """Return a file name for any text of any length."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
