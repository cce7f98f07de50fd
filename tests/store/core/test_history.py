from carrel.store.core.history import KEPT, History


def test_each_text_is_kept_once_the_newest_last() -> None:
    history = History()
    for text in ("lease", "", "rent ", "lease", "  "):
        history.note(text)
    assert history.texts == ("rent", "lease")
    for number in range(KEPT):
        history.note(str(number))
    assert len(history.texts) == KEPT
