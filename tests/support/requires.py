"""Parts of the tests that need something this machine may lack.

Without it a test skips and says what is missing;
with `CARREL_TEST_REQUIRE=all` it fails instead.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest


def missing(reason: str) -> NoReturn:
    """Ends a test that cannot run here."""
    if os.environ.get("CARREL_TEST_REQUIRE") == "all":
        pytest.fail(reason)
    pytest.skip(reason)


def _require(program: str, install: str) -> str:
    return shutil.which(program) or missing(f"needs {program}: {install}")


def chromium() -> str:
    """The path of the system's Chromium."""
    return _require("chromium", "apt-get install chromium")


def node() -> str:
    """The path of Node.js."""
    return _require("node", "apt-get install nodejs")


def tesseract() -> str:
    """The path of Tesseract, which reads Russian."""
    path = _require("tesseract", "apt-get install tesseract-ocr")
    listed = subprocess.run([path, "--list-langs"], capture_output=True, text=True)
    if "rus" not in listed.stdout.split():
        missing("needs Russian for tesseract: apt-get install tesseract-ocr-rus")
    return path


def pdflatex() -> str:
    """The path of LaTeX's typesetter of PDFs."""
    return _require("pdflatex", "apt-get install texlive-latex-base")


def dejavu() -> Path:
    """DejaVu Sans, which has Greek and Cyrillic letters."""
    path = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
    return path if path.exists() else missing("needs a font: apt-get install fonts-dejavu-core")


def strace() -> str:
    """The path of strace, which shows the system calls of a process and of its children."""
    return _require("strace", "apt-get install strace")


def systemd_analyze() -> str:
    """The path of systemd's check of units."""
    return _require("systemd-analyze", "apt-get install systemd")


# A root to begin with: this machine's, as the lower layer. It is a mount of this namespace alone.
BOX = r"""set -e
mount --make-rprivate /
mount --bind / "$1"
exec systemd-nspawn -q -D "$1" --volatile=overlay --register=no --keep-unit --link-journal=no \
    --private-network --console=read-only "${@:2}"
"""


def systemd_nspawn(root: Path) -> list[str]:
    """The command that starts a container on an empty folder, which root alone may.

    Options of systemd-nspawn and the container's command follow it.
    """
    _require("systemd-nspawn", "apt-get install systemd-container")
    command = ["unshare", "--mount", "bash", "-c", BOX, "box", str(root)]
    if os.getuid() != 0:
        command = [_require("sudo", "apt-get install sudo"), "-n", *command]
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, timeout=60)
    if tried.returncode:
        pytest.skip(f"containers are not allowed here: {tried.stderr}")
    return command


def prometheus() -> str:
    """The path of Prometheus, which collects metrics."""
    return _require("prometheus", "apt-get install prometheus")


def promtool() -> str:
    """The path of its tool, which checks rules."""
    return _require("promtool", "apt-get install prometheus")
