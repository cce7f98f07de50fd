"""Theme files: ours are good, and what is wrong with one is said with its line."""

from pathlib import Path

import pytest
from textual.color import Color

from carrel.tui.theme.themes import (
    DEFAULT,
    LIGHT,
    ROLES,
    ThemeError,
    find_themes,
    read_theme,
    shipped_folder,
    with_roles,
)

GOOD = """name: dusk
dark: true
colours:
  background: "#000"
  foreground: white
  accent: "#f80"
"""
TEXTS = ("foreground", "accent", "muted", "ready", "busy", "waiting", "failed", "hosted", "match")


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of the Web Content Accessibility Guidelines, 1 to 21."""

    def luminance(color: Color) -> float:
        parts = [
            part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
            for part in color.normalized
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_our_own_themes_are_light_dark_and_of_high_contrast() -> None:
    found = find_themes(shipped_folder())
    assert not found.broken
    assert {theme.name for theme in found.themes} == {DEFAULT, LIGHT, "carrel-contrast"}


@pytest.mark.parametrize(("name", "least"), [(DEFAULT, 4.5), (LIGHT, 4.5), ("carrel-contrast", 7)])
def test_every_role_can_be_read_on_the_background(name: str, least: float) -> None:
    theme = read_theme(shipped_folder() / f"{name}.yaml")
    colours = with_roles(theme.to_color_system().generate() | theme.variables)
    behind = Color.parse(colours["background"])
    for role in TEXTS:
        assert contrast(Color.parse(colours[role]), behind) >= least, role


def test_what_is_not_named_is_derived(tmp_path: Path) -> None:
    path = tmp_path / "dusk.yaml"
    path.write_text(GOOD)
    theme = read_theme(path)
    colours = with_roles(theme.to_color_system().generate() | theme.variables)
    assert (theme.name, theme.accent) == ("dusk", "#FF8800")
    assert set(ROLES) <= set(colours)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("accent", "acent"), "line 6: there is no colour “acent”. Did you mean"),
        (GOOD.replace("white", "whitish"), "line 5: “foreground” is not a colour"),
        (GOOD.replace('"#f80"', "#f80"), "line 6: “accent” is not a colour"),
        (GOOD.replace("dark: true", "dark: maybe"), "line 2: dark must be true or false."),
        (GOOD.replace("dark", "drak"), "line 2: there is no setting “drak”. Did you mean “dark”?"),
        (GOOD.replace('  accent: "#f80"\n', ""), "the colour “accent” is missing."),
        ("name: [", "is not valid YAML"),
        ("colours:\n\t- x", "line 2"),
        ("- a list", "line 1: expected lines like “name: …”."),
        ("", "expected lines like"),
        (GOOD + "#" * 2**16, "bytes; a theme has at most 65,536."),
        (f"name: {'[' * 20_000}", "line 1: this is not valid YAML: exceeded maximum nesting depth"),
        ("name: x\ncolours: red", "line 2: expected lines like “background: …”."),
    ],
)
def test_what_is_wrong_with_a_theme_is_said(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ThemeError) as error:
        read_theme(path)
    assert words in str(error.value)


def test_a_broken_theme_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: [")
    (tmp_path / "b.yml").write_text(GOOD)
    (tmp_path / "notes.txt").write_text("not a theme")
    found = find_themes(tmp_path)
    assert [theme.name for theme in found.themes] == ["dusk"]
    assert [str(tmp_path / "a.yaml") in str(error) for error in found.broken] == [True]
    assert find_themes(tmp_path / "none") == type(found)((), ())
