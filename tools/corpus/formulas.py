"""Formulas as trees, written as text, HTML, LaTeX or Typst."""

import random
from dataclasses import dataclass
from typing import Literal

_GREEK = {
    "α": ("alpha", "alpha"),
    "β": ("beta", "beta"),
    "γ": ("gamma", "gamma"),
    "θ": ("theta", "theta"),
    "λ": ("lambda", "lambda"),
    "μ": ("mu", "mu"),
    "σ": ("sigma", "sigma"),
    "π": ("pi", "pi"),
    "ω": ("omega", "omega"),
}
_SIGNS = {
    "=": ("=", "="),
    "+": ("+", "+"),
    "−": ("-", "-"),
    "≤": (r"\leq", "<="),
    "≈": (r"\approx", "approx"),
    "→": (r"\to", "->"),
    "∈": (r"\in", "in"),
    "·": (r"\cdot", "dot"),
}
Kind = Literal["symbol", "row", "power", "index", "fraction", "root", "sum", "integral"]


@dataclass(frozen=True)
class Tree:
    """`symbol` has a text; of the others, `parts` are what they are made of."""

    kind: Kind
    symbol: str = ""
    parts: tuple["Tree", ...] = ()

    def text(self) -> str:
        """Return the characters in reading order, limits and fractions one after the other."""
        if self.kind == "symbol":
            return self.symbol
        inner = [part.text() for part in self.parts]
        if self.kind == "root":
            return "√" + inner[0]
        if self.kind in {"sum", "integral"}:
            return {"sum": "∑", "integral": "∫"}[self.kind] + "".join(inner)
        return "".join(inner)

    def html(self) -> str:
        parts = [part.html() for part in self.parts]
        if self.kind == "symbol":
            style = "i" if self.symbol.isalpha() else "span"
            blank = " " if self.symbol in _SIGNS else ""
            return f"{blank}<{style}>{self.symbol}</{style}>{blank}"
        if self.kind == "power":
            return f"{parts[0]}<sup>{parts[1]}</sup>"
        if self.kind == "index":
            return f"{parts[0]}<sub>{parts[1]}</sub>"
        if self.kind == "fraction":
            return f'<span class="fraction"><span>{parts[0]}</span><span>{parts[1]}</span></span>'
        if self.kind == "root":
            return f'√<span class="root">{parts[0]}</span>'
        if self.kind in {"sum", "integral"}:
            sign = {"sum": "∑", "integral": "∫"}[self.kind]
            return (
                f'<span class="big">{sign}</span><sub>{parts[0]}</sub>'
                f"<sup>{parts[1]}</sup>{parts[2]}"
            )
        return "".join(parts)

    def latex(self) -> str:
        parts = [part.latex() for part in self.parts]
        if self.kind == "symbol":
            if self.symbol in _GREEK:
                return rf"\{_GREEK[self.symbol][0]} "
            return (_SIGNS[self.symbol][0] + " ") if self.symbol in _SIGNS else self.symbol
        if self.kind in {"power", "index"}:
            return f"{{{parts[0]}}}{'^' if self.kind == 'power' else '_'}{{{parts[1]}}}"
        if self.kind == "fraction":
            return rf"\frac{{{parts[0]}}}{{{parts[1]}}}"
        if self.kind == "root":
            return rf"\sqrt{{{parts[0]}}}"
        if self.kind in {"sum", "integral"}:
            sign = {"sum": r"\sum", "integral": r"\int"}[self.kind]
            return f"{sign}_{{{parts[0]}}}^{{{parts[1]}}} {parts[2]}"
        return "".join(parts)

    def typst(self) -> str:
        parts = [part.typst() for part in self.parts]
        if self.kind == "symbol":
            if self.symbol in _GREEK:
                return f" {_GREEK[self.symbol][1]} "
            return f" {_SIGNS[self.symbol][1]} " if self.symbol in _SIGNS else f"{self.symbol} "
        if self.kind in {"power", "index"}:
            side = "t" if self.kind == "power" else "b"
            return f"attach({parts[0]}, {side}: {parts[1]})"
        if self.kind == "fraction":
            return f"frac({parts[0]}, {parts[1]})"
        if self.kind == "root":
            return f"sqrt({parts[0]})"
        if self.kind in {"sum", "integral"}:
            sign = {"sum": "sum", "integral": "integral"}[self.kind]
            return f"attach({sign}, b: {parts[0]}, t: {parts[1]}) {parts[2]}"
        return " ".join(parts)


def _symbol(rng: random.Random) -> Tree:
    return Tree(
        "symbol", rng.choice("abcdefhknmpqrstuvwxyzABCEFGHKLMNPRSTVX" + "".join(_GREEK) * 2)
    )


def _number(rng: random.Random) -> Tree:
    return Tree("symbol", str(rng.randint(0, 12)))


def _term(rng: random.Random, depth: int) -> Tree:
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return _symbol(rng) if rng.random() < 0.75 else _number(rng)
    if kind < 0.45:
        return Tree("power", parts=(_symbol(rng), rng.choice((_number, _symbol))(rng)))
    if kind < 0.6:
        return Tree("index", parts=(_symbol(rng), rng.choice((_number, _symbol))(rng)))
    if kind < 0.75:
        return Tree("fraction", parts=(_row(rng, depth - 1), _row(rng, depth - 1)))
    if kind < 0.82:
        return Tree("root", parts=(_row(rng, depth - 1),))
    if kind < 0.95:
        sign: Kind = "sum" if rng.random() < 0.6 else "integral"
        low = Tree("row", parts=(_symbol(rng), Tree("symbol", "="), _number(rng)))
        return Tree(
            sign,
            parts=(low if sign == "sum" else _number(rng), _symbol(rng), _term(rng, depth - 1)),
        )
    inner = (Tree("symbol", "("), _row(rng, depth - 1), Tree("symbol", ")"))
    return Tree("row", parts=inner)


def _row(rng: random.Random, depth: int) -> Tree:
    parts = [_term(rng, depth)]
    for _ in range(rng.choice((0, 1, 1, 2))):
        parts += [Tree("symbol", rng.choice("++−·")), _term(rng, depth)]
    return Tree("row", parts=tuple(parts))


def random_formula(rng: random.Random) -> Tree:
    left = _term(rng, 1)
    sign = Tree("symbol", rng.choice("====≤≈→∈"))
    return Tree("row", parts=(left, sign, _row(rng, 2)))
