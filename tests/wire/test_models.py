"""The list of models as clients read it."""

from carrel.wire.models import ModelList

CHAT = {"completion_chat": True}


def test_a_model_with_several_names_is_offered_once() -> None:
    listed = ModelList.model_validate(
        {
            "data": [
                {"id": "big", "aliases": ["large"], "capabilities": CHAT},
                {"id": "reader", "capabilities": {"ocr": True}},
                {"id": "unsaid"},
                {"id": "large", "aliases": ["big"], "capabilities": CHAT},
            ]
        }
    )
    assert [card.id for card in listed.chat_models] == ["big", "unsaid"]
