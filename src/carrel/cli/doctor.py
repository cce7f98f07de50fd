"""`carrel doctor`: checks every part and suggests repairs."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carrel.cli import output
from carrel.cli.errors import Code
from carrel.cli.options import JSONOption, ProfileOption, option
from carrel.cli.server_options import BlobsOption, DatabaseOption
from carrel.client.http.errors import ClientError, ServiceError, Unauthorized, Unreachable
from carrel.config.profiles import Profile, folders, load_profile

if TYPE_CHECKING:
    from carrel.server.admin.doctor.findings import Finding

_MARKS = {"ok": "✓", "warning": "!", "failed": "✕"}


@dataclass(frozen=True)
class ServiceFinding:
    """A finding about a profile's service, in the form of a finding about a server."""

    part: str
    state: str
    said: str
    advice: str = ""


def doctor(
    data: Annotated[
        Path | None,
        option(
            "DIR",
            "Look at the server of this data folder. Default: the one of the profile “local”, "
            "if that is the profile.",
        ),
    ] = None,
    database: DatabaseOption = None,
    blobs: BlobsOption = None,
    model_url: Annotated[
        list[str] | None, option("URL", "The model's address, as for “carrel serve”.")
    ] = None,
    gone: Annotated[
        str | None,
        option(
            "TEXT",
            "Search everything that the server keeps for this id or these words, and check "
            "nothing else. Of what was deleted for ever, nothing is found.",
        ),
    ] = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Check every part of a server, or the connection to a service, and say what to mend.

    The server may run or not. For a hosted profile, its address, key and version are checked; for
    the local one, or with any of the options, the parts of a server: settings, data folder, disk,
    records, bytes, keys, model, parsers, OCR, clocks and workers. Nothing is repaired or kept.

    The exit code is 0 if nothing failed, and 4 if something did.
    """
    of_server = any((data, database, blobs, model_url))
    found: list[Any] = []

    def tell(finding: "Finding | ServiceFinding") -> None:
        found.append(finding)
        if not json:
            _show(finding)

    async def look() -> None:
        here = of_server
        if not of_server:
            chosen = load_profile(profile)
            here = chosen.local
            if not chosen.local:
                async for finding in _service(chosen):
                    tell(finding)
        if here:
            async for part in _parts(data, database, blobs, model_url or (), gone):
                tell(part)

    asyncio.run(look())
    if json:
        output.as_json([asdict(finding) for finding in found])
    failed = sum(finding.state == "failed" for finding in found)
    warned = sum(finding.state == "warning" for finding in found)
    if not json:
        output.note(
            f"Failed: {failed}. Worth a look: {warned}." if failed or warned else "All is well."
        )
    if failed:
        raise typer.Exit(Code.DIFFERENT)


def _show(finding: "Finding | ServiceFinding") -> None:
    mark = _MARKS[finding.state]
    if sys.stdout.isatty():
        colour = {"ok": "32", "warning": "33", "failed": "31"}[finding.state]
        mark = f"\x1b[{colour}m{mark}\x1b[0m"
    output.data(f"{mark} {finding.part:<12} {output.one_line(finding.said)}")
    if finding.advice:
        output.data(f"  {'':<12} → {output.one_line(finding.advice)}")
    sys.stdout.flush()


async def _parts(
    data: Path | None,
    database: str | None,
    blobs: str | None,
    model_url: Sequence[str],
    gone: str | None,
) -> "AsyncIterator[Finding | ServiceFinding]":
    from carrel.local.installed import NotInstalled, require_server

    try:
        require_server()
    except NotInstalled as error:
        yield ServiceFinding("server", "failed", str(error), "pip install 'carrel[server]'")
        return
    from carrel.server.admin.doctor.examine import examine
    from carrel.server.settings import ServerSettings

    settings = ServerSettings(
        data=data or folders().server, database=database, blobs=blobs, model_url=tuple(model_url)
    )
    if gone is not None:
        from carrel.server.admin.doctor.remains import find_remains

        for found in await find_remains(settings, gone):
            yield found
        return
    async for finding in examine(settings):
        yield finding


async def _service(profile: Profile) -> AsyncIterator[ServiceFinding]:
    from carrel.client import Client

    url = profile.url or ""
    yield ServiceFinding("profile", "ok", f"{profile.name}: {url}")
    if not profile.api_key:
        advice = f"carrel profiles add {profile.name} --url {url}, or CARREL_API_KEY"
        yield ServiceFinding("key", "warning", "the profile has none", advice)
    async with Client(url, profile.api_key) as client:
        try:
            models = await client.models.list()
        except Unreachable as error:
            yield ServiceFinding("address", "failed", str(error), "Check it in a browser.")
            return
        except Unauthorized as error:
            yield ServiceFinding("address", "ok", "it answers")
            yield ServiceFinding("key", "failed", str(error), "Ask the service's operator for one.")
            return
        except ServiceError as error:
            yield ServiceFinding("address", "failed", str(error), error.reference)
            return
        except ClientError as error:
            yield ServiceFinding("address", "failed", str(error), "Is it the right address?")
            return
        yield ServiceFinding("address", "ok", "it answers")
        if profile.api_key:
            yield ServiceFinding("key", "ok", "it is accepted")
        count = len(models.data)
        yield (
            ServiceFinding("models", "ok", f"{count} are listed")
            if count
            else ServiceFinding("models", "warning", "none is listed", "Chats need one.")
        )
        theirs = await client.version()
    mine = version("carrel")
    if theirs is None:
        yield ServiceFinding("version", "ok", f"Carrel {mine}; the service names none")
    elif theirs == mine:
        yield ServiceFinding("version", "ok", f"Carrel {mine} on both sides")
    else:
        advice = "They work together if the service is not older. Upgrade the older one."
        yield ServiceFinding("version", "warning", f"Carrel {mine} here, {theirs} there", advice)
