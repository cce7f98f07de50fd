"""`carrel tools …`, and the permission that commands ask for."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.options import JSONOption, ProfileOption, argument, commands
from carrel.config.profiles import Profile, folders, load_profile

if TYPE_CHECKING:
    from carrel.store.tools.service import ToolsService
    from carrel.store.tools.state import Consent, ToolsState

T = TypeVar("T")

app = commands("Commands and MCP servers of the settings that agents may use as tools.")

ToolArgument = Annotated[str, argument("NAME", "A name under [tools] or [mcp_servers].")]


@app.command("list")
def list_(profile: ProfileOption = None, json: JSONOption = False) -> None:
    """List the tools of the settings, and whether they may run."""
    found = _run(profile, lambda service: service.list_named())
    if not (found or json):
        output.note("The settings name no tools. Add some with: carrel config edit")
        return
    output.show_list(
        found,
        json,
        lambda tool: {
            "name": tool.consent.name,
            "kind": tool.consent.kind,
            "runs": tool.consent.runs,
            "allowed": tool.allowed,
        },
        NAME=lambda tool: tool.consent.name,
        KIND=lambda tool: tool.consent.kind,
        ALLOWED=lambda tool: "yes" if tool.allowed else "no",
        RUNS=lambda tool: tool.consent.runs,
    )


@app.command("allow")
def allow(name: ToolArgument, profile: ProfileOption = None) -> None:
    """Let agents of the service use a tool.

    The permission ends when the settings name another command for it.
    """
    consent = _change(profile, name, allowed=True)
    output.note(f"Agents may use {consent.name}: {consent.runs}")


@app.command("forget")
def forget(name: ToolArgument, profile: ProfileOption = None) -> None:
    """Withdraw a tool's permission."""
    consent = _change(profile, name, allowed=False)
    output.note(f"{consent.name} is asked for again before it runs.")


@contextlib.asynccontextmanager
async def open_tools(profile: Profile) -> "AsyncIterator[ToolsService]":
    """Yield the tools for one command. A terminal is asked for permission; a script has none."""
    from carrel.store.core.actions.loop import OwnerLoop
    from carrel.store.tools.service import ToolsService

    service = ToolsService(OwnerLoop.running(), profile, folders().state)
    asking: set[asyncio.Task[None]] = set()

    def show_change(new: "ToolsState", old: "ToolsState") -> None:
        for consent in new.asking:
            if consent not in old.asking:
                asking.add(asyncio.create_task(_ask(service, consent)))

    service.slice.changed.connect(show_change)
    try:
        yield service
    finally:
        await service.close()
        await asyncio.gather(*asking)


async def _ask(service: "ToolsService", consent: "Consent") -> None:
    from carrel.store.tools.formatting import answer_words, consent_question, read_answer

    question, said = consent_question(consent), ""
    if sys.stdin.isatty() and sys.stderr.isatty():
        prompt = f"{question} {answer_words(consent)}"
        said = await asyncio.to_thread(
            typer.prompt, prompt, default="", show_default=False, prompt_suffix=" ", err=True
        )
    else:
        output.note(f"{question} Allow it with: carrel tools allow {consent.name}")
    service.answer(consent, read_answer(said))


def _change(profile: str | None, name: str, *, allowed: bool) -> "Consent":
    async def work(service: "ToolsService") -> "Consent":
        consents = {tool.consent.name: tool.consent for tool in await service.list_named()}
        if name not in consents:
            raise CommandError(
                f"The settings have no tool “{name}”. See: carrel tools list", Code.USAGE
            )
        await service.allow(consents[name], allowed)
        return consents[name]

    return _run(profile, work)


def _run(profile: str | None, work: "Callable[[ToolsService], Awaitable[T]]") -> T:
    chosen = load_profile(profile)

    async def session() -> T:
        async with open_tools(chosen) as service:
            return await work(service)

    return asyncio.run(session())
