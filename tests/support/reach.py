"""Which tests reach the storage: the others run the same code on every storage."""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest

from support import storage

_TESTS = Path(__file__).parents[1]


def reaches_storage(item: pytest.Item) -> bool:
    """Whether the code of a test, or of a fixture that it asks for, names `support.storage`.

    Followed are functions and classes of the tests, by the names in their code; a test is taken
    to reach the storage where this cannot be seen.
    """
    if not isinstance(item, pytest.Function):
        return True
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    begun: list[object] = [item.obj, *(each.func for defined in fixtures for each in defined)]
    if hasattr(item, "callspec"):
        begun += item.callspec.params.values()
    seen, waiting = set[int](), begun
    while waiting:
        thing = waiting.pop()
        if thing is storage:
            return True
        if id(thing) not in seen:
            seen.add(id(thing))
            waiting += _named(thing)
    return False


def _named(thing: object) -> Iterator[object]:
    """What a function, class or module of the tests refers to."""
    thing = inspect.unwrap(thing) if callable(thing) else thing
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__
    elif isinstance(thing, property):
        thing = thing.fget
    function = getattr(thing, "__func__", thing)
    if isinstance(function, FunctionType) and _is_of_the_tests(function.__module__):
        for name in _names(function.__code__):
            yield function.__globals__.get(name)
        for cell in function.__closure__ or ():
            yield cell.cell_contents
    elif isinstance(thing, type) and _is_of_the_tests(thing.__module__):
        yield from vars(thing).values()
        yield from thing.__bases__
    elif isinstance(thing, ModuleType) and _is_of_the_tests(thing.__name__):
        yield from vars(thing).values()


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_of_the_tests(module: str) -> bool:
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and Path(file).is_relative_to(_TESTS)
