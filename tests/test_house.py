"""The house keeps its measure: short files, small rooms, no chains, no test without a check."""

import ast
import importlib
import pkgutil
from pathlib import Path

import carrel.store
import carrel.tui
from carrel.tui.base.screen import MainScreen

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "carrel"
LINES = 650
FILES = 14
KINDS = {".py", ".css", ".js", ".md", ".npz", ".pdf", ".pyc", ".tcss", ".typed", ".yaml"}


def _room(path: Path) -> str:
    return path.parent.relative_to(SOURCE).as_posix()


def test_the_package_has_nothing_that_a_run_left() -> None:
    odd = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix not in KINDS
    }
    assert odd == {"recording/player/LICENSE"}


def test_no_file_is_longer_than_can_be_read_at_once() -> None:
    long = {
        path.relative_to(SOURCE).as_posix(): lines
        for path in SOURCE.rglob("*.py")
        if (lines := path.read_text("utf-8").count("\n")) > LINES
    }
    assert long == {}


def test_no_room_but_that_of_the_commands_has_many_files() -> None:
    rooms: dict[str, list[str]] = {}
    for path in SOURCE.rglob("*.py"):
        if path.name != "__init__.py":
            rooms.setdefault(_room(path), []).append(path.name)
    crowded = {room: len(files) for room, files in rooms.items() if len(files) > FILES}
    crowded.pop("cli")
    assert crowded == {}


def _own_classes() -> set[type]:
    rooms = (carrel.store, carrel.tui)
    modules = [
        importlib.import_module(module.name)
        for room in rooms
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
    ]
    return {
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__
    }


def test_no_class_of_the_store_or_the_terminal_has_subclasses_of_subclasses() -> None:
    own = _own_classes()
    assert MainScreen in own

    def depth(kind: type) -> int:
        return 1 + max((depth(base) for base in kind.__bases__ if base in own), default=0)

    # The screens' base is a frame that the first paint needs before the store is there.
    chains = {kind.__qualname__ for kind in own if depth(kind) > 2}
    assert chains == {kind.__qualname__ for kind in own if kind.__bases__ == (MainScreen,)}


Function = ast.FunctionDef | ast.AsyncFunctionDef


def _calls(function: Function) -> set[str]:
    called = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return {getattr(name, "attr", getattr(name, "id", "")) for name in called}


def test_every_test_asserts_itself_or_by_a_helper_that_does() -> None:
    functions = [
        (path, node)
        for path in TESTS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, Function)
    ]
    # Those of pytest and of schemathesis, whose checks raise.
    asserting = {"raises", "warns", "fail", "call_and_validate", "run_state_machine_as_test"}

    def asserts(function: Function) -> bool:
        own = any(isinstance(node, ast.Assert) for node in ast.walk(function))
        raises = any("AssertionError" in ast.unparse(node) for node in function.body)
        return own or raises or bool(_calls(function) & asserting)

    helpers = [node for _, node in functions if not node.name.startswith("test_")]
    while more := {node.name for node in helpers if asserts(node)} - asserting:
        asserting |= more
    idle = [
        f"{path.relative_to(TESTS)}:{node.name}"
        for path, node in functions
        if node.name.startswith("test_") and not asserts(node)
    ]
    assert idle == []
