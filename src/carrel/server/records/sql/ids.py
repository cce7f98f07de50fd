"""Identifiers that sort by the time they were made."""

import secrets
import time
import uuid


def new_id() -> str:
    """Return a UUID of version 7."""
    value = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))
