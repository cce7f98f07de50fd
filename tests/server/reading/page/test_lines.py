"""Lines of a text layer."""

import pytest

from carrel.server.reading.page.lines import font_style


@pytest.mark.parametrize(
    ("font", "bold", "mono"),
    [
        ("Helvetica-Bold", True, False),
        ("PHGXPC+CMBX12", True, False),
        ("CMSSBX10", True, False),
        ("VVNDXJ+CMR10", False, False),
        ("SFBX1440", True, False),
        ("SFRM1095", False, False),
        ("NimbusRomNo9L-Medi", True, False),
        ("NimbusRomNo9L-MediItal", True, False),
        ("FranklinGothic-Medium", False, False),
        ("SFTT1095", False, True),
        ("t1xtt", False, True),
    ],
)
def test_the_name_of_a_font_says_its_style(font: str, bold: bool, mono: bool) -> None:
    assert font_style(font)[:2] == (bold, mono)
