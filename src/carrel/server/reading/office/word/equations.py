"""Word's equations as LaTeX, in runs of text that its readers keep."""

import io
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from lxml import etree

from carrel.server.reading.formulas.symbols import ACCENTS, FUNCTIONS, OPERATORS
from carrel.server.reading.office.archive import attribute, member, pack, parse_xml

STYLE = "CarrelEquation"
"""Id of the character style of a run with an equation, which is LaTeX between dollar signs."""
_PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_DEPTH = 60
"""Deepest nesting of an equation that is followed."""
_TEMPLATES = {
    "f": r"\frac{{{num}}}{{{den}}}",
    "sSup": "{{{e}}}^{{{sup}}}",
    "sSub": "{{{e}}}_{{{sub}}}",
    "sSubSup": "{{{e}}}_{{{sub}}}^{{{sup}}}",
    "sPre": "{{}}_{{{sub}}}^{{{sup}}}{e}",
    "func": "{fName} {e}",
    "limLow": r"\underset{{{lim}}}{{{e}}}",
    "limUpp": r"\overset{{{lim}}}{{{e}}}",
}
_BRACES = {"{": r"\{", "}": r"\}", "": ".", "‖": r"\|", "⟨": r"\langle", "⟩": r"\rangle"}
_SIGNS = str.maketrans({"#": r"\#", "$": r"\$", "%": r"\%", "&": r"\&", "{": r"\{", "}": r"\}",
                        "_": r"\_", "~": r"\sim ", "\\": r"\backslash ", "\u2061": ""})  # fmt: skip


def with_equations(data: bytes) -> bytes:
    """Return the Word file with each equation in a run of text, unchanged if there is none."""
    changed = {
        name: _wrap_in_runs(content)
        for name in _PARTS
        if (content := member(data, name)) and b"oMath" in content
    }
    if not changed:
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        names = source.namelist()
        return pack({name: changed.get(name) or source.read(name) for name in names})


def _wrap_in_runs(content: bytes) -> bytes:
    root = parse_xml(content)
    for equation in [*root.iter(f"{{{_MATH}}}oMathPara"), *root.iter(f"{{{_MATH}}}oMath")]:
        parent = equation.getparent()
        if parent is None or parent.tag == f"{{{_MATH}}}oMathPara":
            continue
        inline = equation.tag.endswith("oMath")
        lines, sign = ([equation], "$") if inline else (list(equation), "$$")
        texts = [" ".join(_content(line, 0).split()) for line in lines]
        before = equation.getprevious()
        # Two signs beside each other would begin a formula on a line of its own.
        styles = () if before is None else before.iter("{*}rStyle")
        apart = " " if any(attribute(style, "val") == STYLE for style in styles) else ""
        shown = " ".join(f"{sign}{text}{sign}" for text in texts if text)
        run = etree.Element(f"{{{_WORD}}}r")
        style = etree.SubElement(etree.SubElement(run, f"{{{_WORD}}}rPr"), f"{{{_WORD}}}rStyle")
        style.set(f"{{{_WORD}}}val", STYLE)
        etree.SubElement(run, f"{{{_WORD}}}t").text = apart + shown
        parent.replace(equation, run)
    return bytes(etree.tostring(root))


def _content(element: Any, depth: int) -> str:
    """Return the LaTeX of everything in an element."""
    return "" if element is None else "".join(_convert_one(child, depth + 1) for child in element)


def _convert_one(element: Any, depth: int) -> str:
    if depth > _DEPTH or not isinstance(element.tag, str):
        return ""
    name = etree.QName(element).localname
    if name == "r":
        return _text(element)
    if name.endswith("Pr"):
        return ""
    parts = defaultdict(str)
    for child in element.iterchildren("*"):
        parts[etree.QName(child).localname] = _content(child, depth)
    if (name, _property(element, "type", "")) == ("f", "lin"):
        return f"{parts['num']}/{parts['den']}"
    if name in _TEMPLATES:
        return _TEMPLATES[name].format_map(parts)
    match name:
        case "rad":
            return rf"\sqrt[{parts['deg']}]{{{parts['e']}}}".replace("[]", "")
        case "nary":
            sign = _property(element, "chr", "∫")
            marked = (("_", parts["sub"]), ("^", parts["sup"]))
            limits = "".join(f"{mark}{{{limit}}}" for mark, limit in marked if limit)
            return f"{OPERATORS.get(sign, sign)}{limits} {parts['e']}"
        case "acc":
            accent = ACCENTS.get(_property(element, "chr", "\u0302"), "hat")
            return rf"\{accent}{{{parts['e']}}}"
        case "bar":
            line = r"\overline" if _property(element, "pos", "bot") == "top" else r"\underline"
            return f"{line}{{{parts['e']}}}"
        case "m":
            rows = (row.findall("{*}e") for row in element.findall("{*}mr"))
            return _rows("matrix", ([_content(cell, depth) for cell in row] for row in rows))
        case "eqArr":
            return _rows("aligned", ([_content(each, depth)] for each in element.findall("{*}e")))
        case "d":
            terms = (_content(each, depth) for each in element.findall("{*}e"))
            left, right = _property(element, "begChr", "("), _property(element, "endChr", ")")
            inside = _property(element, "sepChr", "|").join(terms)
            return rf"\left{_BRACES.get(left, left)}{inside}\right{_BRACES.get(right, right)}"
        case _:
            return _content(element, depth)


def _text(run: Any) -> str:
    text = "".join(each.text or "" for each in run.findall("{*}t"))
    if text.strip() in FUNCTIONS:
        return f"\\{text.strip()} "
    plain = run.find("{*}rPr/{*}nor") is not None
    latex = text.translate(_SIGNS)
    return rf"\text{{{latex}}}" if plain and latex.strip() else latex


def _property(element: Any, name: str, otherwise: str) -> str:
    """Return a property of an element, empty if it is there without a value."""
    kind = etree.QName(element).localname
    found = element.find(f"{{*}}{kind}Pr/{{*}}{name}")
    return otherwise if found is None else str(found.get(f"{{{_MATH}}}val", ""))


def _rows(name: str, rows: Iterable[Iterable[str]]) -> str:
    lines = r" \\ ".join(" & ".join(cells) for cells in rows)
    return rf"\begin{{{name}}}{lines}\end{{{name}}}"
