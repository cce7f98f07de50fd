"""`carrel config`: shown as it is in force, edited, and checked."""

import sys
import tomllib
from pathlib import Path

from carrel.config.settings import Settings, load_settings, settings_file
from support.command import carrel


def put(text: str) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(text)


async def test_every_setting_is_shown_with_what_it_does() -> None:
    put('images = "off"\n[keymap]\n"files.upload" = "alt+u"\n')
    shown = await carrel("config", "show")
    assert shown.code == 0
    values = tomllib.loads(shown.out)
    assert (values["images"], values["mouse"]) == ("off", True)
    assert values["keymap"] == {"files.upload": "alt+u"}
    assert "# The drawing of pictures" in shown.out
    assert (await carrel("config", "show", "--json")).json == values
    assert (await carrel("config", "path")).out == f"{settings_file()}\n"


async def test_wrong_settings_are_refused_with_their_lines() -> None:
    put('mouse = true\n[keymap]\n"files.uplod" = "u"\nfiles.read = "nokey"\nfiles.narrow = "u"\n')
    shown = await carrel("config", "show")
    assert shown.code == 2
    assert "line 3: there is no binding “files.uplod”. Did you mean “files.upload”?" in shown.err
    assert "line 4: “nokey” is not a key" in shown.err
    assert "line 5: u is the key of “files.upload” already" in shown.err
    assert "Traceback" not in shown.err


async def test_editing_begins_with_every_setting_and_ends_with_a_check(tmp_path: Path) -> None:
    script = tmp_path / "edit.py"
    script.write_text(
        "import sys, pathlib\n"
        "file = pathlib.Path(sys.argv[2])\n"
        "text = file.read_text()\n"
        "assert '# theme = ' in text and '# [keymap]' in text, text\n"
        "file.write_text(text.replace('# mouse = true', sys.argv[1]))\n"
    )
    editor = f"{sys.executable} {script}"
    good = await carrel("config", "edit", EDITOR=f"{editor} 'mouse = false'")
    assert (good.code, load_settings()) == (0, Settings(mouse=False))
    settings_file().unlink()
    bad = await carrel("config", "edit", EDITOR=f"{editor} 'mous = false'")
    assert (bad.code, "Did you mean “mouse”?" in bad.err) == (2, True)
    missing = await carrel("config", "edit", EDITOR="/no/such/editor", VISUAL="")
    assert (missing.code, "/no/such/editor" in missing.err) == (2, True)
