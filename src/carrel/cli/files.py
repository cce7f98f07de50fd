"""`carrel files …`"""

import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from carrel.cli import output
from carrel.cli.errors import CommandError
from carrel.cli.find import find_file
from carrel.cli.options import JSONOption, ProfileOption, argument, commands, option
from carrel.cli.session import check_readable, run, with_client
from carrel.config.profiles import load_profile
from carrel.system.filenames import file_name

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.files import File

app = commands("Upload, list, download and delete files.")

FileArgument = Annotated[str, argument("FILE", "A file's id or name.")]
Purpose = Literal["ocr", "batch", "fine-tune"]


@app.command("upload")
def upload(
    paths: Annotated[list[Path], argument("PATH...", "The files to upload.")],
    purpose: Annotated[
        Purpose | None, typer.Option(help="The files' purpose. Default: the service decides.")
    ] = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Upload files. Prints the id of each."""
    from carrel.cli.uploads import Uploads
    from carrel.store.journal.entries import UPLOAD_FILE

    files: list[File] = []
    chosen = load_profile(profile)

    async def work(client: "Client") -> None:
        with Uploads(chosen, paths, UPLOAD_FILE, purpose=purpose) as uploads:
            async for file in uploads.send(partial(client.files.upload, purpose=purpose)):
                files.append(file)
                output.note(f"Uploaded {output.one_line(file.filename)}.")
                if not json:
                    output.data(file.id)

    try:
        check_readable(paths)
        run(profile, work, changes=True)
    finally:
        # Includes files uploaded before a failure.
        if json and files:
            output.as_json(files if len(paths) > 1 else files[0])


@app.command("list")
@with_client()
async def list_files(
    client: "Client",
    search: Annotated[
        str | None, option("TEXT", "List only files whose name contains TEXT.")
    ] = None,
    json: JSONOption = False,
) -> None:
    """List files."""
    files = [file async for file in client.files.every(search)]
    output.show_list(
        files,
        json,
        ID=lambda file: file.id,
        NAME=lambda file: file.filename,
        PURPOSE=lambda file: file.purpose,
        SIZE=lambda file: output.size(file.bytes),
        CREATED=lambda file: output.local_time(file.created_at),
    )


@app.command("get")
@with_client()
async def get(client: "Client", file: FileArgument, json: JSONOption = False) -> None:
    """Show a file's details."""
    found = await find_file(client, file)
    output.show_record(
        found,
        [
            ("id", found.id),
            ("name", output.one_line(found.filename)),
            ("purpose", found.purpose),
            ("size", output.size(found.bytes)),
            ("type", found.mimetype),
            ("lines", found.num_lines),
            ("created", output.local_time(found.created_at)),
            ("expires", found.expires_at and output.local_time(found.expires_at)),
        ],
        json,
    )


@app.command("delete")
@with_client(changes=True)
async def delete(
    client: "Client",
    files: Annotated[list[str], argument("FILE...", "The files' ids or names.")],
    json: JSONOption = False,
) -> None:
    """Delete files."""
    deleted = []
    for wanted in files:
        file = await find_file(client, wanted)
        deleted.append(await client.files.delete(file.id))
        output.note(f"Deleted {output.one_line(file.filename)}.")
    if json:
        output.as_json(deleted if len(files) > 1 else deleted[0])


@app.command("url")
@with_client()
async def url(
    client: "Client",
    file: FileArgument,
    hours: Annotated[int, option("N", "Hours until the address expires.", min=1, max=168)] = 24,
    json: JSONOption = False,
) -> None:
    """Print a signed address that opens a file without a key until it expires."""
    from carrel.store.files.formatting import link_words

    signed = await client.files.url((await find_file(client, file)).id, hours)
    if json:
        output.as_json(signed)
    else:
        output.data(signed.url)
    output.note(link_words(signed.url, hours, time.time()))


@app.command("download")
@with_client()
async def download(
    client: "Client",
    file: FileArgument,
    to: Annotated[
        Path | None,
        argument(
            "TO", "A path, a folder, or - for stdout. Default: the file's name in this folder."
        ),
    ] = None,
    json: JSONOption = False,
) -> None:
    """Download a file. Prints its path."""
    found = await find_file(client, file)
    if to == Path("-"):
        async with client.files.content(found.id) as content:
            async for chunk in content:
                sys.stdout.buffer.write(chunk)
        return
    target = _target(found, to)
    with output.progress(f"Downloading {target.name}") as report:
        path = await client.files.download(found.id, target, report)
    if json:
        output.as_json({"id": found.id, "path": str(path)})
    else:
        output.data(str(path))


def _target(file: "File", to: Path | None) -> Path:
    if to is not None and not to.is_dir():
        return to
    target = (to or Path()) / file_name(file.filename, file.id)
    if target.exists():
        raise CommandError(f"{target} already exists. Give another path.")
    return target
