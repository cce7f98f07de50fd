"""The `carrel` command."""

import sys

# httpx skips its own command line if that cannot be imported; importing it takes as long as all the
# rest.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
