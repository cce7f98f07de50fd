"""Real content: blocks of public texts, phrases and sentences of a language, and rows of tables."""

import csv
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from corpus.document import (
    Block,
    Cell,
    Code,
    Heading,
    Item,
    Items,
    Leaf,
    Paragraph,
    Run,
    Runs,
    Style,
    Table,
    plain,
    runs,
)

RIGHT_TO_LEFT = {"ar", "fa", "he", "ur"}
UNSPACED = {"ja", "zh"}
_LANGUAGES = [
    "ar",
    "be",
    "bg",
    "bn",
    "de",
    "el",
    "en",
    "es",
    "fa",
    "fr",
    "he",
    "hi",
    "hu",
    "id",
    "it",
    "ja",
    "ko",
    "nl",
    "pl",
    "pt",
    "ro",
    "ru",
    "sv",
    "tr",
    "uk",
    "vi",
    "zh",
    "ms",
    "sw",
    "cs",
    "da",
    "fi",
    "nb",
    "ca",
]
_TAG = re.compile(rf"[-_./+]({'|'.join(_LANGUAGES)})(?:[-_](?:[A-Za-z]{{2,4}}))?(?=[-_./])")
_SCRIPTS = (
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("bn", re.compile(r"[\u0980-\u09ff]")),
)
_UNSETTABLE = re.compile(r"[\U00010000-\U0010ffff\u200b-\u200f\u202a-\u202e\ufe0f\u20e3\ufffd]")
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_COMMENT = re.compile(r"<!--.*?-->|\{[%{].*?[%}]\}|\{:.*?\}", re.DOTALL)
_TAGS = re.compile(r"</?[A-Za-z][^<>]*>")


def language_of(path: Path, text: str) -> str:
    """Return the language by the text's script; for Latin ones by the path, which often says it."""
    letters = text[:20_000]
    for language, script in _SCRIPTS:
        if len(script.findall(letters)) > len(letters) * 0.15:
            named = _TAG.findall(str(path))
            same_script = {"ar": {"fa"}, "ru": {"uk", "be", "bg"}}.get(language, set())
            return named[-1] if named and named[-1] in same_script else language
    if "gesetze" in str(path):
        return "de"
    named = [one for one in _TAG.findall("/".join(path.parts[-3:])) if one not in {"he", "ar"}]
    return named[-1] if named else "en"


def tidy(text: str) -> str:
    return re.sub(r"\s+", " ", _UNSETTABLE.sub("", text)).strip()


def _inline(token: Token) -> Runs:
    styles: list[Style] = []
    found: list[Run] = []
    for child in token.children or []:
        if child.type in {"strong_open", "em_open", "link_open"}:
            opened: dict[str, Style] = {
                "strong_open": "bold",
                "em_open": "italic",
                "link_open": "link",
            }
            styles.append(opened[child.type])
        elif child.type in {"strong_close", "em_close", "link_close"} and styles:
            styles.pop()
        elif child.type == "text":
            found.append(Run(_UNSETTABLE.sub("", child.content), styles[-1] if styles else ""))
        elif child.type == "code_inline":
            found.append(Run(_UNSETTABLE.sub("", child.content), "code"))
        elif child.type in {"softbreak", "hardbreak"}:
            found.append(Run(" "))
    return _squeezed(found)


def _squeezed(found: Sequence[Run]) -> Runs:
    """Return runs without doubled blanks, and without any at the ends."""
    result: list[Run] = []
    before = " "
    for run in found:
        text = re.sub(r"\s+", " ", run.text)
        if before == " ":
            text = text.lstrip(" ")
        if text:
            before = text[-1]
            if result and result[-1].style == run.style:
                result[-1] = Run(result[-1].text + text, run.style)
            else:
                result.append(Run(text, run.style))
    if result:
        result[-1] = Run(result[-1].text.rstrip(" "), result[-1].style)
    return tuple(run for run in result if run.text)


