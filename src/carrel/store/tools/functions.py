"""Functions of this program that agents may call."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carrel.wire.generation.tools import FunctionTool

logger = logging.getLogger(__name__)


class Functions:
    """The registered functions by name. May be filled from any thread."""

    def __init__(self) -> None:
        self._functions: dict[str, Callable[..., Any]] = {}

    def add(self, function: Callable[..., Any]) -> None:
        """Register a function under its own name, replacing an earlier one.

        Raises:
            TypeError: the function has no name, or its parameters have no JSON schema.
        """
        from pydantic import PydanticUserError

        if not getattr(function, "__name__", "").isidentifier():
            raise TypeError("A function that agents may call needs a name: define it with def.")
        try:
            _schema(function)
        except PydanticUserError as error:
            raise TypeError(
                f"The parameters of {function.__name__} cannot be described: {error}"
            ) from error
        self._functions[function.__name__] = function

    async def list(self) -> Sequence[FunctionTool]:
        """Return the functions, each with its docstring and its parameters."""
        from carrel.wire.generation.tools import Function, FunctionTool

        return [
            FunctionTool(
                function=Function(
                    name=name, description=inspect.getdoc(function), parameters=_schema(function)
                )
            )
            for name, function in list(self._functions.items())
        ]

    async def call(self, name: str, arguments: str) -> str:
        """Call a function in a thread; return its result or its error as text."""
        from pydantic import validate_call

        function = self._functions[name]
        try:
            given = json.loads(arguments or "{}")
            found = await asyncio.to_thread(lambda: validate_call(function)(**given))
            if inspect.isawaitable(found):
                found = await found
            return found if isinstance(found, str) else json.dumps(found, default=str)
        except Exception as error:
            logger.info("the function %s failed", name, exc_info=error)
            return f"{type(error).__name__}: {error}"

    async def close(self) -> None:
        """Do nothing: functions hold no resources."""


def _schema(function: Callable[..., Any]) -> dict[str, Any]:
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(function)  # type: ignore[arg-type]
    return adapter.json_schema()
