"""Numbers of a Word document's list items, which the file does not store: count them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from carrel.server.reading.office.archive import attribute, parse_member, whole_number


class _Level(NamedTuple):
    """One level of a kind of list: whether its items are numbered, and from which number."""

    numbered: bool
    start: int
    style: str


class _Lists:
    """The kinds of lists a document defines, and the lists that are of each kind."""

    def __init__(self, root: Any) -> None:
        self.kinds = {
            attribute(kind, "abstractNumId"): {
                attribute(level, "ilvl") or "0": _Level(
                    _value(level, "numFmt") != "bullet",
                    whole_number(_value(level, "start"), 1),
                    _value(level, "pStyle"),
                )
                for level in kind.iterfind("{*}lvl")
            }
            for kind in root.iterfind("{*}abstractNum")
        }
        self.by_style = {
            level.style: (kind, depth)
            for kind, levels in self.kinds.items()
            for depth, level in levels.items()
            if level.style
        }
        self.kind_of, self.restarts = dict[str, str](), dict[str, dict[str, int]]()
        for one in root.iterfind("{*}num"):
            name = attribute(one, "numId")
            self.kind_of[name] = _value(one, "abstractNumId")
            self.restarts[name] = {
                attribute(override, "ilvl"): whole_number(_value(override, "startOverride"), 1)
                for override in one.iterfind("{*}lvlOverride")
                if override.find("{*}startOverride") is not None
            }

    def place(self, paragraph: Any) -> tuple[str, str, str] | None:
        """Return the list, kind and level of a list item, else None; the list may be ""."""
        properties = paragraph.find("{*}pPr")
        if properties is None:
            return None
        name = _value(properties, "numPr/{*}numId")
        style = _value(properties, "pStyle")
        if style in self.by_style and not (name and _value(properties, "numPr/{*}ilvl")):
            return (name, *self.by_style[style])
        depth = _value(properties, "numPr/{*}ilvl") or "0"
        kind = self.kind_of.get(name, "")
        return (name, kind, depth) if depth in self.kinds.get(kind, {}) else None


def item_numbers(data: bytes) -> Iterator[int]:
    """Yield the number of every item of the numbered lists, in document order."""
    lists = _Lists(parse_member(data, "word/numbering.xml"))
    counts: dict[str, dict[str, int]] = {}
    begun: set[str] = set()
    for paragraph in parse_member(data, "word/document.xml").iter("{*}p"):
        place = lists.place(paragraph)
        if place is None:
            continue
        name, kind, depth = place
        count = counts.setdefault(kind, {})
        if name not in begun:
            begun.add(name)
            count |= {at: start - 1 for at, start in lists.restarts.get(name, {}).items()}
        level = lists.kinds[kind][depth]
        count[depth] = count.get(depth, level.start - 1) + 1
        for deeper in [at for at in count if at > depth]:
            del count[deeper]
        if level.numbered:
            yield count[depth]


def _value(element: Any, path: str) -> str:
    """Return the value of a descendant element, empty if there is none."""
    inner = element.find(f"{{*}}{path}")
    return "" if inner is None else attribute(inner, "val")
