"""Examines a server: every check, in the order of its findings."""

from collections.abc import AsyncIterator, Awaitable, Callable

from carrel.server.admin.doctor.blobs import check_blobs
from carrel.server.admin.doctor.findings import Finding, failure, ok, reason_of
from carrel.server.admin.doctor.folder import check_disk, check_folder, check_server
from carrel.server.admin.doctor.models import check_model, check_vision_model
from carrel.server.admin.doctor.reading import check_reading
from carrel.server.admin.doctor.records import check_keys, check_records
from carrel.server.datadir.folder import FolderLayout
from carrel.server.settings import FolderSettings, ServerSettings, ServerSettingsError

Check = Callable[[ServerSettings], Awaitable[list[Finding]]]

_CHECKS: dict[str, Check] = {
    "data folder": check_folder,
    "disk": check_disk,
    "server": check_server,
    "records": check_records,
    "blobs": check_blobs,
    "keys": check_keys,
    "model": check_model,
    "OCR model": check_vision_model,
    "parsers": check_reading,
}


async def examine(given: ServerSettings) -> AsyncIterator[Finding]:
    """Yield the findings about a server with these settings, part by part."""
    folder = FolderLayout(given.data)
    try:
        settings = given.with_folder(FolderSettings.load(folder.settings_file))
    except ServerSettingsError as error:
        yield failure("settings", str(error), "The server does not start before.")
        settings = given
    except OSError as error:
        yield failure("settings", reason_of(error), f"Make {folder.settings_file} readable.")
        settings = given
    else:
        there = folder.settings_file.exists()
        yield ok("settings", f"{folder.settings_file}" if there else "defaults, no settings.toml")
    for part, check in _CHECKS.items():
        try:
            for finding in await check(settings):
                yield finding
        except Exception as error:
            # A broken part must not hide the others.
            yield failure(
                part, f"the check itself failed: {reason_of(error)}", "Report this as a defect."
            )
