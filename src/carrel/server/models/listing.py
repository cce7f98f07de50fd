"""The list of a server's models, each under every name it is listed by."""

from collections.abc import Iterable, Iterator

from carrel.server.models.names import OCR_NAMES
from carrel.wire.models import ModelCapabilities, ModelCard

OCR_MODEL = "carrel-ocr"


def ocr_card(*, strict: bool) -> ModelCard:
    """The card of the server's reading of documents."""
    return ModelCard(
        id=OCR_MODEL,
        owned_by="carrel",
        name="Carrel OCR",
        description="pages of documents as Markdown",
        aliases=[] if strict else list(OCR_NAMES),
        capabilities=ModelCapabilities(ocr=True, vision=True),
    )


def with_aliases(cards: Iterable[ModelCard]) -> list[ModelCard]:
    """The cards, followed by one for each alias."""
    own = list(cards)
    return [*own, *(alias for card in own for alias in _aliases(card))]


def called(card: ModelCard, name: str) -> ModelCard:
    """A card under another name of its model, whose own is the first alias."""
    others = [other for other in (card.id, *(card.aliases or ())) if other != name]
    return card.model_copy(update={"id": name, "aliases": others})


def _aliases(card: ModelCard) -> Iterator[ModelCard]:
    return (called(card, name) for name in card.aliases or ())
