"""The language model of a server, embedded or remote."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from carrel.server.errors import ApiError
from carrel.server.models.address import (
    Abilities,
    ModelAddress,
    ModelClient,
    PassedOn,
    ReusingTransport,
)
from carrel.server.models.budget import TokenBudget
from carrel.server.models.control_tokens import disarm
from carrel.server.models.embedded import CONTEXT_TOKENS, SLOTS
from carrel.server.models.embedded_client import EmbeddedClient, Suspects
from carrel.server.models.names import CHAT_NAMES, is_chat_name
from carrel.server.models.pool import FIRST_TOKEN_SECONDS, ModelPool, PoolClient, PooledAddress
from carrel.server.models.process import HUNG_SECONDS, EmbeddedProcess
from carrel.server.models.stages import Tell, tell_nobody
from carrel.server.models.weights import built_in_weights
from carrel.wire.generation.completions import Progress
from carrel.wire.models import ModelCapabilities, ModelCard

log = logging.getLogger(__name__)

BUILT_IN = "smollm2"

_CAPABILITIES = ModelCapabilities(completion_chat=True, function_calling=True)
_DEFAULT_MAX_TOKENS = 1024
_TOKENIZER_IDLE_SECONDS = 30
# Text is counted in pieces, because the tokens of a piece come back as one list.
_PIECE_CHARACTERS = 100_000
_TOOLS_SECONDS = 600
"""Time after which a model that refused tools is offered some again."""
# Small models tend to repeat a few words endlessly.
_BUILT_IN_SAMPLING = {"dry_multiplier": 0.8, "dry_allowed_length": 4}


@dataclass(frozen=True)
class ModelSession:
    """A running model, for one completion."""

    client: EmbeddedClient | PoolClient
    abilities: Abilities
    sampling: dict[str, Any]
    """Default sampling parameters."""
    _budget: TokenBudget | None
    _owner: str

    @property
    def default_max_tokens(self) -> int | None:
        """Default maximum length of an answer in tokens; None leaves it to the address."""
        return None if self._budget is None else _DEFAULT_MAX_TOKENS

    @property
    def is_embedded(self) -> bool:
        """Return whether the model runs in a process of this server."""
        return self._budget is not None

    async def count_prompt(self, body: dict[str, Any]) -> int | None:
        """Return a conversation's tokens in the model's template; only llama.cpp reports them."""
        return await self.client.count_prompt(_disarm(body)) if self.abilities.llama else None

    async def stream(
        self, body: dict[str, Any], tokens: int, tell: Tell = tell_nobody
    ) -> AsyncGenerator[dict[str, Any]]:
        """Yield the chunks of one completion that needs at most `tokens` of context.

        With a seed it runs alone: concurrent completions change the rounding, and
        so the text.

        Raises:
            ApiError: the model refused or failed.
        """
        body = _disarm(body)
        if self.abilities.llama:
            # While a prompt is read, progress events reveal a closed connection. A seeded answer
            # begins without the cache, which would change the rounding.
            body = {**body, "return_progress": True, "cache_prompt": "seed" not in body}
        share: AbstractAsyncContextManager[None] = nullcontext()
        if self._budget is not None:
            alone = "seed" in body
            share = self._budget.hold(
                # Never less than a slot's share: the tokens of a short prompt are not counted.
                CONTEXT_TOKENS if alone else max(tokens, CONTEXT_TOKENS // SLOTS),
                lambda place: tell(Progress(stage="queued", place=place)),
                owner=self._owner,
            )
        async with share, aclosing(self.client.stream(body)) as chunks:
            tell(Progress(stage="asking"))
            async for chunk in chunks:
                yield chunk

    async def answer(self, body: dict[str, Any], tokens: int) -> tuple[str, int]:
        """Return the whole text of a completion as `stream` yields it, and the tokens used."""
        text, used = "", 0
        async with aclosing(self.stream(body, tokens)) as chunks:
            async for chunk in chunks:
                for choice in chunk.get("choices") or ():
                    text += (choice.get("delta") or {}).get("content") or ""
                used = (chunk.get("usage") or {}).get("total_tokens") or used
        return text, used


def _disarm(body: dict[str, Any]) -> dict[str, Any]:
    """Return a request without control tokens in what the template puts into the prompt."""
    return {**body, **disarm({key: body[key] for key in ("messages", "tools") if key in body})}


class Engine:
    """The embedded model, or the models at some addresses, behind one interface."""

    def __init__(
        self,
        *,
        model_path: Path | None = None,
        addresses: Sequence[ModelAddress] = (),
        first_token_seconds: float = FIRST_TOKEN_SECONDS,
        strict: bool = False,
        hung_seconds: float = HUNG_SECONDS,
    ) -> None:
        """Use the built-in model without a path or an address.

        `strict` says that the models answer to their own names only.
        """
        self._strict = strict
        self._http = ReusingTransport()
        self.process = EmbeddedProcess(
            lambda: model_path or built_in_weights(),
            probe=lambda address: ModelClient(self._http, address).take_turn(),
            hung_seconds=hung_seconds,
        )
        """The embedded model's process; it never starts where an address answers."""
        self._embedded_client = EmbeddedClient(self._http, self.process, Suspects())
        self._tokenizer = EmbeddedProcess(
            lambda: model_path or built_in_weights(),
            "--tokenizer",
            idle_seconds=_TOKENIZER_IDLE_SECONDS,
        )
        self._budget = TokenBudget(CONTEXT_TOKENS)
        self._pool = (
            ModelPool(self._http, addresses, first_token_seconds=first_token_seconds)
            if addresses
            else None
        )
        self._abilities: dict[ModelAddress, Abilities] = {}
        self._without_tools: dict[str, float] = {}
        """Models that refused tools, and when."""
        self._aliases = [] if strict else list(CHAT_NAMES)
        self.since = int(time.time())
        """When its models became available here, in seconds since 1970."""
        self._embedded = _card_of_built_in(model_path, self._aliases, self.since)
        self._sampling = _BUILT_IN_SAMPLING if model_path is None else {}
        self.is_built_in = model_path is None and self._pool is None
        """Whether the model is the small built-in one, which is for tests."""

    async def stop(self) -> None:
        """End the embedded model and close connections."""
        if self._pool is not None:
            await self._pool.stop()
        await self.process.stop()
        await self._tokenizer.stop()
        await self._http.aclose()

    @property
    def addresses(self) -> Sequence[PooledAddress]:
        """The addresses with their state; none for the embedded model."""
        return self._pool.addresses if self._pool is not None else ()

    async def health(self) -> dict[str, bool]:
        """Whether each address answers, or whether the embedded model's last load worked."""
        if self._pool is None:
            return {"embedded": not self.process.failed}
        await asyncio.gather(*(address.check() for address in self.addresses if address.due))
        return {address.name: address.healthy for address in self.addresses}

    @asynccontextmanager
    async def session(
        self, tell: Tell = tell_nobody, *, model: str | None = None, owner: str = ""
    ) -> AsyncIterator[ModelSession]:
        """Yield a running model, the default one without a name.

        At the embedded model the owners, which are organisations or the server itself, take turns.

        Raises:
            ApiError: 503, there is none, it cannot be loaded, or it does not answer.
        """
        if self._pool is not None:
            name = model or await self._default(self._pool)
            client = await self._pool.client(name)
            abilities = client.abilities
            if time.monotonic() - self._without_tools.get(name, -inf) < _TOOLS_SECONDS:
                abilities = replace(abilities, tools=False)
            yield ModelSession(client, abilities, {}, None, owner)
            return
        if self.process.pid is None:
            tell(Progress(stage="loading"))
        async with self.process.address() as address:
            embedded = self._embedded_client
            # One entry: a restarted embedded model has another address.
            if address not in self._abilities:
                self._abilities = {address: await embedded.abilities()}
            abilities = self._abilities[address]
            yield ModelSession(embedded, abilities, self._sampling, self._budget, owner)

    async def pass_on(
        self, path: str, content: bytes, kind: str, *, model: str | None
    ) -> PassedOn | None:
        """Pass a request on unread to an address; return None where none has the route.

        Raises:
            ApiError: an address refused or failed.
        """
        if self._pool is None:
            return None
        return await self._pool.pass_on(model, path, content, kind)

    def note_without_tools(self, model: str) -> None:
        """Describe functions to a model in its prompt for a while: it refused tools."""
        log.info("the model %s takes no tools; functions are described in its prompt", model)
        self._without_tools[model] = time.monotonic()

    async def _default(self, pool: ModelPool) -> str:
        models = await pool.abilities(again=False)
        if not models:
            raise invalid_model("default", [])
        return next(iter(models))

    async def count_tokens(self, text: str) -> int:
        """Return the tokens of a text by the model's tokenizer, without loading the model.

        Raises:
            ApiError: 503, there is no model, or it does not answer.
        """
        pieces = range(0, len(text), _PIECE_CHARACTERS)
        async with self._open_counter() as client:
            return sum(
                [await client.count_tokens(text[at : at + _PIECE_CHARACTERS]) for at in pieces]
            )

    @asynccontextmanager
    async def _open_counter(self) -> AsyncIterator[ModelClient | PoolClient]:
        if self._pool is not None:
            yield await self._pool.client(await self._default(self._pool))
            return
        async with self._tokenizer.address() as address:
            yield ModelClient(self._http, address)

    async def models(self, *, again: bool = True) -> list[ModelCard]:
        """Return the available models; the vendor's names are aliases of the first.

        Without `again` an address that was asked before is not asked anew.
        """
        if self._pool is None:
            return [self._embedded]
        models = await self._pool.abilities(again=again)
        default = next(iter(models), None)
        return [
            ModelCard(
                id=name,
                created=self.since,
                owned_by="remote",
                capabilities=_CAPABILITIES.model_copy(update={"vision": bool(abilities.images)}),
                name=name,
                max_context_length=abilities.context_of(name),
                aliases=self._aliases if name == default else [],
            )
            for name, abilities in models.items()
        ]

    async def is_at_address(self, model: str) -> bool:
        """Return whether an address lists a model of this name."""
        if self._pool is None:
            return False
        return any(card.id == model for card in await self.models(again=False))

    async def resolve(self, model: str) -> ModelCard:
        """Return the model that answers to a name at the model's address.

        Raises:
            ApiError: 400, there is no such model.
        """
        cards: list[ModelCard] = []
        for again in (False, True):
            cards = await self.models(again=again)
            for card in cards:
                if card.answers_to(model):
                    return card
        if cards and not self._strict and is_chat_name(model):
            return cards[0]
        raise invalid_model(model, cards)


def invalid_model(model: str, cards: Sequence[ModelCard]) -> ApiError:
    """Return the error for an unknown model."""
    names = ", ".join(card.id for card in cards)
    return ApiError(
        400,
        f"Invalid model: {model[:80]}. This server has: {names or 'none'}.",
        "invalid_model",
        "1500",
    )


def _card_of_built_in(path: Path | None, aliases: list[str], since: int) -> ModelCard:
    return ModelCard(
        id=BUILT_IN if path is None else path.stem,
        created=since,
        owned_by="carrel",
        capabilities=_CAPABILITIES,
        name="SmolLM2 135M" if path is None else path.stem,
        description="small test model" if path is None else None,
        max_context_length=CONTEXT_TOKENS,
        aliases=aliases,
    )
