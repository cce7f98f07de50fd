"""Chat completions: a model asked directly, without an agent. The answers are `Completion`s."""

from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from carrel.wire.base import Count, JSONObject, Text
from carrel.wire.generation.completions import CompletionOptions


class ChatRequest(CompletionOptions):
    """One completion by a model, with its sampling.

    Without effect on the bundled server: `user`, `safety_identifier`, `store`,
    `document_image_limit` (documents are read as text), and `stream_options`: a stream's last chunk
    always carries `usage`. `verbosity` and `logit_bias` are passed to a model at an address, and
    named in a `Warning` header by the built-in model.
    """

    model: Annotated[Text, Field(min_length=1)]
    max_tokens: Count | None = Field(
        default=None, validation_alias=AliasChoices("max_tokens", "max_completion_tokens")
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    random_seed: Count | None = Field(
        default=None, validation_alias=AliasChoices("random_seed", "seed")
    )
    safe_prompt: bool = False
    user: Text | None = None
    safety_identifier: Text | None = None
    store: bool | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    logit_bias: JSONObject | None = None
    stream_options: JSONObject | None = None
