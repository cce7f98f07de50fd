import pytest

from carrel.store.chat.parameters import Parameters


def test_empty_fields_leave_it_to_the_agent() -> None:
    fields = {"temperature": "", "top_p": None, "max_tokens": "", "seed": "", "stop": ()}
    assert Parameters.of(fields) == Parameters()


def test_what_was_typed_becomes_numbers() -> None:
    typed = {
        "model": " large ",
        "temperature": "0.2",
        "max_tokens": "300",
        "seed": "0",
        "stop": "END",
    }
    assert Parameters.of(typed) == Parameters(
        model="large", temperature=0.2, max_tokens=300, seed=0, stop=("END",)
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", "warm"), ("temperature", "1.1"), ("temperature", "nan"), ("top_p", -0.1),
        ("max_tokens", "0"), ("max_tokens", "1.5"), ("seed", "-1"), ("seed", 2**70),
    ],
)  # fmt: skip
def test_a_value_that_no_service_takes_is_named(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        Parameters.of({name: value})
