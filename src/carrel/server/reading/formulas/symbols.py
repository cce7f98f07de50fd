"""LaTeX commands for glyphs of mathematical fonts."""

import re
from functools import lru_cache

_MATH_FONT = re.compile(
    r"CM(MI|SY|EX|BSY|MIB)\d|MS[AB]M\d|EU[FSR][MB]\d|LMMath|STIX.*Math|CambriaMath|LatinModernMath"
    r"|TeXGyre\w*Math|XITSMath|rsfs\d",
    re.IGNORECASE,
)
is_math_font = lru_cache(_MATH_FONT.search)
EXTENSION = re.compile(r"CMEX|LMMathExtension", re.IGNORECASE)
ALPHABETS = (
    (re.compile(r"MSBM"), "mathbb"),
    (re.compile(r"EUF[MB]"), "mathfrak"),
    (re.compile(r"CMB?SY|rsfs|EUS[MB]"), "mathcal"),
    (re.compile(r"CMBX|CMMIB"), "mathbf"),
)
ROMAN = re.compile(r"CMR|CMBX|SFRM|LMRoman|CMTI|CMSS", re.IGNORECASE)

_OPERATORS = {
    "sum": "PX", "prod": "QY", "int": "RZ", "bigcup": "S[", "bigcap": "T\\", "coprod": "`a",
    "bigwedge": "V^", "bigvee": "W_", "bigoplus": "LM", "bigotimes": "NO", "biguplus": "U]",
    "oint": "HI", "bigsqcup": "FG", "bigodot": "JK",
}  # fmt: skip
OPERATORS = {code: f"\\{name}" for name, codes in _OPERATORS.items() for code in codes}
OPERATORS |= {
    "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint",
    "∮": r"\oint", "⋃": r"\bigcup", "⋂": r"\bigcap", "⋁": r"\bigvee", "⋀": r"\bigwedge",
    "⨁": r"\bigoplus", "⨂": r"\bigotimes",
}  # fmt: skip
INTEGRALS = {r"\int", r"\iint", r"\iiint", r"\oint"}

_DELIMITERS = {
    "(": "\x00\x10\x12\x200", ")": "\x01\x11\x13!1", "[": '\x02\x14"2h', "]": "\x03\x15#3i",
    r"\{": "\x08\x1a(8n", r"\}": "\x09\x1b)9o", "|": "\x0c", r"\|": "\r",
    r"\lfloor": "\x04\x16$j", r"\rfloor": "\x05\x17%k", r"\lceil": "\x06\x18&l",
    r"\rceil": "\x07\x19'm", r"\langle": "\n\x1c*D", r"\rangle": "\x0b\x1d+E",
}  # fmt: skip
DELIMITERS = {code: name for name, codes in _DELIMITERS.items() for code in codes}
"""By the codes of TeX's extension font; of those made of pieces, the upper one."""
DELIMITERS |= {
    "\uf8eb": "(", "\uf8f6": ")", "\uf8ee": "[", "\uf8f9": "]", "\uf8f1": r"\{", "\uf8fc": r"\}",
}  # fmt: skip
PIECES = frozenset("4567:;<=>?@ABC\uf8ec\uf8ed\uf8ef\uf8f0\uf8f2\uf8f3\uf8f4") | frozenset(
    "\uf8f7\uf8f8\uf8fa\uf8fb\uf8fd\uf8fe\uf8f5"
)
"""The other pieces of delimiters."""
OPENING = frozenset(["(", "[", r"\{", r"\lfloor", r"\lceil", r"\langle"])
CLOSING = frozenset([")", "]", r"\}", r"\rfloor", r"\rceil", r"\rangle"])
MATRICES = {"(": "pmatrix", "[": "bmatrix", "|": "vmatrix", r"\{": "Bmatrix"}
RADICALS = frozenset("pqrst√")

ACCENTS = {
    "ˆ": "hat", "^": "hat", "˜": "tilde", "~": "tilde", "¯": "bar", "ˉ": "bar", "˙": "dot",
    "¨": "ddot", "ˇ": "check", "˘": "breve", "´": "acute", "`": "grave", "→": "vec",
    "\u0300": "grave", "\u0301": "acute", "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar",
    "\u0305": "overline", "\u0306": "breve", "\u0307": "dot", "\u0308": "ddot", "\u030c": "check",
    "\u20d6": "overleftarrow", "\u20d7": "vec",
}  # fmt: skip
WIDE = dict.fromkeys("bcd", "widehat") | dict.fromkeys("efg", "widetilde")

