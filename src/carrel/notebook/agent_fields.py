"""What a person edits of an agent, and the requests it makes."""

from typing import Any, Self

from pydantic import BaseModel, Field

from carrel.store.problem import Problem, ProblemError
from carrel.wire.agents import Agent, AgentCreate, AgentUpdate


class AgentFields(BaseModel):
    """The fields of an agent's form. `libraries` holds the ids of those it may search."""

    name: str = ""
    model: str = ""
    description: str = ""
    instructions: str = ""
    temperature: float | None = Field(default=None, ge=0, le=1)
    libraries: list[str] = Field(default_factory=list)

    @classmethod
    def of(cls, agent: Agent) -> Self:
        """The fields as an agent has them."""
        searching = [tool for tool in agent.tools if tool.get("type") == "document_library"]
        return cls.model_construct(
            name=agent.name,
            model=agent.model,
            description=agent.description or "",
            instructions=agent.instructions or "",
            temperature=agent.completion_args.get("temperature"),
            libraries=[library for tool in searching for library in tool.get("library_ids", ())],
        )

    def create(self) -> AgentCreate:
        """The request for a new agent with these fields.

        Raises:
            ProblemError: it lacks a name or a model.
        """
        self._check()
        return AgentCreate.model_validate(
            {
                "name": self.name,
                "model": self.model,
                "description": self.description or None,
                "instructions": self.instructions or None,
                "tools": self._library_tools() or None,
                "completion_args": {"temperature": self.temperature},
            }
        )

    def update(self, agent: Agent) -> AgentUpdate:
        """The request for the agent's next version: only what differs from it.

        Raises:
            ProblemError: nothing differs, or the name or the model is empty.
        """
        self._check()
        old = AgentFields.of(agent)
        changes: dict[str, Any] = {
            name: getattr(self, name) or None
            for name in ("name", "model", "description", "instructions")
            if getattr(self, name) != getattr(old, name)
        }
        if self.temperature != old.temperature:
            changes["completion_args"] = {
                **agent.completion_args,
                "temperature": self.temperature,
            }
        if set(self.libraries) != set(old.libraries):
            others = [tool for tool in agent.tools if tool.get("type") != "document_library"]
            changes["tools"] = others + self._library_tools()
        if not changes:
            raise ProblemError(
                Problem("Nothing changed", "The agent is as it was.", "Change a field, then save.")
            )
        return AgentUpdate.model_validate(changes)

    def _check(self) -> None:
        for name in ("name", "model"):
            if not getattr(self, name).strip():
                raise ProblemError(Problem(f"An agent needs a {name}", "This one has none."))

    def _library_tools(self) -> list[dict[str, Any]]:
        if not self.libraries:
            return []
        return [{"type": "document_library", "library_ids": self.libraries}]
