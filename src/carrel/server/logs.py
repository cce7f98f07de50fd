"""The server's log: rotating, in the data folder, without secrets."""

import logging
import re
from logging.handlers import RotatingFileHandler

from carrel.server.folder import DataFolder
from carrel.server.signing import PREFIX

_BYTES = 2_000_000
_FILES = 3
_TOKEN = re.compile(re.escape(PREFIX) + r"[^\s\"']+")


class _WithoutSecrets(logging.Formatter):
    """Formats a line, then strikes out keys and signed addresses, tracebacks included."""

    def __init__(self, *secrets: str) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        for secret in self._secrets:
            line = line.replace(secret, "…")
        return _TOKEN.sub(f"{PREFIX}…", line)


def log_to(folder: DataFolder) -> None:
    """Sends this process's log to the folder: our own from INFO, of others what went wrong."""
    handler = RotatingFileHandler(
        folder.log_folder / "server.log", maxBytes=_BYTES, backupCount=_FILES, encoding="utf-8"
    )
    handler.setFormatter(_WithoutSecrets(folder.api_key, folder.secret.hex()))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("carrel").setLevel(logging.INFO)
