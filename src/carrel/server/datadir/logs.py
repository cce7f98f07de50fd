"""The server's log: rotating, in the data folder, without secrets."""

import json
import logging
import os
import re
import stat
import sys
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from typing import Literal, TextIO

from carrel.server.datadir.folder import DataFolder
from carrel.server.datadir.signing import PREFIX
from carrel.server.spans import current_request

LogFormat = Literal["text", "json"]

_BYTES = 2_000_000
"""Size at which the log is renamed and a new one begun."""
_FILES = 3
"""Number of renamed logs that are kept."""
_TOKEN = re.compile(re.escape(PREFIX) + r"[^\s\"']+")
_STORE_SIGNATURE = re.compile(r"(X-Amz-(?:Signature|Security-Token)=)[^\s&\"']+")
_KEY = re.compile(r"carrel_[A-Za-z0-9_-]{43}")
_ID = re.compile(
    r"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{8}|[a-z]+_[0-9a-f]{27,28}|[0-9a-f]{60})"
    r"(?=[0-9a-f]{4}\b)"
)
"""An id, or the hash of bytes, but for the end: that is enough to follow one in the log."""


class _Text(logging.Formatter):
    """Formats a line as text."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request)s] %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        record.request = current_request.get()
        return super().format(record)


class _JSON(logging.Formatter):
    """Formats a line as a JSON object; a request's line has its figures as fields."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "request_id": current_request.get(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False)


class _WithoutSecrets(logging.Formatter):
    """Redacts another formatter's output, tracebacks included.

    Removes keys and signed addresses, and shortens ids and hashes to their ends.
    """

    def __init__(self, formatter: logging.Formatter, *secrets: str) -> None:
        super().__init__()
        self._formatter = formatter
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        line = _KEY.sub("…", self._formatter.format(record))
        for secret in self._secrets:
            line = line.replace(secret, "…")
        line = _ID.sub(_shorten, _STORE_SIGNATURE.sub(r"\1…", line))
        return _TOKEN.sub(f"{PREFIX}…", line)


class _File(RotatingFileHandler):
    """A file that is rotated once it is full."""

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        # The original formats every line twice, to know its length beforehand.
        return self.stream is not None and os.fstat(self.stream.fileno()).st_size >= self.maxBytes


def _shorten(id: re.Match[str]) -> str:
    """Return an id shortened to its end. The id of the line's own request stays whole."""
    return id[0] if current_request.get().startswith(id[0]) else "…"


def _is_collected(stream: TextIO) -> bool:
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def log_to(folder: DataFolder, format: LogFormat = "text", *, stdout: bool | None = None) -> None:
    """Log to the folder: our own records from INFO, others' from WARNING.

    To standard output, too, if `stdout` says so, or where that is a pipe or a socket: there a
    container's runtime or systemd collects lines.
    """
    handlers: list[logging.Handler] = [
        _File(
            folder.log_folder / "server.log", maxBytes=_BYTES, backupCount=_FILES, encoding="utf-8"
        )
    ]
    if _is_collected(sys.stdout) if stdout is None else stdout:
        handlers.append(logging.StreamHandler(sys.stdout))
    formatter = _JSON() if format == "json" else _Text()
    for handler in handlers:
        handler.setFormatter(_WithoutSecrets(formatter, folder.api_key, folder.secret.hex()))
    # No line names its caller or its thread; to look them up takes half of its time.
    logging._srcfile = None
    logging.logThreads = False
    root = logging.getLogger()
    root.handlers = handlers
    root.setLevel(logging.WARNING)
    logging.getLogger("carrel").setLevel(logging.INFO)