def markdown_blocks(text: str) -> list[Block]:
    """Return a Markdown text's headings, paragraphs, lists, quotations, code and tables."""
    if text.startswith("---"):
        text = text.split("\n---", 1)[-1].lstrip("-")
    text = _TAGS.sub("", _COMMENT.sub("", text))
    tokens = _MARKDOWN.parse(text)
    blocks: list[Block] = []
    lists: list[tuple[bool, int]] = []
    items: list[Item] = []
    quoted = 0
    index = 0
    fresh_item = False
    while index < len(tokens):
        token = tokens[index]
        if token.type == "heading_open":
            inline = _inline(tokens[index + 1])
            if inline and len(plain(inline)) < 160:
                words = tuple(Run(run.text) for run in inline)
                blocks.append(Heading(Leaf(words, "heading", int(token.tag[1]))))
            index += 2
        elif token.type in {"bullet_list_open", "ordered_list_open"}:
            lists.append((token.type[0] == "o", int(token.attrGet("start") or 1) - 1))
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            lists.pop()
            if not lists and items:
                blocks.append(Items(items))
                items = []
        elif token.type == "list_item_open":
            ordered, number = lists[-1]
            lists[-1] = (ordered, number + 1)
            fresh_item = True
        elif token.type == "blockquote_open":
            quoted += 1
        elif token.type == "blockquote_close":
            quoted -= 1
        elif token.type == "inline" and lists:
            inline = _inline(token)
            if inline and fresh_item:
                ordered, number = lists[-1]
                marker = f"{number}." if ordered else "•"
                depth = min(len(lists), 4) - 1
                items.append(Item(Leaf(inline, "list_item", depth + 1), marker, depth))
                fresh_item = False
            elif inline and items:
                leaf = items[-1].leaf
                leaf.runs = (*leaf.runs, Run(" "), *inline)
        elif token.type == "inline":
            inline = _inline(token)
            if len(plain(inline)) > 1:
                blocks.append(Paragraph(Leaf(inline, "quote" if quoted else "text")))
        elif token.type in {"fence", "code_block"} and not lists:
            code = _UNSETTABLE.sub("", token.content).expandtabs(4).rstrip()
            lines = [line[:90] for line in code.splitlines()][:24]
            if code and lines:
                blocks.append(Code(Leaf(runs("\n".join(lines), "code"), "code")))
        elif token.type == "table_open":
            end = next(i for i in range(index, len(tokens)) if tokens[i].type == "table_close")
            table = _markdown_table(tokens[index:end])
            if table:
                blocks.append(table)
            index = end
        index += 1
    return blocks


def _markdown_table(tokens: Sequence[Token]) -> Table | None:
    rows: list[list[Runs]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_inline(token))
    if len(rows) < 2 or not 2 <= len(rows[0]) <= 9 or len(rows) > 40:
        return None
    return table_of(rows, head_rows=1 if any(rows[0]) else 0)


def table_of(rows: Sequence[Sequence[Runs]], head_rows: int) -> Table:
    """Return a table without spans; the widths follow the texts' lengths."""
    columns = max(len(row) for row in rows)
    cells = [
        Cell(Leaf(inline, "cell", row=i, column=j, head=i < head_rows))
        for i, row in enumerate(rows)
        for j, inline in enumerate(row)
    ]
    longest = [
        max((len(plain(row[j])) for row in rows if j < len(row)), default=1) for j in range(columns)
    ]
    return Table(cells, len(rows), columns, head_rows, tuple(max(4, n) ** 0.7 for n in longest))


_ASCIIDOC = re.compile(r"^(={1,5}) (.+)$")


def prose_blocks(text: str, suffix: str) -> list[Block]:
    """Return the headings and paragraphs of plain text, reStructuredText or AsciiDoc."""
    blocks: list[Block] = []
    for part in re.split(r"\n\s*\n", text.replace("\r", "")):
        lines = part.strip("\n").splitlines()
        if not lines or lines[0][:1] in " \t" or lines[0].startswith((".. ", "//", "[", "----")):
            continue
        heading = _ASCIIDOC.match(lines[0]) if suffix == ".asc" else None
        if heading and len(lines) == 1:
            level = min(len(heading[1]), 4)
            blocks.append(Heading(Leaf(runs(tidy(heading[2])), "heading", level)))
        elif len(lines) == 2 and re.fullmatch(r"([=\-~^'\"])\1{3,}", lines[1].strip()):
            level = {"=": 1, "-": 2}.get(lines[1].strip()[0], 3)
            blocks.append(Heading(Leaf(runs(tidy(lines[0])), "heading", level)))
        else:
            words = tidy(
                re.sub(r"[`*_]{1,2}|<<.*?>>|\(\(\(.*?\)\)\)|:[a-z]+:", "", " ".join(lines))
            )
            if len(words) > 60 and not re.search(r"[|{}\\]|={3}|-{3}|::", words):
                blocks.append(Paragraph(Leaf(runs(words), "text")))
    return blocks


_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？؟])")


