"""The models a service offers."""

from carrel.wire.base import Answer


class ModelCard(Answer):
    """A model, or another name for one."""

    id: str
    object: str = "model"
    created: int | None = None
    owned_by: str | None = None
    name: str | None = None
    description: str | None = None
    max_context_length: int | None = None
    aliases: list[str] | None = None


class ModelList(Answer):
    object: str = "list"
    data: list[ModelCard]
