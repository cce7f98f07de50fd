"""The pictures that are kept: they refer to nothing elsewhere, and the README shows them."""

import re
from pathlib import Path

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
    assert sum(picture.stat().st_size for picture in PICTURES) < 1_000_000


def test_the_readme_shows_each_of_them() -> None:
    shown = re.findall(r"\(screenshots/([^)]+)\)", (ROOT / "README.md").read_text())
    assert sorted(shown) == [picture.name for picture in PICTURES]
