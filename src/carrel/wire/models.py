"""The models a service offers."""

from pydantic import Field

from carrel.wire.base import ResponseModel, omitted_when_none


class ModelCapabilities(ResponseModel):
    """The capabilities of a model."""

    completion_chat: bool = False
    function_calling: bool = False
    vision: bool = False
    ocr: bool = False


class ModelCard(ResponseModel):
    """A model. It also answers to its `aliases`."""

    id: str
    object: str = "model"
    type: str = "base"
    created: int | None = omitted_when_none()
    owned_by: str | None = omitted_when_none()
    name: str | None = None
    description: str | None = None
    max_context_length: int | None = omitted_when_none()
    aliases: list[str] | None = omitted_when_none()
    capabilities: ModelCapabilities = Field(default_factory=ModelCapabilities)

    @property
    def chats(self) -> bool:
        """Whether it can answer in a chat; assumed of a model that lists no abilities."""
        return self.capabilities.completion_chat or "capabilities" not in self.model_fields_set

    def answers_to(self, name: str) -> bool:
        """Return whether this is its id or one of its aliases."""
        return name in (self.id, *(self.aliases or ()))


class ModelList(ResponseModel):
    object: str = "list"
    data: list[ModelCard]

    @property
    def ocr_models(self) -> list[str]:
        """The models that read documents, without further names of one already listed."""
        return [card.id for card in _once([it for it in self.data if it.capabilities.ocr])]

    @property
    def chat_models(self) -> list[ModelCard]:
        """The models that can chat, each under one name only."""
        return _once([card for card in self.data if card.chats])


def _once(cards: list[ModelCard]) -> list[ModelCard]:
    """Return the cards without further names of one already listed."""
    return [
        card
        for index, card in enumerate(cards)
        if not any(earlier.answers_to(card.id) for earlier in cards[:index])
    ]
