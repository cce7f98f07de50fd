"""Deletions: only of what the folder brought and no rule leaves out, and never too many."""

import contextlib
import os
import random
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from carrel.store.sync.formatting import confirm_words, plan_rows, preview_words, summary_words
from carrel.sync.errors import SyncError, TooManyDeletions
from carrel.sync.ledger import SyncSettings
from support.folders import Desk
from support.rounds import rounds
from support.service import reply

DELETE = SyncSettings(delete=True)


@pytest.fixture
def twenty(desk: Desk) -> Desk:
    for number in range(20):
        desk.write(f"{number}.txt", f"text {number}")
    return desk


LEFT_OUT = [
    SyncSettings(True, include=("19.txt",)),
    SyncSettings(True, exclude=("*.txt", "!19.txt")),
    SyncSettings(True, exclude=("/?.txt", "/1?.txt")),
]


@pytest.mark.parametrize("settings", LEFT_OUT)
async def test_patterns_delete_nothing(twenty: Desk, settings: SyncSettings) -> None:
    await twenty.sync(DELETE)
    summary = await twenty.sync(settings)
    assert summary.deleted == 0
    assert summary.left_out >= 19
    assert len(twenty.library.held) == 20
    # Nor does a deletion of what they leave out.
    (twenty.folder / "3.txt").unlink()
    await twenty.sync(settings)
    assert "3.txt" in twenty.library.held
    (twenty.folder / "19.txt").write_text("")
    await twenty.sync(settings, max_delete=20)
    assert len(twenty.library.held) == 20


async def test_a_new_rule_file_deletes_nothing_and_is_named(twenty: Desk) -> None:
    twenty.write("d/kept.txt", "kept")
    await twenty.sync(DELETE)
    twenty.write(".gitignore", "# ours\n\n1?.txt\n")
    twenty.write("d/.carrelignore", "*")
    assert (await twenty.sync(DELETE)).left_out == 11
    assert len(twenty.library.held) == 21
    async with twenty.client() as client:
        preview = await twenty.runner(client, DELETE).preview()
    rows = {row.path: (row.action, row.note) for row in plan_rows(preview)}
    assert rows["12.txt"] == ("Keep", "left out: .gitignore, line 3: 1?.txt")
    assert rows["d/kept.txt"] == ("Keep", "left out: d/.carrelignore, line 1: *")
    assert "11 files left out here stay in the library" in preview_words(preview)


async def test_what_is_left_out_goes_only_if_that_is_asked_for(twenty: Desk) -> None:
    await twenty.sync(DELETE)
    twenty.library.add("by hand.txt", b"by hand")
    asked = SyncSettings(True, exclude=("1.txt", "by hand.txt"), delete_excluded=True)
    async with twenty.client() as client:
        first = plan_rows(await twenty.runner(client, asked).preview())[0]
    assert (first.action, first.path, first.note) == (
        "Delete",
        "1.txt",
        "left out: excluded by “1.txt”",
    )
    assert (await twenty.sync(asked)).deleted == 1
    assert {"1.txt", "by hand.txt"} ^ set(twenty.library.held) >= {"1.txt"}
    assert len(twenty.library.held) == 20


async def test_more_than_half_is_refused_before_anything_is_done(twenty: Desk) -> None:
    await twenty.sync(DELETE)
    for number in range(19):
        (twenty.folder / f"{number}.txt").unlink()
    twenty.write("stray.txt", "new")
    async with twenty.client() as client:
        preview = await twenty.runner(client, DELETE).preview()
    assert [row.action for row in plan_rows(preview)] == ["Delete"] * 19 + ["Upload"]
    assert confirm_words(preview) == ("Delete 19 of the 20 documents that this folder brought?")
    with pytest.raises(TooManyDeletions, match=r"19 of the 20 documents.*the limit is 10"):
        await twenty.sync(DELETE)
    with pytest.raises(TooManyDeletions, match="the limit is 18"):
        await twenty.sync(DELETE, max_delete=18)
    assert len(twenty.library.held) == 20
    assert (await twenty.sync(DELETE, max_delete=19)).deleted == 19
    assert set(twenty.library.held) == {"19.txt", "stray.txt"}


async def test_a_disk_that_is_not_there_but_for_a_stray_file(twenty: Desk) -> None:
    await twenty.sync(DELETE)
    twenty.folder.rename(twenty.folder.with_name("elsewhere"))
    twenty.write(".Trash-0/stray", "x")
    with pytest.raises(SyncError, match="nothing was deleted"):
        await twenty.sync(DELETE, max_delete=100)
    twenty.write("stray.txt", "x")
    with pytest.raises(TooManyDeletions):
        await twenty.sync(DELETE)
    assert len(twenty.library.held) == 20


async def test_following_keeps_them_and_goes_on_with_the_rest(twenty: Desk) -> None:
    await twenty.sync(DELETE)
    async with twenty.client() as client:
        runner = twenty.runner(client, DELETE)
        for number in range(15):
            (twenty.folder / f"{number}.txt").unlink()
        twenty.write("new.txt", "new")
        summary = await runner.run(hold=True)
        assert (summary.held, summary.uploaded, summary.deleted) == (15, 1, 0)
        assert "15 deletions held back" in summary_words(summary)
        # They wait even when they are no longer more than half.
        for number in range(40):
            twenty.write(f"more {number}.txt", f"more {number}")
        assert (await runner.run(hold=True)).held == 15
        (twenty.folder / "16.txt").unlink()
        summary = await runner.run(hold=True)
        assert (summary.held, summary.deleted) == (15, 1)
        twenty.library.requests.clear()
        await runner.run(hold=True)
        assert len(twenty.library.requests) == 1
        # What comes back is not waited for any more.
        twenty.write("3.txt", "text 3")
        assert (await runner.run(hold=True)).held == 14
        assert "3.txt" in twenty.library.held
    assert (await twenty.sync(DELETE)).deleted == 14


