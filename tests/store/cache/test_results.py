"""What was read, kept on this machine."""

from pathlib import Path

import pytest

from carrel.config.profiles import folders
from carrel.store.cache.results import KeptResult, ResultCache
from support.pages import lease_page


def kept() -> list[Path]:
    return sorted((folders().cache / "results").iterdir())


async def test_answers_add_up() -> None:
    results = ResultCache(folders().cache)
    await results.add("a", KeptResult({0: lease_page(0)}, annotation="{}"))
    await results.add("a", KeptResult({1: lease_page(1)}, page_count=2))
    await results.add("b", KeptResult({5: lease_page(5)}))
    found = await results.load("a")
    assert found.pages == {0: lease_page(0), 1: lease_page(1)}
    assert (found.page_count, found.annotation) == (2, "{}")
    assert (await results.load("c")).pages == {}


async def test_a_line_that_was_cut_off_spoils_only_itself() -> None:
    results = ResultCache(folders().cache)
    await results.add("a", KeptResult({0: lease_page(0)}))
    (path,) = kept()
    whole = path.read_text()
    path.write_text(whole + whole[: len(whole) // 2])
    await results.add("a", KeptResult({2: lease_page(2)}))
    assert (await results.load("a")).pages.keys() == {0, 2}


async def test_pages_are_forgotten_alone_or_all() -> None:
    results = ResultCache(folders().cache)
    await results.add("a", KeptResult({n: lease_page(n) for n in range(3)}))
    await results.forget("a", [1])
    assert (await results.load("a")).pages.keys() == {0, 2}
    await results.forget("a")
    assert (await results.load("a")).pages == {} and kept() == []


async def test_nobody_else_reads_them_and_the_oldest_make_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = ResultCache(folders().cache)
    await results.add("a", KeptResult({0: lease_page(0)}))
    (path,) = kept()
    assert path.stat().st_mode & 0o077 == 0
    monkeypatch.setattr("carrel.store.cache.results.RESULTS_BYTES", 2 * path.stat().st_size + 50)
    for name in "bc":
        await results.add(name, KeptResult({0: lease_page(0)}))
    assert path not in kept() and len(kept()) == 2
