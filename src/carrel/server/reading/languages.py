"""The languages of Tesseract that are installed here, for scripts that the built-in OCR lacks."""

import logging
import shutil
import subprocess
from functools import cache

log = logging.getLogger(__name__)

SCRIPTS = {
    "amh": "ETHIOPIC", "ara": "ARABIC", "bel": "CYRILLIC", "ben": "BENGALI", "bul": "CYRILLIC",
    "ell": "GREEK", "fas": "ARABIC", "guj": "GUJARATI", "heb": "HEBREW", "hin": "DEVANAGARI",
    "hye": "ARMENIAN", "kan": "KANNADA", "kat": "GEORGIAN", "khm": "KHMER", "kor": "HANGUL",
    "lao": "LAO", "mal": "MALAYALAM", "mar": "DEVANAGARI", "mya": "MYANMAR", "nep": "DEVANAGARI",
    "pan": "GURMUKHI", "rus": "CYRILLIC", "sin": "SINHALA", "srp": "CYRILLIC", "tam": "TAMIL",
    "tel": "TELUGU", "tha": "THAI", "ukr": "CYRILLIC", "urd": "ARABIC", "yid": "HEBREW",
}  # fmt: skip
"""The script of each of Tesseract's languages that is used, as letters' names begin."""
INSTALL = "apt-get install tesseract-ocr tesseract-ocr-rus, or -ell, -ara, -heb, -hin, -kor …"
"""The Debian packages that bring languages."""
_SECONDS = 20


@cache
def languages() -> tuple[str, ...]:
    """Return Tesseract's useful languages installed here by name, or none without it."""
    program = shutil.which("tesseract")
    if program is None:
        return ()
    try:
        listed = subprocess.run(
            [program, "--list-langs"], capture_output=True, text=True, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        log.warning("Tesseract does not work here: %s", type(error).__name__)
        return ()
    return tuple(sorted(SCRIPTS.keys() & {*listed.stdout.split()}))
