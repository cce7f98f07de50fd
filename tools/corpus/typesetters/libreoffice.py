"""LibreOffice's Writer: the HTML as an office document, exported as people do."""

import atexit
import random
import re
import shutil
import subprocess
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from corpus.document import Document
from corpus.looks import Look, TableLook
from corpus.webpage import Page

_FRAMES = {
    "grid": 'border="1"',
    "inner": 'border="1" frame="void"',
    "hair": 'border="1" frame="below" rules="rows"',
    "three": 'border="1" frame="hsides" rules="groups"',
    "double": 'border="1" frame="hsides" rules="groups"',
    "head": 'border="1" frame="void" rules="groups"',
    "vertical": 'border="1" frame="void" rules="cols"',
    "box": 'border="1" frame="box" rules="groups"',
    "none": 'border="0"',
}


@cache
def _home() -> Path:
    """Return LibreOffice's profile, which ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="corpus-office-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def fitted(look: Look, rng: random.Random) -> Look:
    return replace(look, columns=1)


def set_both(document: Document, look: Look) -> tuple[bytes, bytes]:
    """Return the PDF and its twin."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for twin in (False, True):
            source = Page(document, look, twin=twin, floats_notes=False).html()
            path = folder / f"{'twin' if twin else 'plain'}.html"
            path.write_text(_simple(source, look), "utf-8")
        command = ["soffice", "--headless", f"-env:UserInstallation=file://{_home()}"]
        command += ["--infilter=HTML (StarWriter)", "--convert-to", "pdf:writer_pdf_Export"]
        command += ["plain.html", "twin.html"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=180)
        return (folder / "plain.pdf").read_bytes(), (folder / "twin.pdf").read_bytes()


def _simple(source: str, look: Look) -> str:
    """Say in attributes those parts of the look that Writer does not take from a style sheet."""
    parts = re.split(r'(<table class="[^"]*">.*?</table>)', source.replace("!important", ""))
    for index in range(1, len(parts), 2):
        parts[index] = _framed(parts[index], look.table(index // 2))
    return "".join(parts)


def _framed(table: str, style: TableLook) -> str:
    whole = ' width="100%"' if ' full"' in table[:40] else ""
    about = f'{_FRAMES[style.rules]} cellspacing="0" cellpadding="{round(style.across)}"{whole}'
    table = table.replace("<table ", f"<table {about} ", 1)
    if style.shade == "head":
        table = table.replace("<th ", f'<th bgcolor="{style.tint}" ')
    elif style.shade == "stripes":
        table = table.replace("<tr class=odd>", f'<tr class=odd bgcolor="{style.tint}">')
    return table
