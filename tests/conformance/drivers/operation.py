"""What every driver is made of: operations that run in order and say how they went.

A driver runs inside its client's own environment. The server's address and key are in the
environment, the documents in the working folder, and the operations to run in the arguments.
"""

import json
import os
import sys
from collections.abc import Callable

URL = os.environ["CARREL_URL"]
KEY = os.environ["CARREL_API_KEY"]


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
