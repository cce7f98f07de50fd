"""What the store is made of: nothing of a screen or the server, and little at its start."""

import subprocess
import sys

SHOW = "import sys, carrel.store.store; print('\\n'.join(sys.modules))"


def test_importing_the_store_loads_no_face_no_server_and_nothing_heavy() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", SHOW], capture_output=True, text=True, check=True
    ).stdout.split()
    forbidden = ("textual", "ipywidgets", "anywidget", "carrel.server", "carrel.tui")
    late = ("httpx", "pydantic", "PIL", "pypdfium2", "carrel.client.client", "carrel.wire")
    found = [name for name in (*forbidden, *late) if name in loaded]
    assert found == []
