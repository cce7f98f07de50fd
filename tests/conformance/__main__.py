"""`uv run python tests/conformance [NAME …]`: runs every client and writes docs/conformance.md.

With names, as they stand in clients.py, it runs only those and writes nothing.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from conformance.clients import CLIENTS
from conformance.environments import installed
from conformance.run import prepare, run
from conformance.table import table, write
from support.process import serve


def main() -> int:
    """The exit code: 1 when an operation failed."""
    failed: dict[tuple[str, str], str] = {}
    chosen = [client for client in CLIENTS if client.package in sys.argv[1:]] or CLIENTS
    with tempfile.TemporaryDirectory() as temporary, serve(Path(temporary) / "data") as server:
        documents = prepare(Path(temporary) / "documents")
        for client in chosen:
            began = time.monotonic()
            for operation, error in run(client, installed(client), server, documents).items():
                if error is not None:
                    failed[client.name, operation] = error
                    print(f"  {operation}: {error}", file=sys.stderr)
            print(f"{client.name}: {time.monotonic() - began:.1f} s", file=sys.stderr)
    if chosen is CLIENTS:
        write(table(lambda client, operation: (client.name, operation) not in failed))
    return 1 if failed else 0


sys.exit(main())
