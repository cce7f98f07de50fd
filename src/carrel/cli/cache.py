"""`carrel cache …`"""

import shutil
from pathlib import Path
from typing import Annotated

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.options import JSONOption, argument, commands
from carrel.config.profiles import folders

app = commands("Show and clear the copies that this machine keeps.")

KINDS = {
    "documents": "documents that were opened, for their pictures",
    "results": "pages that were read: without them they are read, and billed, again",
    "readings": "how far each document was read",
    "seen": "lists and texts, shown while the service is out of reach",
    "uploaded": "which bytes were uploaded, so that a cell uploads them once",
}


@app.command("list")
def list_cache(json: JSONOption = False) -> None:
    """List the copies by kind, with their size."""
    sizes = {kind: _size(folders().cache / kind) for kind in KINDS}
    if json:
        output.as_json([{"kind": kind, "bytes": size} for kind, size in sizes.items()])
        return
    rows = [(kind, output.size(size), KINDS[kind]) for kind, size in sizes.items()]
    output.table(["KIND", "SIZE", "HOLDS"], rows)


@app.command("clear")
def clear(
    kinds: Annotated[
        list[str] | None, argument("KIND...", "The kinds to clear. Default: all.")
    ] = None,
) -> None:
    """Delete copies from this machine; the service keeps what it has."""
    for kind in kinds or ():
        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise CommandError(f"There is no kind “{kind}”. Kinds are {known}.", Code.USAGE)
    freed = 0
    for kind in kinds or KINDS:
        folder = folders().cache / kind
        freed += _size(folder)
        shutil.rmtree(folder, ignore_errors=True)
    output.note(f"Cleared {output.size(freed)}.")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
