"""What every driver is made of: operations that run in order and say how they went.

A driver runs inside its client's own environment. The server's address and key are in the
environment, the documents in the working folder, and the operations to run in the arguments.
"""

import base64
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

URL = os.environ["CARREL_URL"]
KEY = os.environ["CARREL_API_KEY"]

THINKING_URL = os.environ.get("THINKING_URL", URL)
THINKING_KEY = os.environ.get("THINKING_API_KEY", KEY)
"""Of a server whose model thinks "Let me see." and says "Four."."""

PDF = Path("report.pdf")
PNG = Path("notice.png")
MODEL = "mistral-small-latest"
QUESTION = "How is the weather in Rome?"
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 12}},
            "required": ["city"],
        },
    },
}
"""A tool whose call is short."""


def operation(name: str) -> Callable[[Callable[[], object]], None]:
    """Runs the decorated function at once, if asked for, and prints one line of JSON about it."""

    def run(function: Callable[[], object]) -> None:
        if name not in sys.argv[1:]:
            return
        error = None
        try:
            function()
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
        print(json.dumps({"operation": name, "ok": error is None, "error": error}), flush=True)

    return run


def data_url(picture: Path) -> str:
    """A PNG as a data URL."""
    return f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}"


def fetch(address: str) -> bytes:
    """What a signed address gives without a key."""
    with urlopen(address) as answer:
        return bytes(answer.read())


def signed_address(pdf: Path) -> str:
    """The signed address of a PDF uploaded for this, for clients that cannot do it themselves."""
    id = _call(_upload(f"{URL}/v1/files", pdf))["id"]
    return str(_call(Request(f"{URL}/v1/files/{id}/url?expiry=1"))["url"])


def library_with(pdf: Path) -> str:
    """The id of a library with this document, processed, for clients that only search it."""
    made = Request(f"{URL}/v1/libraries", data=json.dumps({"name": "papers"}).encode())
    made.add_header("Content-Type", "application/json")
    library = str(_call(made)["id"])
    place = f"{URL}/v1/libraries/{library}/documents"
    id = _call(_upload(place, pdf))["id"]
    while _call(Request(f"{place}/{id}/status"))["processing_status"] == "Running":
        time.sleep(0.05)
    return library


def _upload(address: str, pdf: Path) -> Request:
    head = f'--part\r\nContent-Disposition: form-data; name="file"; filename="{pdf.name}"\r\n\r\n'
    body = head.encode() + pdf.read_bytes() + b"\r\n--part--\r\n"
    form = {"Content-Type": "multipart/form-data; boundary=part"}
    return Request(address, data=body, headers=form)


def _call(request: Request) -> Any:
    request.add_header("Authorization", f"Bearer {KEY}")
    with urlopen(request) as answer:
        return json.load(answer)
