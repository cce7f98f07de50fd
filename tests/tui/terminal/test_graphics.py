import pytest

from carrel.tui.terminal.graphics import PictureProtocol, picture_protocol


@pytest.mark.parametrize(
    ("environ", "protocol"),
    [
        ({"TERM": "xterm-256color"}, "halfblock"),
        ({"TERM": "dumb"}, "halfblock"),
        ({}, "halfblock"),
        ({"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "xterm-ghostty"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "sixel"),
        ({"TERM": "foot"}, "sixel"),
        ({"TERM": "xterm-256color", "KONSOLE_VERSION": "240800"}, "sixel"),
        ({"TERM": "tmux-256color", "TMUX": "x", "KITTY_WINDOW_ID": "1"}, "halfblock"),
        ({"TERM": "screen-256color", "TERM_PROGRAM": "WezTerm"}, "halfblock"),
    ],
)
def test_the_protocol_is_told_from_the_environment(
    environ: dict[str, str], protocol: PictureProtocol
) -> None:
    assert picture_protocol(environ) == protocol
    assert picture_protocol(environ, "sixel") == "sixel", "what the settings want wins"
