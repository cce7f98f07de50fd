"""The data folder, its disk, and the server that runs on it."""

import json
import os
import shutil
import stat
from pathlib import Path

import httpx

from carrel.server.admin.doctor.findings import (
    ANSWER_SECONDS,
    Finding,
    advice_to_write,
    failure,
    ok,
    reason_of,
    warning,
)
from carrel.server.datadir.folder import FORMAT, FolderError, FolderLayout
from carrel.server.settings import ServerSettings
from carrel.system.locking import Locked, lock_file

_LITTLE_BYTES, _LEAST_BYTES = 5_000_000_000, 500_000_000


async def check_folder(settings: ServerSettings) -> list[Finding]:
    """Check whether the folder can be written, its format is known, and its secrets are safe."""
    folder, part = FolderLayout(settings.data), "data folder"
    path = folder.path
    if not path.exists():
        above = next(parent for parent in path.parents if parent.exists())
        if not os.access(above, os.W_OK | os.X_OK):
            return [
                failure(part, f"{path} cannot be made", f"Make {above} writable, or use --data.")
            ]
        return [warning(part, f"{path} is not there yet", "The first “carrel serve” makes it.")]
    if not path.is_dir():
        return [failure(part, f"{path} is a file", "Choose another folder with --data.")]
    try:
        try_writing(path)
    except OSError as error:
        said = f"{path} cannot be written: {reason_of(error)}"
        return [failure(part, said, advice_to_write(error, path))]
    found = []
    try:
        present = folder.format
    except FolderError as error:
        return [failure(part, str(error), "Restore a backup: carrel restore.")]
    if present > FORMAT:
        said = f"{path} has format {present}; this version knows formats up to {FORMAT}"
        return [failure(part, said, "Install a newer Carrel.")]
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        advice = f"It holds keys: chmod 700 {path}"
        found.append(warning(part, f"{path} is open to other users ({mode:04o})", advice))
    else:
        # The folder of a server that shares a database has no records.
        format = f", format {present}" if present else ""
        found.append(ok(part, f"{path}, writable{format}"))
    for name in ("key", "secret"):
        file = path / name
        if not file.exists():
            continue
        if not os.access(file, os.R_OK) or not file.read_text("utf-8", "replace").strip():
            advice = f"Restore {file} from a backup: without the secret no key is accepted."
            found.append(failure(part, f"{file} is empty or unreadable", advice))
        elif stat.S_IMODE(file.stat().st_mode) & 0o077:
            found.append(warning(part, f"other users can read {file}", f"chmod 600 {file}"))
    return found


async def check_disk(settings: ServerSettings) -> list[Finding]:
    """Check whether the folder's disk has room."""
    path = next(
        p for p in (settings.data.absolute(), *settings.data.absolute().parents) if p.exists()
    )
    usage = shutil.disk_usage(path)
    said = f"{_room(usage.free)} of {_room(usage.total)} are free"
    advice = "Uploads fail when it is full. Free some space, or move bytes to a store: --blobs."
    if usage.free < _LEAST_BYTES:
        return [failure("disk", said, advice)]
    if usage.free < _LITTLE_BYTES:
        return [warning("disk", said, advice)]
    if hasattr(os, "statvfs"):
        inodes = os.statvfs(path)
        if inodes.f_files and inodes.f_favail < inodes.f_files / 100:
            return [failure("disk", f"{inodes.f_favail} inodes are free", advice)]
    return [ok("disk", said)]


def _room(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size < 1e9 else f"{size / 1e9:,.1f} GB"


async def check_server(settings: ServerSettings) -> list[Finding]:
    """Check whether a server runs on the folder, and whether it says that it is well."""
    folder, part = FolderLayout(settings.data), "server"
    if not folder.path.is_dir():
        return []
    try:
        lock_file(folder.path / "lock").close()
        return [ok(part, "none runs on this folder")]
    except Locked:
        pass
    except OSError:
        return []
    if not folder.server_file.exists():
        return [warning(part, "one is starting, or a command uses the folder", "Look again soon.")]
    url = str(json.loads(folder.server_file.read_text("utf-8"))["url"])
    log = f"See {folder.log_folder / 'server.log'}."
    try:
        async with httpx.AsyncClient(trust_env=False, verify=False, timeout=ANSWER_SECONDS) as http:
            ready = await http.get(f"{url}/readyz")
    except httpx.HTTPError as error:
        return [failure(part, f"{url} does not answer: {reason_of(error)}", f"Restart it. {log}")]
    if ready.status_code != 200:
        failing = ", ".join(ready.json().get("failing", ["something"]))
        return [failure(part, f"{url} says that these fail: {failing}", log)]
    worker = ready.json()["worker"]
    return [ok(part, f"{url}: {worker['running']} documents run, {worker['queued']} wait")]


def try_writing(folder: Path) -> None:
    """Write a file into a folder and remove it.

    Raises:
        OSError: it cannot be written.
    """
    probe = folder / f".doctor-{os.getpid()}"
    try:
        probe.write_bytes(b"x")
    finally:
        probe.unlink(missing_ok=True)
