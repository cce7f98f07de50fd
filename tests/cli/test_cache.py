"""`carrel cache`: the copies on this machine are listed and cleared."""

from carrel.config.profiles import folders
from support.command import carrel


def held(kind: str, size: int) -> None:
    folder = folders().cache / kind / "a profile"
    folder.mkdir(parents=True)
    (folder / "copy").write_bytes(b"x" * size)


async def test_copies_are_listed_and_cleared() -> None:
    held("seen", 1_500)
    held("results", 300)
    listed = {one["kind"]: one["bytes"] for one in (await carrel("cache", "list", "--json")).json}
    assert listed == {"documents": 0, "results": 300, "readings": 0, "seen": 1_500, "uploaded": 0}
    assert "1.5 kB" in (await carrel("cache", "list")).out

    cleared = await carrel("cache", "clear", "seen")
    assert (cleared.code, cleared.err) == (0, "Cleared 1.5 kB.\n")
    assert not (folders().cache / "seen").exists() and (folders().cache / "results").exists()

    assert (await carrel("cache", "clear")).code == 0
    assert not (folders().cache / "results").exists()
    assert (await carrel("cache", "clear", "keys")).code == 2
