"""The list of a server's models, each under its name and its aliases."""

from collections.abc import Iterable

from carrel.server.models.names import OCR_NAMES
from carrel.server.settings import VisionModel
from carrel.wire.models import ModelCapabilities, ModelCard

OCR_MODEL = "carrel-ocr"


def ocr_cards(vision: VisionModel | None, *, strict: bool) -> list[ModelCard]:
    """Return the cards of the readers of documents: the built-in one, and a vision model."""
    built_in = ModelCard(
        id=OCR_MODEL,
        owned_by="carrel",
        name="Carrel OCR",
        description="pages of documents as Markdown",
        aliases=[] if strict else list(OCR_NAMES),
        capabilities=ModelCapabilities(ocr=True, vision=True),
    )
    if vision is None:
        return [built_in]
    beside = ModelCard(
        id=vision.name,
        name=vision.name,
        description="pages of documents as Markdown, beside the built-in reading",
        capabilities=ModelCapabilities(ocr=True, vision=True),
    )
    return [built_in, beside]


def with_aliases(cards: Iterable[ModelCard]) -> list[ModelCard]:
    """Return the cards, followed by one for each alias."""
    own = list(cards)
    return [*own, *(with_alias(card, name) for card in own for name in card.aliases or ())]


def with_alias(card: ModelCard, name: str) -> ModelCard:
    """Return a card under another name of its model, with the model's own as the first alias."""
    others = [other for other in (card.id, *(card.aliases or ())) if other != name]
    return card.model_copy(update={"id": name, "aliases": others})
