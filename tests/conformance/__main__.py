"""`uv run python tests/conformance`: runs every client and writes docs/conformance.md."""

import sys
import tempfile
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
    with tempfile.TemporaryDirectory() as temporary, serve(Path(temporary) / "data") as server:
        documents = prepare(Path(temporary) / "documents")
        for client in CLIENTS:
            print(client.name, file=sys.stderr)
            for operation, error in run(client, installed(client), server, documents).items():
                if error is not None:
                    failed[client.name, operation] = error
                    print(f"  {operation}: {error}", file=sys.stderr)
    write(table(lambda client, operation: (client.name, operation) not in failed))
    return 1 if failed else 0


sys.exit(main())
