"""Request models as keywords: `create(name="contracts")` beside `create(LibraryCreate(…))`."""

import functools
import inspect
import operator
from collections.abc import Callable
from difflib import get_close_matches
from types import UnionType
from typing import (
    Annotated,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    overload,
)

from carrel.wire.base import Request

S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
P = ParamSpec("P")


class Bound(Protocol[P, T_co]):
    """A method that takes a request model, or ids and the request's fields."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co: ...
    @overload
    def __call__(self, *ids: str, **fields: Any) -> T_co: ...


class Method(Protocol, Generic[S_contra, P, T_co]):
    """A `Bound` method before it is bound to its area."""

    def __get__(
        self, instance: S_contra, owner: type[S_contra] | None = None
    ) -> Bound[P, T_co]: ...


def fields_of(
    request: type[Request],
) -> Callable[[Callable[Concatenate[S, P], T]], Method[S, P, T]]:
    """Let a method take its request's fields as keywords, shown in its signature.

    The method raises TypeError for an unknown keyword and pydantic's ValidationError, a ValueError,
    for an invalid value.
    """

    def decorate(method: Callable[Concatenate[S, P], T]) -> Method[S, P, T]:
        own = inspect.signature(method, eval_str=True)
        (place,) = (at for at, p in enumerate(own.parameters.values()) if p.annotation is request)
        name = [*own.parameters][place]

        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> T:
            if len(args) > place or name in kwargs:
                return method(*args, **kwargs)
            rest = {key: kwargs.pop(key) for key in kwargs.keys() & own.parameters.keys()}
            _check_known(method.__name__, request, kwargs)
            made: dict[str, Any] = {**rest, name: request(**kwargs)}
            return method(*args, **made)

        call.__signature__ = _signature(own, name, request)  # type: ignore[attr-defined]
        return cast(Method[S, P, T], call)

    return decorate


def _signature(own: inspect.Signature, name: str, request: type[Request]) -> inspect.Signature:
    """Return the method's signature with its request replaced by the request's fields."""
    fields = [
        inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.is_required() else field.default,
            annotation=_plain(field.annotation),
        )
        for key, field in request.model_fields.items()
    ]
    rest = [
        parameter
        if at == 0 or parameter.default is inspect.Parameter.empty
        else parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for at, parameter in enumerate(own.parameters.values())
        if parameter.name != name
    ]
    ordered = sorted([*rest, *fields], key=lambda parameter: parameter.kind)
    return own.replace(parameters=ordered)


def _plain(annotation: Any) -> Any:
    """Return a type without its validators, for readers of the signature."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _plain(inner[0])
    if origin in (Union, UnionType):
        return functools.reduce(operator.or_, map(_plain, inner))
    return list[_plain(inner[0])] if origin is list else annotation  # type: ignore[misc]


def _check_known(method: str, request: type[Request], given: dict[str, Any]) -> None:
    for key in given.keys() - request.model_fields.keys():
        near = get_close_matches(key, request.model_fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(request.model_fields)}."
        raise TypeError(f"{method} has no field {key!r}: {hint}")
