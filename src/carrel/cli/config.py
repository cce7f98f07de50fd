"""`carrel config …`"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.options import JSONOption, commands
from carrel.config.profiles import write_text
from carrel.config.settings import Settings, SettingsError, field_docs, load_settings, settings_file
from carrel.system.editor import EditorError
from carrel.system.editor import edit as edit_file

app = commands("Settings of the terminal app: colours, keys, pictures and mouse.")


@app.command("show")
def show(json: JSONOption = False) -> None:
    """Show every current setting, with its description."""
    settings = _check()
    if json:
        output.as_json(_plain(settings))
    else:
        print(_as_toml(settings), end="")
        output.note(f"Stored in {settings_file()}. Change it with: carrel config edit")


@app.command("path")
def path() -> None:
    """Print the path of the settings file."""
    print(settings_file())


@app.command("edit")
def edit() -> None:
    """Open the settings in $VISUAL or $EDITOR, then check them."""
    file = settings_file()
    if not file.exists():
        write_text(file, _template())
    try:
        edit_file(file)
    except EditorError as error:
        raise CommandError(str(error), Code.USAGE) from error
    _check()
    output.note("The settings are valid. They apply from the next start.")


def _check() -> Settings:
    """Return the checked settings of the file.

    Raises:
        SettingsError: the settings are invalid, or name unknown keys.
    """
    settings = load_settings()
    if settings.keymap:
        from carrel.tui.keymap import mistakes

        if wrong := mistakes(settings.keymap):
            raise SettingsError(settings_file(), wrong)
    return settings


def _plain(settings: Settings) -> dict[str, object]:
    names = [item.name for item in fields(Settings)]
    named = {name: getattr(settings, name) for name in names}
    return {
        name: value if isinstance(value, str | bool) else _table(value)
        for name, value in named.items()
    }


def _table(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str) else value.plain() for name, value in values.items()
    }


def _as_toml(settings: Settings) -> str:
    import tomli_w

    about = field_docs(Settings)
    parts = [
        f"# {about[name]}\n{tomli_w.dumps({name: value}) or f'[{name}]'}".rstrip() + "\n"
        for name, value in _plain(settings).items()
    ]
    return "\n".join(parts)


def _template() -> str:
    """Return a template: every setting at its default, commented out."""
    lines = _as_toml(Settings()).splitlines()
    return "".join(f"{line if not line or line[0] == '#' else f'# {line}'}\n" for line in lines)
