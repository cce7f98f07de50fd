"""Tools of the settings and of this program: consent, start and end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.config.profiles import Profile
from carrel.config.settings import Settings, load_settings, settings_file
from carrel.config.tools import CommandSettings, ServerSettings
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.tools.command import CommandTool
from carrel.store.tools.consents import Consents, consent_of
from carrel.store.tools.functions import Functions
from carrel.store.tools.mcp_server import McpServer
from carrel.store.tools.state import (
    AgentCall,
    Consent,
    NamedTool,
    Permission,
    ToolSource,
    ToolsState,
)

if TYPE_CHECKING:
    from carrel.wire.generation.tools import FunctionTool

FindChat = Callable[[], str | None]


@dataclass(frozen=True, slots=True)
class _Offer:
    """A tool of a question: its source, and its name there.

    With a `consent` it runs only once that is given.
    """

    source: ToolSource
    tool: FunctionTool
    consent: Consent | None = None

    @property
    def name(self) -> str:
        return self.tool.function.name


@dataclass(slots=True)
class _Asked:
    """A consent that is being checked or asked for, and the number of its waiters."""

    answer: asyncio.Future[Permission]
    decided: asyncio.Task[bool]
    waiting: int = 0


class ToolsService(Service[ToolsState]):
    """All tools that answer calls. Commands and servers run only after the user's consent.

    The settings are read for each question, so that changes take effect at once.
    """

    def __init__(self, loop: OwnerLoop, profile: Profile, state: Path) -> None:
        super().__init__(loop, ToolsState())
        self._service = profile.service
        self._functions = Functions()
        self._consents = Consents(state)
        self._servers: dict[str, McpServer] = {}
        """The started servers, by the mark of their consent."""
        self._asked: dict[Consent, _Asked] = {}
        """Consents that are still undecided."""
        self._in_chats: set[tuple[str | None, str]] = set()
        """Pairs of a chat and the mark of a consent given for that chat."""

    def add(self, function: Callable[..., Any]) -> None:
        """Register a function that agents may call. May be called from any thread.

        Raises:
            TypeError: the function has no name, or its parameters have no JSON schema.
        """
        self._functions.add(function)

    def of_question(
        self, names: Sequence[str] = (), chat: FindChat = lambda: None
    ) -> QuestionTools:
        """Return the tools of one question: functions, commands, and those enabled by name.

        A command answers calls of its name if the agent declares the function, or `names` contains
        it; only in the latter case are it and a server's tools offered to the agent. `chat` returns
        the id of the question's chat.
        """
        return QuestionTools(self, tuple(names), chat)

    @instant
    def answer(self, consent: Consent, permission: Permission) -> None:
        """Answer a question for consent, and other open ones that the answer covers."""
        for other, asked in self._asked.items():
            is_alike = other.mark == consent.mark and permission in ("chat", "always")
            covers = is_alike and (permission == "always" or other.chat == consent.chat)
            if (other == consent or covers) and not asked.answer.done():
                asked.answer.set_result(permission)
                self._stop_asking(other)

    @action(Policy.BESIDE)
    async def list_named(self) -> tuple[NamedTool, ...]:
        """Return the tools in the settings."""
        settings = await asyncio.to_thread(load_settings)
        found: list[tuple[str, CommandSettings | ServerSettings]] = [
            *settings.tools.items(),
            *settings.mcp_servers.items(),
        ]
        consents = [self._consent(name, one) for name, one in found]
        return tuple(NamedTool(consent, self._consents.has(consent)) for consent in consents)

    @action(Policy.QUEUE)
    async def allow(self, consent: Consent, allowed: bool) -> None:
        """Give or withdraw the consent to run a tool."""
        await asyncio.to_thread(self._consents.set, consent, allowed)
        if not allowed:
            self._in_chats = {chat for chat in self._in_chats if chat[1] != consent.mark}
            if server := self._servers.pop(consent.mark, None):
                await server.close()

    async def close(self) -> None:
        """Close the service and the started servers."""
        await super().close()
        for asked in self._asked.values():
            asked.decided.cancel()
        await asyncio.gather(*(server.close() for server in self._servers.values()))
        self._servers.clear()

    # For the tools of a question, on the owner loop.

    async def functions(self) -> list[_Offer]:
        """Return the functions of this program."""
        return [_Offer(self._functions, tool) for tool in await self._functions.list()]

    async def command(self, name: str, settings: CommandSettings) -> _Offer:
        """Return a command; consent is asked for when it is called."""
        source = CommandTool(name, settings, settings_file().parent)
        (tool,) = await source.list()
        return _Offer(source, tool, self._consent(name, settings))

    async def server(self, name: str, settings: ServerSettings, chat: str | None) -> list[_Offer]:
        """Return the tools of a server, started after consent and kept running.

        Raises:
            ProblemError: consent was refused, or the server did not answer.
        """
        consent = replace(self._consent(name, settings), chat=chat)
        if not await self.ask_permission(consent):
            raise ProblemError(_refusal(name))
        if consent.mark not in self._servers:
            self._servers[consent.mark] = McpServer(name, settings, settings_file().parent)
        source = self._servers[consent.mark]
        return [_Offer(source, tool) for tool in await source.list()]

    async def ask_permission(self, consent: Consent) -> bool:
        """Return whether a tool may run; ask for consent and wait unless it was given for good.

        Equal concurrent calls share one question and its answer.
        """
        asked = self._asked.get(consent)
        if asked is None:
            answer: asyncio.Future[Permission] = asyncio.get_running_loop().create_future()
            decided = asyncio.ensure_future(self._decide(consent, answer))
            asked = self._asked[consent] = _Asked(answer, decided)
        asked.waiting += 1
        try:
            return await asyncio.shield(asked.decided)
        finally:
            asked.waiting -= 1
            if not asked.waiting:  # decided, or every question that waited was stopped
                asked.decided.cancel()
            if not asked.waiting or asked.decided.done():
                self._asked.pop(consent, None)

    async def _decide(self, consent: Consent, answer: asyncio.Future[Permission]) -> bool:
        in_chat = consent.chat, consent.mark
        if in_chat in self._in_chats or await asyncio.to_thread(self._consents.has, consent):
            return True
        self.slice.set(asking=(*self.slice.value.asking, consent))
        try:
            permission = await answer
        finally:
            self._stop_asking(consent)
        if permission in ("chat", "always"):
            self._in_chats.add(in_chat)
        if permission == "always":
            await asyncio.to_thread(self._consents.set, consent, True)
        return permission != "no"

    def _stop_asking(self, consent: Consent) -> None:
        left = (one for one in self.slice.value.asking if one != consent)
        self.slice.set(asking=tuple(left))

    def _consent(self, name: str, settings: CommandSettings | ServerSettings) -> Consent:
        return consent_of(name, settings, settings_file().parent, self._service)


class QuestionTools:
    """The tools of one question; see `Tools` in `loop`."""

    def __init__(self, service: ToolsService, names: tuple[str, ...], chat: FindChat) -> None:
        self._service = service
        self._names = names
        self._chat = chat
        self._settings = Settings()
        self._offers: dict[str, _Offer] | None = None
        self._declared: frozenset[str] = frozenset()

    async def offer(self, known: frozenset[str]) -> list[FunctionTool]:
        """Return the tools that the agent does not have already."""
        self._declared = known
        offers = await self._find_tools()
        return [_rename(offer.tool, name) for name, offer in offers.items() if name not in known]

    async def result(self, call: AgentCall) -> str | None:
        """Call the tool of that name."""
        offer = (await self._find_tools()).get(call.name)
        if offer is None and call.name in self._declared & self._settings.tools.keys():
            offer = await self._service.command(call.name, self._settings.tools[call.name])
        if offer is None:
            return None
        if offer.consent is not None:
            consent = replace(offer.consent, arguments=call.arguments, chat=self._chat())
            if not await self._service.ask_permission(consent):
                return None
        return await offer.source.call(offer.name, call.arguments)

    async def _find_tools(self) -> dict[str, _Offer]:
        """Return all tools by the names that a model calls; functions come first, then the given
        order."""
        if self._offers is None:
            self._settings = await asyncio.to_thread(load_settings)
            found = {offer.name: offer for offer in await self._service.functions()}
            for name in self._names:
                for offer in await self._offers_of(name):
                    free = offer.name if offer.name not in found else f"{name}_{offer.name}"
                    found.setdefault(free, offer)
            self._offers = found
        return self._offers

    async def _offers_of(self, name: str) -> list[_Offer]:
        if name in self._settings.tools:
            return [await self._service.command(name, self._settings.tools[name])]
        if name in self._settings.mcp_servers:
            settings = self._settings.mcp_servers[name]
            return await self._service.server(name, settings, self._chat())
        raise ProblemError(_unknown(name))


def _rename(tool: FunctionTool, name: str) -> FunctionTool:
    function = tool.function.model_copy(update={"name": name})
    return tool.model_copy(update={"function": function})


def _refusal(name: str) -> Problem:
    return Problem(
        f"The tools of “{name}” were not allowed",
        "",
        "Send again to be asked again, or take it out of this chat's parameters.",
    )


def _unknown(name: str) -> Problem:
    return Problem(
        f"The settings have no tool “{name}”",
        "",
        "Name it there with carrel config edit, or take it out of this chat's parameters.",
    )
