"""The names of what is compared."""

from carrel.store.chat.state import ChatState
from carrel.store.comparison.formatting import side_titles, tab_words

SUPPORT = ChatState(agent_name="support", version=3)


def test_a_version_beside_itself_is_named_by_a_letter() -> None:
    other = ChatState(agent_name="support", version=4)
    assert side_titles([SUPPORT, other]) == ["support v3", "support v4"]
    assert side_titles([SUPPORT, other, SUPPORT]) == ["support v3 A", "support v4", "support v3 C"]
    failed = ChatState(agent_name="support", version=3, phase="waiting")
    assert tab_words(failed, "support v3 A") == "◐ support v3 A"
