"""The `carrel` command."""

import sys

# httpx leaves out its own command when it cannot be imported; that takes as long as all the rest.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
