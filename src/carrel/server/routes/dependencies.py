"""Dependencies of routes: the server, the caller, query parameters as a model."""

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import sqlalchemy as sa
from fastapi import Depends
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from carrel.server.assembly import Server
from carrel.server.blobs.store import Download
from carrel.server.completions.call import Batch, CompletionCall
from carrel.server.completions.responder import Responder
from carrel.server.datadir.signing import Kind
from carrel.server.http.disconnect import cancel_on_disconnect
from carrel.server.http.event_stream import EventStream
from carrel.server.records.accounts.caller import Caller
from carrel.wire.generation.completions import CompletionChunk, CompletionOptions

M = TypeVar("M", bound=BaseModel)
P = ParamSpec("P")
T = TypeVar("T")

Query = Callable[Concatenate[sa.Connection, Caller, P], T]
"""A function of the records, which a caller reads or changes."""

_UNSAFE_NAME = re.compile(r"[^A-Za-z0-9_.-]")
_UNSAFE = re.compile(r"[^A-Za-z0-9_., :-]")
"""Characters that a header cannot hold."""


# Coroutines: FastAPI would run a plain function in a thread.
async def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


CurrentServer = Annotated[Server, Depends(_server)]


class RequestContext:
    """The server that a request reached, and its caller.

    The middleware has refused requests without a valid key.
    """

    def __init__(self, request: Request) -> None:
        self.server: Server = request.app.state.server
        self.caller: Caller = request.state.caller
        self.request = request

    @property
    def trash_days(self) -> int:
        """Days in which a delete can be undone."""
        return self.server.settings.limits.trash_days

    def sign(self, kind: Kind, id: str, blob: str | None, served: Download, seconds: int) -> str:
        """Return an address that works without a key, signed by the object store if it can."""
        own = self.server.blobs.signed_url(blob, served, seconds) if blob else None
        base = self.server.settings.public_url or str(self.request.base_url)
        return own or self.server.signer.url(base, kind, id, seconds)

    async def read(self, query: Query[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of a query of the records for the caller."""
        return await self.server.database.read(query, self.caller, *args, **kwargs)

    async def write(self, change: Query[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Change the records for the caller, in one transaction."""
        return await self.server.database.write(change, self.caller, *args, **kwargs)

    def completion(self, responder: Responder, asked: CompletionOptions) -> CompletionCall:
        """Return a completion for the caller, whose documents it may read."""
        ocr, caller, pages = self.server.ocr, self.caller, asked.document_page_limit
        return CompletionCall(
            responder, asked, caller, lambda chunk: ocr.text(chunk, caller, pages)
        )

    async def cancel_on_disconnect(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, which is cancelled when the caller disconnects."""
        return await cancel_on_disconnect(self.request, work)

    def spend(self, tokens: int) -> None:
        """Count the tokens of the answer so far against the limits."""
        self.request.state.tokens = tokens

    def spend_on(self, batch: Batch) -> None:
        """Count the tokens of a stream against the limits: about one a chunk, until the last chunk
        has the exact number.
        """
        for chunk in batch:
            if isinstance(chunk, CompletionChunk):
                before = getattr(self.request.state, "tokens", 0)
                self.spend(chunk.usage.total_tokens if chunk.usage else before + 1)

    async def stream(
        self, source: AsyncGenerator[T], write: Callable[[AsyncGenerator[T]], AsyncGenerator[str]]
    ) -> Response:
        """Return the events that `write` makes of a source, once it has given its first item.

        An error before that still gets a status of its own.
        """
        first = await self.cancel_on_disconnect(anext(source))
        return EventStream(write(_chain(first, source)), source)


async def _context(request: Request) -> RequestContext:
    return RequestContext(request)


Context = Annotated[RequestContext, Depends(_context)]


async def _chain(first: T, rest: AsyncGenerator[T]) -> AsyncGenerator[T]:
    yield first
    async for item in rest:
        yield item


def warn_of(notes: Sequence[str], answer: Response) -> None:
    """Add notes to the `Warning` header of an answer."""
    before = answer.headers.get("warning")
    warnings = [f'299 carrel "{_UNSAFE.sub("?", note)}"' for note in notes]
    if warnings:
        answer.headers["warning"] = ", ".join([*([before] if before else []), *warnings])


def ignored_note(names: Sequence[str]) -> list[str]:
    """Name the fields of a request that were left out, if there are any."""
    said = ", ".join(_UNSAFE_NAME.sub("?", name[:40]) for name in names[:20])
    return [f"Ignored, as unknown: {said}"] if said else []


def query_of(model: type[M]) -> Callable[[Request], Awaitable[M]]:
    """Return a dependency that reads a model from the query.

    A list is a repeated key, an object is JSON in one value. Unknown and empty parameters
    are ignored: newer clients send some that this server does not know.
    """

    async def read(request: Request) -> M:
        return validate(model, _values(model, request.query_params), "query")

    # Read by the OpenAPI description.
    read.query_model = model  # type: ignore[attr-defined]
    return read


if TYPE_CHECKING:
    InQuery = Annotated[M, Depends]
else:

    class InQuery:
        """A model that is read from the query, as in `query: InQuery[FileQuery]`."""

        def __class_getitem__(cls, model: type[M]) -> Any:
            return Annotated[model, Depends(query_of(model))]


def fields_of(model: type[M], given: dict[str, str]) -> M:
    """Return a model of the text parts of an upload. Unknown and empty parts are ignored."""
    known = {name: value for name, value in given.items() if value and name in model.model_fields}
    return validate(model, known, "body")


def validate(model: type[M], values: Any, where: str) -> M:
    """Validate values that FastAPI did not read itself; errors are answered with 422."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(
            [{**item, "loc": (where, *item["loc"])} for item in error.errors()], body=values
        ) from None


def _values(model: type[BaseModel], parameters: QueryParams) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        given = [value for value in parameters.getlist(name) if value]
        if given:
            values[name] = _value(info.annotation, given)
    return values


def _value(annotation: Any, given: list[str]) -> Any:
    kinds = _kinds(annotation)
    if list in kinds:
        return given
    return _json_object(given[-1]) if dict in kinds else given[-1]


def _kinds(annotation: Any) -> set[Any]:
    """Return the plain types of an annotation, without parameters and constraints."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return {kind for member in get_args(annotation) for kind in _kinds(member)}
    return {origin or annotation}


def _json_object(text: str) -> dict[str, Any] | None:
    # One official client sends a JSON string where it means "not given".
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
