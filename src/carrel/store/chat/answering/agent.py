"""The answering agent: an agent's active version, or a trial.

The interface lets only an agent's active version answer, with the agent's own model and sampling.
Another version, a draft, another model or another temperature is therefore asked as a trial: an
agent made for one answer and removed after it. A completion by the model alone would do without
that, but also without the libraries, the service's own tools and the guardrails.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.store.agents.trials import TRIAL, remove_trial
from carrel.store.chat.parameters import Parameters

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.agents import Agent, AgentCreate

_LIBRARY = "document_library"


@dataclass(frozen=True)
class AnsweringAgent:
    """An agent's version, active or not, or a draft, that answers."""

    fields: Agent | AgentCreate
    active: bool

    @property
    def version(self) -> int | None:
        """The version's number, or None for a draft."""
        return getattr(self.fields, "version", None)

    @property
    def draft(self) -> AgentCreate | None:
        """The unsaved agent, or None."""
        from carrel.wire.generation.agents import AgentCreate

        return self.fields if isinstance(self.fields, AgentCreate) else None

    @property
    def library_ids(self) -> tuple[str, ...]:
        """The ids of the libraries that the agent searches."""
        found: list[str] = []
        for tool in self._tools():
            if tool.get("type") == _LIBRARY:
                found += tool.get("library_ids") or ()
        return tuple(found)

    @property
    def functions(self) -> frozenset[str]:
        """The names of the functions that the agent may call."""
        functions = (tool.get("function") for tool in self._tools())
        return frozenset(str(function.get("name")) for function in functions if function)

    @property
    def must_call(self) -> bool:
        """Whether the agent must call a function in every answer."""
        arguments = self.fields.completion_args
        if arguments is not None and not isinstance(arguments, dict):
            arguments = arguments.body()
        return (arguments or {}).get("tool_choice") in ("any", "required")

    def needs_trial(self, parameters: Parameters) -> bool:
        """Return whether the answer needs a trial agent."""
        return not self.active or parameters.changes_agent

    @asynccontextmanager
    async def answering(self, client: Client, parameters: Parameters) -> AsyncIterator[str]:
        """Yield the id of an agent with this version and these parameters; create a trial if
        needed."""
        if not self.needs_trial(parameters):
            yield str(getattr(self.fields, "id", ""))
            return
        trial = await client.agents.create(self._trial(parameters))
        try:
            yield trial.id
        finally:
            # Shielded: a stopped answer's trial is removed too.
            await asyncio.shield(asyncio.ensure_future(remove_trial(client, trial.id)))

    def _tools(self) -> list[dict[str, Any]]:
        tools = self.fields.tools or []
        return [tool if isinstance(tool, dict) else tool.body() for tool in tools]

    def _trial(self, parameters: Parameters) -> AgentCreate:
        from carrel.wire.generation.agents import AgentCreate, CompletionArgs

        fields = self.fields
        arguments = fields.completion_args or {}
        if not isinstance(arguments, dict):
            arguments = arguments.body()
        known = {
            name: value
            for name, value in arguments.items()
            if name in CompletionArgs.model_fields and value is not None
        }
        return AgentCreate.model_validate(
            {
                "model": parameters.model or fields.model,
                "name": f"{fields.name} · trial",
                "description": fields.description,
                "instructions": fields.instructions,
                "tools": self._tools(),
                "handoffs": fields.handoffs or None,
                "metadata": {**(fields.metadata or {}), **TRIAL},
                "completion_args": {**known, **parameters.sampling()},
                "guardrails": fields.guardrails,
            }
        )
