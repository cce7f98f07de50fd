"""The settings file: strict, and its mistakes are named with their lines."""

import tomllib
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.config.settings import (
    Settings,
    SettingsError,
    field_docs,
    load_settings,
    save_settings,
    settings_file,
)
from carrel.config.toml_edit import line_of, with_value


def write(text: str) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(text)


def test_without_a_file_everything_is_at_its_default() -> None:
    assert load_settings() == Settings()


def test_a_file_is_read() -> None:
    write(
        'theme = "carrel-light"\nimages = "off"\nmouse = false\nhide = true\n'
        '[keymap]\n"files.upload" = "ctrl+u"\nfiles.read = "O"\n'
        '[model_servers]\nmine = "http://127.0.0.1:9000/v1/"\n'
    )
    settings = load_settings()
    assert (settings.theme, settings.images, settings.mouse, settings.hide) == (
        "carrel-light",
        "off",
        False,
        True,
    )
    assert settings.keymap == {"files.upload": "ctrl+u", "files.read": "O"}
    assert settings.model_servers == {"mine": "http://127.0.0.1:9000"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('\ntehme = "x"', "line 2: there is no setting “tehme”. Did you mean “theme”?"),
        ("zzz = 1", "line 1: there is no setting “zzz”."),
        ('# a comment\nimages = "sixl"', "line 2: images must be one of auto, kitty, sixel"),
        ('images = "sixl"', "Did you mean “sixel”?"),
        ("mouse = 1", "line 1: mouse must be true or false."),
        ("theme = 3", "line 1: theme must be a text in quotes."),
        ('theme = "a"\n[keymap]\nfiles.upload = 3', "line 2: keymap must name keys"),
        ('[model_servers]\nmine = "no address"', "line 1: model_servers has something wrong"),
        ('theme = "a"\nmouse = !', "line 2"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, words: str) -> None:
    write(text)
    with pytest.raises(SettingsError) as error:
        load_settings()
    assert words in str(error.value)
    assert "?." not in str(error.value)
    assert str(settings_file()) in str(error.value)


def test_every_mistake_is_named() -> None:
    write('mouse = 1\nfoo = 2\nhide = "x"')
    with pytest.raises(SettingsError) as error:
        load_settings()
    assert [mistake.line for mistake in error.value.mistakes] == [1, 2, 3]


def test_every_setting_says_what_it_does() -> None:
    about = field_docs(Settings)
    assert set(about) == {item.name for item in fields(Settings)}
    assert all(text.endswith((".", '".')) for text in about.values())


def test_saving_one_setting_leaves_the_rest_as_it_is_written() -> None:
    write('# mine\nmouse = false # why\n\n[keymap]\n"files.upload" = "U"\n')
    assert save_settings({"theme": "nord"})
    assert save_settings({"theme": "carrel-light", "images": None})
    assert not save_settings({"theme": "carrel-light"})
    assert settings_file().read_text() == (
        'theme = "carrel-light"\n# mine\nmouse = false # why\n\n[keymap]\n"files.upload" = "U"\n'
    )


TABLES = st.sampled_from(["", "[keymap]\ntheme = 'x'\n", "[[list]]\nname = 'y'\n"])


@given(
    st.text(), st.sampled_from(["", "theme = 'old' # c\n", 'other = 1\n"theme" = "old"\n']), TABLES
)
def test_a_value_is_set_whatever_stands_around_it(value: str, top: str, rest: str) -> None:
    before = tomllib.loads(top + rest)
    changed = with_value(top + rest, "theme", value)
    assert tomllib.loads(changed) == {**before, "theme": value}
    assert tomllib.loads(with_value(changed, "theme", None)) == {
        key: item for key, item in before.items() if key != "theme"
    }


@pytest.mark.parametrize(
    ("path", "line"),
    [(("a",), 1), (("t", "b"), 3), (("t", "c", "d"), 4), (("t", "u", "e"), 6), (("t", "no"), 2)],
)
def test_the_line_of_a_key(path: tuple[str, ...], line: int) -> None:
    text = 'a = 1\n[t]\n"b" = 2\nc . d = 3\n[t.u] # here\ne = 4\n'
    assert line_of(text, *path) == line
