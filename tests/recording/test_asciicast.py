"""What of a terminal's output draws."""

from hypothesis import given
from hypothesis import strategies as st

from carrel.recording.asciicast import Drawing

DRAWS = st.sampled_from(
    ["a", "Ümlaut ▀", "\r\n", "\x1b[0m", "\x1b[38;2;1;2;3m", "\x1b[3;4H", "\x1b[2J", "\x1b[?25l"]
)
ACTS = st.sampled_from(
    [
        "\x1b]52;c;c2VjcmV0\x07",
        "\x1b]8;;https://x.example/?sig=1\x1b\\",
        "\x1bPtmux;\x1b\x1b]52;c;c2VjcmV0\x07\x1b\\",
        "\x1bPq#0;2;0;0;0~\x1b\\",
        "\x1b_Gf=32;AAAA\x1b\\",
        "\x1b[?1003h",
        "\x1b[>1u",
        "\x1b[6n",
        "\x1b[c",
        "\x1b[?2048$p",
        "\x1b[2;3 q",
        "\x1bc",
        "\x07",
        "\x9b",
    ]
)


@given(st.lists(st.one_of(DRAWS, ACTS)), st.randoms())
def test_what_acts_is_left_out_wherever_the_output_is_cut(pieces: list[str], random) -> None:  # type: ignore[no-untyped-def]
    text = "".join(pieces)
    drawing, drawn = Drawing(), ""
    while text:
        length = random.randint(1, len(text))
        drawn, text = drawn + drawing.of(text[:length]), text[length:]
    assert drawn == "".join(piece for piece in pieces if _draws(piece))


def _draws(piece: str) -> bool:
    return piece[0] not in "\x1b\x07\x9b" or piece in (
        "\x1b[0m",
        "\x1b[38;2;1;2;3m",
        "\x1b[3;4H",
        "\x1b[2J",
        "\x1b[?25l",
    )
