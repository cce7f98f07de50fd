"""The workbench's log: a rotating file in the state folder."""

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

from carrel.config.profiles import folders
from carrel.text import redact

MAX_BYTES, KEPT = 1_000_000, 3


class _Redacted(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def start() -> Path | None:
    """Start logging to a file; return its path, or None if it cannot be created."""
    path = folders().state / "carrel.log"
    logger = logging.getLogger("carrel")
    for handler in [item for item in logger.handlers if isinstance(item, RotatingFileHandler)]:
        if Path(handler.baseFilename) == path:
            return path
        logger.removeHandler(handler)
        handler.close()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = RotatingFileHandler(
            path, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8", delay=True
        )
    except OSError:
        return None
    file.setFormatter(_Redacted("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(file)
    logger.setLevel(logging.INFO)
    return path
