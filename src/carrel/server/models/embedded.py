"""The embedded language model: an OpenAI-compatible address on loopback, in a process of its own.

    python -m carrel.server.models.embedded [--tokenizer] MODEL.gguf

With `--tokenizer` it only counts tokens, in a fifth of the memory.

Reads its key from the first line of stdin, prints its address, and ends at the end of stdin:
with its parent.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from carrel.server.processes.parent import claim_output, end_with_parent

SLOTS = 4
"""Concurrent completions, which share the context."""
CONTEXT_TOKENS = 8192

# The engine notices a closed connection between two batches, when the next has already begun.
# Deep in a long prompt this batch takes 50 ms of a core; sixteen tokens at once would be a seventh
# faster.
_BATCH_TOKENS = 4
# Cache for prompts of idle slots: a chat's next turn does not read its history again.
_PROMPT_CACHE_MIB = 128
# Address space for prompts, grammars, the cache, and the threads of connections.
_REQUESTS_BYTES = 2**30


def main() -> None:
    """Run llama.cpp until its parent ends."""
    end_with_parent()
    key = sys.stdin.readline().strip()
    # The engine's own output must not be mistaken for the address.
    answer = claim_output()
    try:
        server = start(Path(sys.argv[-1]), key, tokenizer="--tokenizer" in sys.argv)
    except RuntimeError as error:
        sys.exit(str(error))
    _limit_memory()
    with suppress(BrokenPipeError):
        answer.write(f"{server.listening_address}\n".encode())
        answer.close()
        sys.stdin.read()
    # Skips the engine's teardown, which sometimes hangs.
    os._exit(0)


def start(weights: Path, key: str, *, tokenizer: bool = False) -> Any:
    """Start the engine, which answers at `listening_address` to requests with the key.

    A `tokenizer` counts tokens only, with the least memory.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.cors_origins = ""
    params.offline = True
    params.ui = False
    params.verbosity = 0
    # Its threads spin while they wait for each other: with fewer cores than threads the engine
    # crawls and starves every other process.
    threads = max(1, (os.cpu_count() or 2) // 2)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_parallel = 1 if tokenizer else SLOTS
    params.kv_unified = True
    params.n_ctx = _BATCH_TOKENS if tokenizer else CONTEXT_TOKENS
    params.n_batch = params.n_ubatch = _BATCH_TOKENS
    # On a CPU it takes three times as long as plain attention, noticeable with long prompts.
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_ram_mib = 0 if tokenizer else _PROMPT_CACHE_MIB
    params.warmup = not tokenizer
    return xllamacpp.Server(params)


def _limit_memory() -> None:
    """Bound what requests take beside the loaded model; one that needs more ends this process."""
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + _REQUESTS_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main()
