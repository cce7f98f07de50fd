"""A recording as it is played."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from carrel.recording.asciicast import Event, Recording, event_line, header_line, read_recording
from carrel.recording.playback import CLEAR, Playback

EVENTS = st.lists(st.tuples(st.floats(0, 5), st.sampled_from("om")), min_size=1, max_size=20)


def recording(steps: list[tuple[float, str]]) -> Recording:
    """A recording with an event after each of these times; each draws its number."""
    at, events = 0.0, []
    for number, (pause, kind) in enumerate(steps):
        at += pause
        events.append(Event(at, kind, f"{number}."))  # type: ignore[arg-type]
    return Recording("Leases", 80, 24, tuple(events))


@given(
    EVENTS,
    st.lists(st.tuples(st.sampled_from(["wait", "seek", "jump", "speed"]), st.floats(-9, 9))),
)
def test_the_screen_is_that_of_its_time_however_one_came_there(
    steps: list[tuple[float, str]], moves: list[tuple[str, float]]
) -> None:
    playback = Playback(recording(steps))
    written = playback.seek(0)
    for move, value in moves:
        match move:
            case "wait":
                written += playback.advance(abs(value))
            case "seek":
                written += playback.seek(value)
            case "jump":
                written += playback.jump(1 if value > 0 else -1)
            case _:
                playback.faster(1 if value > 0 else -1)
        due = [e.data for e in playback.recording.events if e.kind == "o" and e.at <= playback.at]
        assert written.split(CLEAR)[-1] == "".join(due)
        assert 0 <= playback.at <= playback.recording.seconds


def test_jumps_go_from_mark_to_mark() -> None:
    playback = Playback(recording([(1, "m"), (1, "o"), (3, "m"), (2, "o")]))
    playback.jump(1)
    playback.jump(1)
    assert (playback.at, playback.step) == (5.0, 2)
    playback.jump(-1)
    assert (playback.at, playback.step) == (1.0, 1)
    playback.jump(1)
    playback.jump(1)
    assert playback.ended


def test_a_cut_last_line_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.cast"
    first = Event(0.5, "o", "Ü\x1b[1m")
    path.write_text(header_line(80, 24, "Leases", 0) + event_line(first) + '[1.0, "o", "ab')
    assert read_recording(path).events == (first,)
