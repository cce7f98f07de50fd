"""Crash reports: tracebacks without secrets, written to the state folder."""

import logging
import platform
import traceback
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from carrel.text import redact

logger = logging.getLogger(__name__)

KEPT = 20
"""Number of reports that are kept."""


def write_report(error: BaseException) -> Path | None:
    """Write a report and return its path, or None if it cannot be written."""
    from carrel.config.profiles import folders

    now = datetime.now(UTC)
    lines = [
        f"carrel {version('carrel')}, Python {platform.python_version()}, {platform.platform()}",
        now.isoformat(timespec="seconds"),
        "",
        *traceback.format_exception(error),
    ]
    try:
        folder = folders().state / "crashes"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"{now:%Y%m%d-%H%M%S-%f}.txt"
        path.write_text(redact("\n".join(lines)), encoding="utf-8")
        path.chmod(0o600)
        for old in sorted(folder.glob("*.txt"))[:-KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        logger.exception("no crash report could be written")
        return None
    return path
