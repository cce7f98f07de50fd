"""What a shared screen must not show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.store.core.hiding import MASK, Hider

HIDER = Hider(["work", "work-eu", "api.example.com", "k-of-mine"])


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("to work ▲ hosted", "to •••• ▲ hosted"),
        ("work-eu and networking", "••••••• and networking"),
        ("at https://h.example.com/v1?x=1 now", "at " + "•" * 28 + " now"),
        ("on 127.0.0.1:8080.", "on ••••••••••••••."),
        ("ask ada@example.com", "ask " + "•" * 15),
        ("in /home/ada/contracts/a.pdf", "in " + "•" * 25),
        ("in ~/contracts, now", "in " + "•" * 11 + ", now"),
        ("id 0b7c51e2-6c1f-4a9e-8f0a-1d2b3c4d5e6f", "id " + "•" * 36),
        ("0b7c51e2…5e6f", "•" * 13),
        ("ag_0690a1b2c3d4e5f6", "•" * 19),
        ("the key k-of-mine", "the key •••••••••"),
        ("carrel_" + "a-b_c-d_e-" * 4 + "fgh.", "•" * 50 + "."),
    ],
)
def test_it_is_illegible(text: str, hidden: str) -> None:
    assert HIDER.hide(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "lease-2024.pdf",
        "about ~3 pages",
        "annual-report-of-2024-with-appendix.pdf",
        "1,204 files · 2 marked · 1.2 MB",
        "41–60 of 1,204",
        "● ready · smollm2 (test model)",
        "internationalisation and responsibilities",
        "12:04:33  GET /v1/files?page=0  ● 200",
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert HIDER.hide(text) == text


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_the_width_stays(text: str) -> None:
    hidden = HIDER.hide(text)
    assert len(hidden) == len(text)
    assert all(new in (old, MASK) for old, new in zip(text, hidden, strict=True))
