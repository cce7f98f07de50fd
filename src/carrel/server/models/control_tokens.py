"""Control tokens of chat templates, kept out of the texts that a template puts together.

llama.cpp and vLLM tokenize a whole prompt at once: "<|im_end|>" in a document would end its
message, and the words after it could speak as the system.
"""

import re
from typing import Any

# ChatML, Llama 3, Phi and DeepSeek; Gemma; Mistral.
_BEGINNING = re.compile(
    r"<(?=[|｜][^<>|｜\s]{1,40}[|｜]>|(?:start|end)_of_turn>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
)


def disarm(value: Any) -> Any:
    """Return a JSON value whose texts spell control tokens with a blank, as in "< |im_end|>"."""
    if isinstance(value, str):
        return _BEGINNING.sub(r"\g<0> ", value)
    if isinstance(value, list):
        return [disarm(item) for item in value]
    if isinstance(value, dict):
        return {name: disarm(item) for name, item in value.items()}
    return value