LIMITED = frozenset(["lim", "liminf", "limsup", "max", "min", "sup", "inf", "det", "gcd", "Pr"])
FUNCTIONS = LIMITED.union([
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "dim", "exp",
    "hom", "ker", "lg", "ln", "log", "sec", "sin", "sinh", "tan", "tanh",
])  # fmt: skip

_GREEK = [
    "alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "omicron", "pi", "rho", "varsigma", "sigma", "tau", "upsilon",
    "varphi", "chi", "psi", "omega",
]  # fmt: skip
SYMBOLS = {chr(0x3B1 + number): f"\\{name}" for number, name in enumerate(_GREEK)}
SYMBOLS |= {
    "Γ": r"\Gamma", "Δ": r"\Delta", "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi",
    "Σ": r"\Sigma", "Υ": r"\Upsilon", "Φ": r"\Phi", "Ψ": r"\Psi", "Ω": r"\Omega",
}  # fmt: skip
SYMBOLS |= {
    "ϵ": r"\epsilon", "ϑ": r"\vartheta", "ϕ": r"\phi", "φ": r"\varphi", "ϱ": r"\varrho",
    "ϖ": r"\varpi", "ω": r"\omega", "−": "-", "∗": "*", "·": r"\cdot", "×": r"\times",
    "÷": r"\div", "±": r"\pm", "∓": r"\mp", "≤": r"\leq", "≥": r"\geq", "≪": r"\ll",
    "≫": r"\gg", "≠": r"\neq", "≈": r"\approx", "∼": r"\sim", "≃": r"\simeq", "≅": r"\cong",
    "≡": r"\equiv", "∝": r"\propto", "∈": r"\in", "∉": r"\notin", "∋": r"\ni", "⊂": r"\subset",
    "⊆": r"\subseteq", "⊃": r"\supset", "⊇": r"\supseteq", "∪": r"\cup", "∩": r"\cap",
    "∖": r"\setminus", "∅": r"\emptyset", "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla",
    "∀": r"\forall", "∃": r"\exists", "¬": r"\neg", "∧": r"\wedge", "∨": r"\vee",
    "→": r"\to", "←": r"\leftarrow", "↔": r"\leftrightarrow", "⇒": r"\Rightarrow",
    "⇐": r"\Leftarrow", "⇔": r"\Leftrightarrow", "↦": r"\mapsto", "↑": r"\uparrow",
    "↓": r"\downarrow", "⟨": r"\langle", "⟩": r"\rangle", "⌊": r"\lfloor", "⌋": r"\rfloor",
    "⌈": r"\lceil", "⌉": r"\rceil", "‖": r"\|", "∥": r"\|", "∣": "|", "⊥": r"\perp",
    "⊤": r"\top", "⊕": r"\oplus", "⊗": r"\otimes", "⊙": r"\odot", "◦": r"\circ", "∘": r"\circ",
    "•": r"\bullet", "†": r"\dagger", "‡": r"\ddagger", "ℓ": r"\ell", "ℜ": r"\Re", "ℑ": r"\Im",
    "ℏ": r"\hbar", "℘": r"\wp", "ℵ": r"\aleph", "…": r"\ldots", "⋯": r"\cdots", "⋮": r"\vdots",
    "⋱": r"\ddots", "′": "'", "≺": r"\prec", "≻": r"\succ", "⪯": r"\preceq", "⪰": r"\succeq",
    "⊢": r"\vdash", "⊨": r"\models", "△": r"\triangle", "□": r"\square", "⋆": r"\star",
    "⋄": r"\diamond", "µ": r"\mu", "ħ": r"\hbar", "⟶": r"\longrightarrow", "∆": r"\Delta",
    "Ω": r"\Omega", "≲": r"\lesssim", "≳": r"\gtrsim", "⩽": r"\leqslant", "⩾": r"\geqslant",
    "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "ı": r"\imath",
    "ȷ": r"\jmath", "\\": r"\setminus",
}  # fmt: skip

NEGATED = {"=": r"\neq", r"\in": r"\notin", r"\equiv": r"\not\equiv"}
