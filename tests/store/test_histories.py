from pathlib import Path

import pytest

from carrel.config.profiles import Profile
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.histories import KEPT, LONGEST, HistoriesService

PROFILE = Profile("work", "https://example.org", "my own secret")


async def test_what_was_typed_is_found_again(tmp_path: Path) -> None:
    histories = HistoriesService(OwnerLoop.running(), tmp_path, PROFILE)
    for text in ("lease", " annex ", "", "lease"):
        histories.note("files", text)
    histories.note("libraries", "notice period")
    await histories._save()
    await histories.close()
    again = HistoriesService(OwnerLoop.running(), tmp_path, PROFILE)
    assert again.texts("files") == ("annex", "lease")
    assert again.texts("libraries") == ("notice period",)
    other = HistoriesService(OwnerLoop.running(), tmp_path, Profile("local"))
    assert other.texts("files") == ()
    await again.close()
    await other.close()


@pytest.mark.parametrize(
    "text",
    [
        "is my own secret here",
        "sk-a1B2c3D4e5F6g7H8",
        "https://example.org/f?signature=abc",
        "ftp://me:pass@example.org",
        "x" * (LONGEST + 1),
    ],
)
async def test_secrets_and_very_long_texts_are_not_kept(tmp_path: Path, text: str) -> None:
    histories = HistoriesService(OwnerLoop.running(), tmp_path, PROFILE)
    histories.note("files", text)
    assert histories.texts("files") == ()
    await histories.close()
    assert not histories._path.exists()


async def test_the_oldest_texts_go(tmp_path: Path) -> None:
    histories = HistoriesService(OwnerLoop.running(), tmp_path, PROFILE)
    for number in range(KEPT + 5):
        histories.note("files", f"text {number}")
    assert histories.texts("files")[0] == "text 5"
    assert len(histories.texts("files")) == KEPT
    await histories.close()


@pytest.mark.parametrize("text", ["", "[]", '{"format": 0}', '{"format": 1, "texts": [3]}'])
async def test_damaged_histories_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "histories").mkdir()
    (tmp_path / "histories" / "work.json").write_text(text)
    histories = HistoriesService(OwnerLoop.running(), tmp_path, PROFILE)
    assert histories.texts("files") == ()
    await histories.close()