@dataclass
class Voice:
    """What is said in one language."""

    language: str
    texts: list[list[Block]] = field(default_factory=list)

    @cached_property
    def sentences(self) -> list[str]:
        found = [
            tidy(sentence)
            for block in self._blocks
            if isinstance(block, Paragraph) and block.leaf.role == "text"
            for sentence in _SENTENCE.split(block.leaf.text)
        ]
        least = 8 if self.language in UNSPACED else 25
        return [one for one in found if least < len(one) < 320 and "http" not in one] or ["—"]

    @cached_property
    def titles(self) -> list[str]:
        found = [tidy(b.leaf.text) for b in self._blocks if isinstance(b, Heading)]
        return [one for one in found if 3 < len(one) < 90] or self.phrases

    @cached_property
    def phrases(self) -> list[str]:
        """Two to seven words out of sentences, cut at marks where there are any."""
        found = []
        for sentence in self.sentences:
            for clause in re.split(r"[,;:()–—。、，「」]\s*", sentence):
                words = clause.strip(" .!?\"'“”").split()
                if self.language in UNSPACED and 2 < len(clause) <= 14:
                    found.append(clause)
                elif 1 <= len(words) <= 7 and len(clause) > 3:
                    found.append(" ".join(words))
        return found or self.sentences

    @cached_property
    def words(self) -> list[str]:
        if self.language in UNSPACED:
            return [one for one in self.phrases if len(one) <= 6] or self.phrases
        found = [w.strip("().,;:!?\"'“”«»") for s in self.sentences for w in s.split()]
        return [word for word in found if 3 < len(word) < 16] or self.phrases

    @property
    def _blocks(self) -> Iterator[Block]:
        for text in self.texts:
            yield from text


@dataclass
class Sheet:
    """A public table, as its texts."""

    head: list[str]
    rows: list[list[str]]


class Library:
    """The content of one folder; texts are parsed when a language is first asked for."""

    def __init__(self, content: Path) -> None:
        self._paths: dict[str, list[Path]] = {}
        self._sheets: list[Path] = []
        self._voices: dict[str, Voice] = {}
        for path in sorted(content.rglob("*")):
            if path.suffix == ".csv":
                self._sheets.append(path)
            elif path.suffix in {".md", ".Rmd", ".asc", ".txt", ".rst"} and path.is_file():
                text = path.read_text("utf-8", "replace")
                self._paths.setdefault(language_of(path.relative_to(content), text), []).append(
                    path
                )
        if not self._paths or not self._sheets:
            raise SystemExit(f"{content} holds no texts and tables: make it with `gather`.")

    @property
    def languages(self) -> list[str]:
        return sorted(name for name, paths in self._paths.items() if len(paths) >= 4)

    def voice(self, language: str) -> Voice:
        if language not in self._voices:
            paths = list(self._paths[language])
            random.Random(language).shuffle(paths)
            texts = [blocks_of(path) for path in paths[:90]]
            self._voices[language] = Voice(language, [text for text in texts if len(text) > 3])
        return self._voices[language]

    def sheet(self, rng: random.Random) -> Sheet:
        """Return some columns and rows of a public table."""
        while True:
            sheet = _sheet(rng.choice(self._sheets), rng)
            if sheet:
                return sheet


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text("utf-8", "replace")
    if path.suffix in {".md", ".Rmd"}:
        return markdown_blocks(text)
    return prose_blocks(text, path.suffix)


def _sheet(path: Path, rng: random.Random) -> Sheet | None:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        rows = [row for row, _ in zip(csv.reader(_whole(file)), range(600), strict=False)]
    if len(rows) < 5:
        return None
    head = [tidy(name) for name in rows[0]]
    usable = [
        j
        for j in range(len(head))
        if head[j] not in {"", "rownames"}
        and all(len(row) > j and len(row[j]) < 90 for row in rows[1:40])
        and len({row[j] for row in rows[1:40]}) > 1
    ]
    if len(usable) < 2:
        return None
    width = min(rng.choice((2, 3, 4, 4, 5, 5, 6, 7, 8)), len(usable))
    first = rng.randrange(len(usable) - width + 1)
    chosen = usable[first : first + width]
    if rng.random() < 0.5 and usable[0] not in chosen:
        chosen = [usable[0], *chosen[1:]]
    height = min(rng.choice((3, 4, 5, 6, 8, 10, 12, 15, 20, 28, 40, 60)), len(rows) - 1)
    begin = rng.randrange(1, len(rows) - height + 1)
    cut = [[_rounded(row[j]) if j < len(row) else "" for j in chosen] for row in rows[begin:]]
    names = [head[j].replace("_", " ").replace(".", " ") for j in chosen]
    if rng.random() < 0.6:
        names = [name[:1].upper() + name[1:] for name in names]
    return Sheet([name[:40] for name in names], cut[:height])


def _whole(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line.replace("\0", "")


def _rounded(text: str) -> str:
    text = tidy(text)
    if text in {"NA", "nan", "NaN"}:
        return ""
    if re.fullmatch(r"-?\d+\.\d{4,}", text):
        return f"{float(text):.{2 if abs(float(text)) >= 1 else 3}f}"
    return text
