"""Formulas rebuilt from glyphs, and from pages that LaTeX set."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from carrel.server.reading.formulas.rebuild import Glyph, NotRebuilt, latex_of
from carrel.server.reading.page.elements import Box
from carrel.server.reading.page.rules import Rule
from server.reading.conftest import Read
from support import requires


def glyph(
    text: str, x: float, base: float = 100.0, size: float = 10.0, font: str = "CMMI10"
) -> Glyph:
    return Glyph(text, Box(x, base - 0.6 * size, x + 0.5 * size, base), base, size, font)


@pytest.mark.parametrize(
    ("glyphs", "rules", "latex"),
    [
        ([glyph("x", 0), glyph("2", 5.5, 96.4, 7, "CMR7")], [], "x^{2}"),
        ([glyph("a", 0), glyph("i", 5.5, 101.5, 7)], [], "a_{i}"),
        ([glyph("1", 1, 93), glyph("b", 1, 108)], [Rule(True, 97.5, 0, 8)], r"\frac{1}{b}"),
        (
            [Glyph("√", Box(0, 92, 8, 101), 92, 10, "CMSY10"), glyph("π", 9)],
            [Rule(True, 92, 8, 15)],
            r"\sqrt{\pi}",
        ),
        ([glyph("ˆ", 0, 95, 10, "CMR10"), glyph("β", 0)], [], r"\hat{\beta}"),
        ([glyph("R", 0, font="MSBM10"), glyph("L", 7, font="CMSY10")], [],
         r"\mathbb{R}\mathcal{L}"),
        ([glyph("\u0338", 0, font="CMSY10"), glyph("=", 0, font="CMR10")], [], r"\neq"),
        ([glyph(c, 5.0 * n, font="CMR10") for n, c in enumerate("sin")] + [glyph("α", 17)], [],
         r"\sin\alpha"),
        ([glyph("α", 0), glyph("x", 6)], [], r"\alpha x"),
    ],
)  # fmt: skip
def test_a_formula_is_rebuilt_from_its_glyphs(
    glyphs: list[Glyph], rules: list[Rule], latex: str
) -> None:
    assert latex_of(glyphs, rules) == latex


def test_a_glyph_of_no_known_meaning_is_not_guessed() -> None:
    with pytest.raises(NotRebuilt):
        latex_of([glyph("x", 0), glyph("\ue123", 6)], [])


def test_type_of_the_same_size_on_another_line_is_no_script() -> None:
    with pytest.raises(NotRebuilt):
        latex_of([glyph("x", 0), glyph("y", 6), glyph("z", 12, 88)], [])


FORMULAS = {
    r"\int_0^\infty e^{-x^2}dx=\frac{\sqrt{\pi}}{2}":
        r"\int_{0}^{\infty}e^{-x^{2}}dx=\frac{\sqrt{\pi}}{2}",
    r"\sum_{k=1}^{n}\frac{1}{k^2}\le\frac{\pi^2}{6}":
        r"\sum_{k=1}^{n}\frac{1}{k^{2}}\leq\frac{\pi^{2}}{6}",
    r"\lim_{n\to\infty}\left(1+\frac{1}{n}\right)^n=e":
        r"\lim_{n\to\infty}(1+\frac{1}{n})^{n}=e",
    r"A=\begin{pmatrix} a & b\\ c & d\end{pmatrix}":
        r"A=\begin{pmatrix}a & b \\ c & d\end{pmatrix}",
    r"|x|=\begin{cases} x & x\ge 0\\ -x & x<0\end{cases}":
        r"|x|=\begin{cases}x & x\geq0 \\ -x & x<0\end{cases}",
    r"x=\frac{-b\pm\sqrt{b^2-4ac}}{2a}": r"x=\frac{-b\pm\sqrt{b^{2}-4ac}}{2a}",
    r"\hat{\beta}=(X^\top X)^{-1}X^\top y": r"\hat{\beta}=(X^{\top}X)^{-1}X^{\top}y",
}  # fmt: skip


async def set_by_latex(folder: Path, body: str) -> Path:
    """The pages of a document."""
    (folder / "a.tex").write_text(
        f"\\documentclass{{article}}\\usepackage{{amsmath}}\\begin{{document}}{body}\\end{{document}}"
    )
    command = [requires.pdflatex(), "-interaction=batchmode", "a.tex"]
    latex = await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=subprocess.DEVNULL)
    assert await latex.wait() == 0
    return folder / "a.pdf"


@pytest.mark.asyncio(loop_scope="module")
async def test_formulas_that_latex_sets_are_read_as_latex(tmp_path: Path, read: Read) -> None:
    text = "Some words stand between the formulas of this page, as they do in papers."
    body = "\n".join(f"{text}\n\\[ {formula} \\]" for formula in FORMULAS)
    [page] = (await read(await set_by_latex(tmp_path, body))).pages
    found = [part for part in page.markdown.split("\n\n") if part.startswith("$$")]
    assert found == [f"$${latex}$$" for latex in FORMULAS.values()]
    assert page.markdown.count(text) == len(FORMULAS)


@pytest.mark.asyncio(loop_scope="module")
async def test_formulas_in_running_text_are_latex_and_prose_stays(
    tmp_path: Path, read: Read
) -> None:
    body = r"""
    The mean of the samples, $x_{1},x_{2},\ldots ,x_{n}$, is a number, and $\alpha =\frac{1}{2}$
    is another: $\|f\|_{L^{2}}\le C_0$. We counted $c^{(i)}_{k}$ readers on the 3$^{rd}$
    day, from 10 to 20 km away, for $f(n+1) = n!$ reasons.

    Joan Writer$^{*}$, Mary Reader$^{\dagger}$, Ann Binder
    """
    text = (await read(await set_by_latex(tmp_path, body))).pages[0].markdown
    words = " ".join(text.replace(" ,", ",").split())
    for formula in (r"$x_{1},x_{2},\ldots,x_{n}$", r"$\alpha =\frac{1}{2}$", "$c_{k}^{(i)}$"):
        assert formula in words
    for prose in ("samples, $", "on the 3rd day", "from 10 to 20 km away", "(n + 1) = n!"):
        assert prose in words.replace("(n+1)", "(n + 1)")
    assert "$$" not in text and "\\text" not in text
    assert "Joan Writer" in words and "Mary Reader" in words
