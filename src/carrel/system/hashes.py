"""SHA-256 of files, and hashed file names."""

import hashlib
from collections.abc import AsyncIterable
from pathlib import Path


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


async def sha256_of(chunks: AsyncIterable[bytes]) -> str:
    """Return the SHA-256 of bytes as they arrive, in hexadecimal."""
    digest = hashlib.sha256()
    async for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def hashed_name(text: str) -> str:
    """Return a file name for any text of any length."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
