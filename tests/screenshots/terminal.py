"""The terminal app's pictures, taken in one walk through it."""

import asyncio
from pathlib import Path

from textual import events

from carrel.config.profiles import Profile
from carrel.wire.generation.agents import AgentCreate, AgentUpdate, CompletionArgs
from carrel.wire.generation.tools import LibraryTool
from screenshots.drawing import svg
from support.process import serve
from support.workbench import Workbench, workbench

SIZE = (120, 36)
INSTRUCTIONS = (
    "Answer politely and at length.\nUse plain words.",
    "Answer politely and in three sentences.\nUse plain words.\nName the page you used.",
)


def shoot(papers: Path, out: Path) -> None:
    """Takes the pictures."""
    with serve(papers.parent / "data") as server:
        profile = Profile("local", server.url, server.api_key)
        asyncio.run(_walk(profile, papers, out))


async def _walk(profile: Profile, papers: Path, out: Path) -> None:
    async with workbench(profile, SIZE) as bench:

        def take(name: str) -> None:
            (out / f"{name}.svg").write_text(svg(bench.app, "Carrel"))

        await bench.shows("● ready", "No files yet.")
        await _sample(bench)
        take("sample")
        await bench.press("enter")
        await bench.shows("[5 Chat]", "guide to the workbench.pdf")
        await bench.press("escape", "right_square_bracket")
        await bench.shows("Source 1", "▀▀▀▀")
        take("chat")
        await _files(bench, papers)
        take("files")
        await _document(bench)
        take("document")
        await _print(bench)
        take("print")
        await _libraries(bench, papers)
        take("libraries")
        await _agents(bench)
        take("agents")


async def _sample(bench: Workbench) -> None:
    await bench.press("enter")
    await bench.shows("The sample", "The answer", wait=120)


async def _drop(bench: Workbench, *paths: Path) -> None:
    """Drops files on the terminal, one after the other: their order is the same at each run."""
    for path in paths:
        bench.app.post_message(events.Paste(str(path)))
        await bench.shows(path.name, wait=60)


async def _files(bench: Workbench, papers: Path) -> None:
    await bench.press("alt+1")
    for name in ("questions.jsonl", "annex-a.docx", "scan.pdf", "lease-2024.pdf"):
        await _drop(bench, papers / name)
        await bench.shows(f"Uploaded {name}.", f"▸ {name}")
    await bench.shows("2 pages", "▀▀▀▀")


async def _document(bench: Workbench) -> None:
    await bench.press("o")
    await bench.until(lambda: bench.store.documents.slice.value.complete, wait=60)
    await bench.press(*"jjjjjjj")
    await bench.shows("table 7 of 9")


async def _print(bench: Workbench) -> None:
    await bench.press("l", "j", "j", "z")
    await bench.shows("filled", "▀▀▀▀")


async def _libraries(bench: Workbench, papers: Path) -> None:
    await bench.store.libraries.create("contracts")
    await bench.press("z", "2")
    await bench.shows("contracts")
    await _drop(bench, papers / "scan.pdf", papers / "annex-a.docx", papers / "lease-2024.pdf")
    libraries = bench.store.libraries.slice
    await bench.until(lambda: libraries.value.total == 3, wait=60)
    await bench.until(
        lambda: all(each.process_status == "done" for each in libraries.value.documents), wait=120
    )
    await bench.press("slash")
    await bench.type("notice period")
    await bench.press("enter")
    await bench.shows("«notice", "search: notice period")


async def _agents(bench: Workbench) -> None:
    agents, library = bench.store.agents, bench.store.libraries.slice.value.selected
    first, second = INSTRUCTIONS
    tool = LibraryTool(type="document_library", library_ids=[library or ""])
    made = await agents.create(
        AgentCreate(
            name="support", model="smollm2", instructions=first,
            completion_args=CompletionArgs(temperature=0.7),
        )
    )  # fmt: skip
    assert made is not None
    await agents.update(
        made.id,
        AgentUpdate(
            instructions=second, tools=[tool], completion_args=CompletionArgs(temperature=0.3),
            version_message="shorter, names its pages",
        ),
    )  # fmt: skip
    await agents.set_alias(made.id, "prod", 0)
    await bench.press("4", "tab", "space", "down", "space")
    await bench.shows("support", "v0 → v1", "prod")
