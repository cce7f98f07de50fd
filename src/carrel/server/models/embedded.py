"""The embedded language model: an OpenAI-compatible address on loopback, in a process of its own.

    python -m carrel.server.models.embedded [--tokenizer] MODEL.gguf

With `--tokenizer` it counts tokens and does nothing else, in a fifth of the memory.

Reads its key as the first line of stdin, prints its address, and ends when stdin does: with
whoever started it.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from carrel.server.parent import end_with_parent

SLOTS = 4
"""Completions that run at the same time; the context is shared between them."""
CONTEXT_TOKENS = 8192

# Between two batches the engine notices that its caller has left, and the next has begun by then.
# Deep in a long prompt so few tokens take 50 ms of a core; sixteen at once would be read a seventh
# faster.
_BATCH_TOKENS = 4
# Prompts of idle slots move here, so that a chat's next turn need not be read again.
_PROMPT_CACHE_MIB = 128


def main() -> None:
    end_with_parent()
    key = sys.stdin.readline().strip()
    # Whatever the engine prints must not be taken for the address.
    answer = os.dup(1)
    os.dup2(2, 1)
    try:
        server = start(Path(sys.argv[-1]), key, tokenizer="--tokenizer" in sys.argv)
    except RuntimeError as error:
        sys.exit(str(error))
    with suppress(BrokenPipeError):
        os.write(answer, f"{server.listening_address}\n".encode())
        os.close(answer)
        sys.stdin.read()
    # Without taking the engine apart, which at times waits for ever.
    os._exit(0)


def start(weights: Path, key: str, *, tokenizer: bool = False) -> Any:
    """The running engine; it answers at `listening_address` to whoever has the key.

    As a tokenizer it has no room for a prompt.
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
    # Its threads wait for each other by spinning: where they do not all get a core, the engine
    # comes to a crawl and takes everything else with it.
    threads = max(1, (os.cpu_count() or 2) // 2)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_parallel = 1 if tokenizer else SLOTS
    params.kv_unified = True
    params.n_ctx = _BATCH_TOKENS if tokenizer else CONTEXT_TOKENS
    params.n_batch = params.n_ubatch = _BATCH_TOKENS
    # On a processor it takes three times as long as plain attention, which tells in long prompts.
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_ram_mib = 0 if tokenizer else _PROMPT_CACHE_MIB
    params.warmup = not tokenizer
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
