"""The pictures that are kept: they refer to nothing elsewhere, and the README shows them."""

import re
from pathlib import Path
from xml.etree import ElementTree

from carrel.recording.asciicast import Event, Recording
from screenshots.demo import moving

ROOT = Path(__file__).parents[2]
PICTURES = sorted((ROOT / "screenshots").iterdir())
NAMESPACE = "http://www.w3.org/2000/svg"


def test_they_refer_to_nothing_elsewhere_and_tell_nothing_of_their_maker() -> None:
    assert PICTURES
    for picture in PICTURES:
        if picture.suffix == ".svg":
            text = picture.read_text().replace(NAMESPACE, "")
            assert not re.search(
                r"https?:|url\([^#]|@import|/home/|/root/|/tmp/|127\.0\.0\.1", text
            )
    assert sum(picture.stat().st_size for picture in PICTURES) < 1_200_000


def test_the_readme_shows_each_of_them() -> None:
    shown = re.findall(r"\(screenshots/([^)]+)\)", (ROOT / "README.md").read_text())
    assert sorted(shown) == [picture.name for picture in PICTURES]


def test_a_recording_is_drawn_with_each_row_once_and_alike_each_time() -> None:
    recording = Recording(
        "Leases & more",
        20,
        4,
        (
            Event(0.0, "o", "\x1b[1;1HThe clerk <1>\x1b[3;1H\x1b[38;2;1;2;3;48;2;4;5;6m▀▀\x1b[0m"),
            Event(0.5, "m", "1  A step"),
            Event(0.9, "o", "\x1b[4;1HThree months"),
            Event(9.9, "m", "2  Another step"),
            Event(10.9, "o", "\x1b[4;1H\x1b[2KThe end"),
        ),
    )
    drawn = moving(recording)
    assert drawn == moving(recording)
    root = ElementTree.fromstring(drawn)
    words = [one.text for one in root.iter(f"{{{NAMESPACE}}}text")]
    assert words == ["The clerk <1>", "Three months", "The end"]
    rows = {one.get("id") for one in root.iter(f"{{{NAMESPACE}}}g")}
    assert {one.get("href", "")[1:] for one in root.iter(f"{{{NAMESPACE}}}use")} <= rows
