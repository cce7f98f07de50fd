"""Each test names a private part of Textual. After an upgrade the failing ones say what to mend."""

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.color import Color
from textual.widgets import Input, TextArea
from textual.worker import WorkerFailed

from carrel.tui.terminal.textual_private import (
    KeyedTextArea,
    LastingStylesheet,
    MarkedRadioButton,
    bindings_of,
    is_ending,
    key_name,
    keys_of,
    read_alt_digits,
    report,
    screen_lines,
    steady,
    steady_app,
    write_to_terminal,
)


@steady
class Failing(Input):
    """A field that fails at its first letter."""

    def on_input_changed(self) -> None:
        if len(self.value) == 1:
            raise ZeroDivisionError


class Eager(KeyedTextArea):
    def take_key(self, key: str) -> bool:
        return key == "enter"


@steady_app
class Probe(App[None]):
    """Records the errors and the keys that it is told of."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[BaseException] = []
        self.keys: list[str] = []

    def compose(self) -> ComposeResult:
        yield Failing()
        yield Eager()
        yield MarkedRadioButton("one")

    def handle_failure(self, error: BaseException) -> None:
        self.errors.append(error)

    def explain_key(self, key: str) -> None:
        self.keys.append(key)

    async def work(self) -> None:
        raise ZeroDivisionError


def test_ansi_sequences_keys_is_the_table_in_which_alt_with_a_digit_is_a_character() -> None:
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

    read_alt_digits(6)
    assert not {f"\x1b{digit}" for digit in range(1, 7)} & ANSI_SEQUENCES_KEYS.keys()
    assert "\x1bOP" in ANSI_SEQUENCES_KEYS, "the table has escape sequences as its keys"


def test_set_variables_and_reparse_are_where_all_sources_are_parsed_anew() -> None:
    sheet = LastingStylesheet(variables={"ink": "red"})
    sheet.add_source("Input { color: $ink; }")
    before = sheet.rules[0]
    sheet.add_source("TextArea { color: $ink; }")
    sheet.set_variables({"ink": "red"})
    sheet.reparse()
    assert sheet.rules[0] is before, "what was parsed stays"
    assert len(sheet.rules) == 2
    sheet.set_variables({"ink": "blue"})
    sheet.reparse()
    assert [rule.styles.color for rule in sheet.rules] == 2 * [Color.parse("blue")]


def test_character_to_key_names_a_key() -> None:
    assert key_name("?") == "question_mark"


async def test_dispatch_message_is_where_a_handler_fails() -> None:
    app = Probe()
    async with app.run_test() as pilot:
        field = app.query_one(Failing)
        field.focus()
        await pilot.press("a")
        assert [type(error) for error in app.errors] == [ZeroDivisionError]
        await pilot.press("b")
        assert field.value == "ab", "it still listens"


async def test_handle_exception_is_where_an_app_would_end() -> None:
    app = Probe()
    async with app.run_test() as pilot:
        app.call_later(app.work)
        await pilot.pause()
        assert [type(error) for error in app.errors] == [ZeroDivisionError]
        assert app.is_running


async def test_exit_is_what_an_app_ends_by_and_later_errors_are_not_told() -> None:
    app = Probe()
    async with app.run_test():
        assert not is_ending(app)
        app.exit(return_code=3)
        assert is_ending(app)
        report(app, ZeroDivisionError())
    assert app.errors == []
    assert app.return_code == 3


async def test_an_error_in_a_worker_is_told_and_ends_nothing() -> None:
    app = Probe()
    async with app.run_test() as pilot:
        worker = app.run_worker(app.work(), exit_on_error=False)
        with pytest.raises(WorkerFailed):
            await worker.wait()
        await pilot.pause()
        assert [type(error) for error in app.errors] == [ZeroDivisionError]
        assert app.is_running


async def test_check_bindings_is_where_a_key_comes_that_nothing_takes() -> None:
    app = Probe()
    async with app.run_test() as pilot:
        app.query_one(MarkedRadioButton).focus()
        await pilot.press("f9")
        assert app.keys == ["f9"]


async def test_on_key_is_where_a_text_area_types() -> None:
    app = Probe()
    async with app.run_test() as pilot:
        area = app.query_one(Eager)
        area.focus()
        await pilot.press("a", "enter", "b")
        assert area.text == "ab"


async def test_button_is_the_mark_of_a_radio_button() -> None:
    app = Probe()
    async with app.run_test():
        button = app.query_one(MarkedRadioButton)
        assert "○" in str(button.render())
        button.value = True
        assert "●" in str(button.render())


async def test_bindings_and_keymap_are_those_of_a_widget_and_of_the_app() -> None:
    app = Probe()
    async with app.run_test():
        binding = Binding("u", "nothing", id="some.binding")
        assert keys_of(app, binding) == ["u"]
        app.set_keymap({"some.binding": "x,y"})
        assert keys_of(app, binding) == ["x", "y"]
        assert bindings_of(app.query_one(TextArea), "up")
        assert not bindings_of(app.query_one(TextArea), "f9")


async def test_driver_writes_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    app: App[None] = App()
    write_to_terminal(app, "nothing")
    async with app.run_test():
        written: list[str] = []
        monkeypatch.setattr(app._driver, "write", written.append)
        write_to_terminal(app, "\x1b[c")
        assert written == ["\x1b[c"]


async def test_render_strips_gives_what_is_on_the_screen() -> None:
    app = Probe()
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        lines = screen_lines(app)
    assert len(lines) == 12
    assert any("one" in line for line in lines)