async def test_an_unreadable_folder_deletes_nothing_even_after_other_patterns(
    twenty: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    twenty.write("d/a.txt", "a")
    await twenty.sync(DELETE)
    async with twenty.client() as client:
        await twenty.runner(client, SyncSettings(True, include=("19.txt",))).preview()
    (twenty.folder / "d").chmod(0)
    if (twenty.folder / "d" / "a.txt").exists():  # root may read everything
        monkeypatch.setattr("carrel.sync.scan.os.scandir", refusing("d"))
    summary = await twenty.sync(DELETE)
    (twenty.folder / "d").chmod(0o755)
    assert [each.path for each in summary.failures] == ["d"]
    assert "d/a.txt" in twenty.library.held


def refusing(name: str) -> object:
    scandir = os.scandir

    def look(path: Path) -> object:
        if path.name == name:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    return look


async def test_other_patterns_do_not_have_files_read_anew(twenty: Desk) -> None:
    await twenty.sync()
    async with twenty.client() as client:
        await twenty.runner(client, SyncSettings(include=("*.pdf",))).preview()
        read: list[int] = []
        runner = twenty.runner(client, report=lambda progress: read.append(progress.of_files))
        await runner.preview()
    assert set(read) == {0}


async def test_a_content_that_was_refused_is_not_this_folders_own(desk: Desk) -> None:
    desk.write("a.txt", "one")
    desk.library.meddle = lambda request: (
        reply({"message": "Too large."}, 413) if request.method == "POST" else None
    )
    assert (await desk.sync(DELETE)).failures
    desk.library.meddle = lambda request: None
    desk.library.add("by hand.txt", b"one")
    await desk.sync(DELETE)
    (desk.folder / "a.txt").unlink()
    desk.write("b.txt", "two")
    await desk.sync(DELETE, max_delete=9)
    assert set(desk.library.held) == {"by hand.txt", "b.txt"}


PATTERNS = {"*.log": ".log", "d/": "d/", "/e/f": "e/f/"}
"""Patterns, and a part of the paths of this test that each alone picks."""


@dataclass
class Walk:
    """A folder that changes at random, with what must never be deleted."""

    desk: Desk
    chosen: random.Random
    written: int = 0
    foreign: set[str] = field(default_factory=set)

    def step(self) -> None:
        """Changes something in the folder or, as somebody else, in the library."""
        paths = [path for path in self.desk.folder.rglob("[!.]*") if path.is_file()]
        match self.chosen.randrange(7):
            case 0 | 1 | 2:
                self.written += 1
                place = self.chosen.choice(["", "d/", "e/", "e/f/"])
                name = f"{place}{self.written}{self.chosen.choice(['.txt', '.log'])}"
                self.desk.write(name, f"content {self.chosen.randrange(12)}")
            case 3 if paths:
                for path in self.chosen.sample(paths, self.chosen.randint(1, len(paths))):
                    path.unlink()
            case 4 if paths:
                path = self.chosen.choice(paths)
                path.rename(path.with_name(f"r{self.chosen.randrange(99)}{path.suffix}"))
            case 5:
                content = f"content {self.chosen.randrange(12)}".encode()
                if content not in self.desk.library.contents.values():
                    self.foreign.add(self.desk.library.add(f"hand {content!r}", content))
            case 6:
                rules = self.chosen.sample(sorted(PATTERNS), self.chosen.randint(0, 2))
                self.desk.write(".gitignore", "\n".join(rules))


@pytest.mark.parametrize("seed", range(rounds(4, 60)))
async def test_whatever_happens_only_what_may_go_goes(desk: Desk, seed: int) -> None:
    walk = Walk(desk, random.Random(seed))
    library = desk.library
    for _ in range(12):
        for _ in range(walk.chosen.randint(1, 4)):
            walk.step()
        exclude = tuple(walk.chosen.sample(sorted(PATTERNS), walk.chosen.randint(0, 1)))
        limit = walk.chosen.choice([None, None, 0, 2])
        settings = replace(DELETE, exclude=exclude, delete=walk.chosen.random() < 0.8)
        before = {id: each["name"] for id, each in library.documents.items()}
        own = before.keys() - walk.foreign
        rules = desk.folder / ".gitignore"
        ignored = rules.read_text().split() if rules.exists() else []
        marks = [PATTERNS[pattern] for pattern in (*exclude, *ignored)]
        with contextlib.suppress(SyncError):
            await desk.sync(settings, max_delete=limit)
        gone = before.keys() - library.documents.keys()
        assert not gone & walk.foreign
        there = {path.relative_to(desk.folder).as_posix() for path in desk.folder.rglob("*")}
        # A name that holds other content now was updated, not deleted.
        deleted = {id for id in gone if before[id] not in there}
        assert len(deleted) <= (len(own) // 2 if limit is None else limit)
        assert settings.delete or not deleted
        for id in deleted:
            assert not any(mark in before[id] for mark in marks), before[id]
