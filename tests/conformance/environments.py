"""Where each client is installed: an environment of its own, in the user's cache folder."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_cache_path

from conformance.clients import Client

# Read on import: a test has a home of its own, and would install everything anew.
_CACHE = user_cache_path("carrel") / "conformance"


class NotInstalled(Exception):
    """A client could not be installed; the message is the installer's."""


def installed(client: Client) -> Path:
    """The folder of a client's environment, made if need be.

    Raises:
        NotInstalled: the installer failed.
    """
    packages = (f"{client.package}{'@' if client.npm else '=='}{client.version}", *client.beside)
    if not client.npm:
        return environment(packages, client.python)
    return _made(packages, ("npm", "install", "--silent", "--prefix"))


def environment(packages: Sequence[str], version: str = "") -> Path:
    """The folder of a Python environment with these packages, made if need be.

    Raises:
        NotInstalled: there is no Python of this version, or the installer failed.
    """
    return _made(packages, (), version)


def _made(packages: Sequence[str], installer: Sequence[str], version: str = "") -> Path:
    folder = _CACHE / " ".join(packages).replace("/", "+").replace(" ", "_")
    done = folder / "installed"
    if done.exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if installer:
        _run(folder, *installer, str(folder), *packages)
    else:
        uv, interpreter = os.environ.get("UV", "uv"), str(python(folder))
        _run(
            folder,
            uv,
            "venv",
            "--quiet",
            "--clear",
            "--python",
            version or sys.executable,
            str(folder),
        )
        _run(folder, uv, "pip", "install", "--quiet", "--python", interpreter, *packages)
    done.touch()
    return folder


def command(client: Client, folder: Path) -> list[str]:
    """How the client's driver is started."""
    drivers = Path(__file__).parent / "drivers"
    if not client.npm:
        return [str(python(folder)), "-m", f"conformance.drivers.{client.driver}"]
    # Node looks for packages beside the script that imports them.
    for script in drivers.glob("*.mjs"):
        shutil.copy(script, folder)
    return ["node", str(folder / client.driver)]


def python(folder: Path) -> Path:
    """The interpreter of a Python environment."""
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def _run(folder: Path, *command: str) -> None:
    try:
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(str(error)) from error
    if result.returncode:
        raise NotInstalled(result.stderr.strip() or f"{command[0]} failed")
