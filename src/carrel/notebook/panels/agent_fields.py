"""The form fields of a draft."""

from dataclasses import replace
from typing import Any, Self

from pydantic import BaseModel, Field

from carrel.store.agents.drafts import Draft


class AgentFields(BaseModel):
    """The fields of an agent's form.

    `libraries` holds the ids of the libraries to search, `connectors` names separated by commas.
    """

    name: str = ""
    model: str = ""
    description: str = ""
    instructions: str = ""
    temperature: float | None = Field(default=None, ge=0, le=1)
    max_tokens: int | None = Field(default=None, ge=0)
    libraries: list[str] = Field(default_factory=list)
    connectors: str = ""
    message: str = Field(default="", max_length=500)

    @classmethod
    def of(cls, draft: Draft) -> Self:
        """Return the fields of a draft."""
        texts = {name: draft.fields.get(name, "") for name in _TEXTS}
        arguments = draft.fields.get("completion_args", {})
        numbers = {name: arguments.get(name) for name in _NUMBERS}
        known: dict[str, Any] = {**texts, **numbers}
        tools: dict[str, Any] = {"libraries": list(draft.libraries), "connectors": draft.connectors}
        return cls.model_construct(**known, **tools, message=draft.message)

    def onto(self, draft: Draft) -> Draft:
        """Return the draft with these fields; its other fields keep their values."""
        texts = {name: getattr(self, name) for name in _TEXTS}
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        filled = draft.changed(**texts).with_arguments(**numbers).with_libraries(self.libraries)
        return replace(filled.with_connectors(self.connectors), message=self.message)


_TEXTS = ("name", "model", "description", "instructions")
_NUMBERS = ("temperature", "max_tokens")
