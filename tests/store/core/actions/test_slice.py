from dataclasses import FrozenInstanceError, dataclass

import pytest

from carrel.store.core.actions.slice import Slice


@dataclass(frozen=True, slots=True)
class Count:
    number: int = 0
    name: str = ""


def test_set_replaces_fields_and_tells_new_and_old() -> None:
    slice = Slice(Count(1, "a"))
    seen: list[tuple[Count, Count]] = []
    slice.changed.connect(lambda new, old: seen.append((new, old)))
    assert slice.set(number=2) == Count(2, "a")
    assert slice.value == Count(2, "a")
    assert seen == [(Count(2, "a"), Count(1, "a"))]


def test_an_equal_value_tells_nothing() -> None:
    slice = Slice(Count(1))
    seen: list[Count] = []
    slice.changed.connect(lambda new, old: seen.append(new))
    before = slice.value
    slice.set(number=1)
    slice.put(Count(1))
    assert seen == []
    assert slice.value is before


def test_what_it_holds_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        Slice(Count()).value.number = 3  # type: ignore[misc]


def test_a_listener_that_fails_does_not_fail_the_change(caplog: pytest.LogCaptureFixture) -> None:
    slice = Slice(Count())

    def fail(new: Count, old: Count) -> None:
        raise RuntimeError("broken listener")

    slice.changed.connect(fail)
    assert slice.set(number=5).number == 5
    assert "a listener of Count failed" in caplog.text
