"""A word is found in the picture of its block, however it stands there."""

from pathlib import Path

import pypdfium2
import pytest
from PIL import Image
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from carrel.pages.words import MOST_WORDS, BlockWords, find_words

TEXT = """The notice period is three months to the end of a quarter, and a notice is
given in writing. Rent is due on the first working day of each month; it is
paid in advance. If it is not paid within a week, I may terminate at once.
Keys are handed over."""
WORDS = TEXT.split()
SCALE, SIZE, LEADING = 4, 10, 14
WIDTH, HEIGHT = 420, 70


def draw(
    path: Path, lines: list[str], *, bullets: bool = False, rules: bool = False
) -> Image.Image:
    """Lines of text as a picture, four pixels a point."""
    canvas = Canvas(str(path), pagesize=(WIDTH, HEIGHT))
    canvas.setFont("Times-Roman", SIZE)
    for at, line in enumerate(lines):
        canvas.drawString(20, HEIGHT - 14 - LEADING * at, line)
        if bullets:
            canvas.circle(11, HEIGHT - 11 - LEADING * at, 1.5, fill=1)
        if rules:
            canvas.line(2, HEIGHT - 3 - LEADING * at, WIDTH - 2, HEIGHT - 3 - LEADING * at)
    if rules:
        canvas.line(8, 2, 8, HEIGHT - 2)
    canvas.save()
    picture: Image.Image = pypdfium2.PdfDocument(path)[0].render(scale=SCALE).to_pil()
    return picture.convert("RGB")


def places(lines: list[str]) -> list[tuple[int, float, float]]:
    """Where each word stands: its line, and its sides in pixels."""
    found = []
    for number, line in enumerate(lines):
        begin = 0
        for word in line.split():
            begin = line.index(word, begin)
            sides = (
                stringWidth(line[:end], "Times-Roman", SIZE) for end in (begin, begin + len(word))
            )
            found.append((number, *(SCALE * (20 + side) for side in sides)))
            begin += len(word)
    return found


def wrong(found: BlockWords | None, lines: list[str], margin: float = SCALE * 2) -> list[str]:
    """The words that were not found where they stand."""
    assert found is not None
    words = " ".join(lines).split()
    return [
        word
        for word, piece, (line, left, right) in zip(words, found.pieces, places(lines), strict=True)
        if piece is None
        or piece.line != line
        or abs(piece.left - left) > margin
        or abs(piece.right - right) > margin
    ]


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_every_word_is_found_on_a_turned_page(tmp_path: Path, angle: int) -> None:
    lines = TEXT.split("\n")
    picture = draw(tmp_path / "a.pdf", lines).rotate(angle, expand=True)
    assert wrong(find_words(picture, WORDS), lines) == []


def test_a_short_line_is_turned_over_only_if_it_is_much_better_so(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(WIDTH, 24))
    canvas.setFont("Courier", SIZE)
    canvas.drawString(20, 8, "aaaa bbbbb")
    canvas.save()
    block = pypdfium2.PdfDocument(tmp_path / "a.pdf")[0].render(scale=SCALE).to_pil()
    found = find_words(block.convert("RGB"), ["aaaaaaa", "AAAAbb"])
    assert found is not None
    first, second = found.pieces
    assert first is not None and second is not None
    assert first.right - first.left < second.right - second.left, "upside down bbbbb is first"


@pytest.mark.parametrize("skew", [-3.0, 1.5, 4.0])
def test_a_skewed_scan_is_straightened(tmp_path: Path, skew: float) -> None:
    lines = TEXT.split("\n")
    picture = draw(tmp_path / "a.pdf", lines).rotate(skew, expand=True, fillcolor="white")
    found = find_words(picture, WORDS)
    assert found is not None
    assert len(found.lines) == 4
    assert [piece and piece.line for piece in found.pieces] == [line for line, *_ in places(lines)]


@pytest.mark.parametrize("signs", [{"bullets": True}, {"rules": True}])
def test_signs_and_rules_are_no_words(tmp_path: Path, signs: dict[str, bool]) -> None:
    lines = TEXT.split("\n")
    assert wrong(find_words(draw(tmp_path / "a.pdf", lines, **signs), WORDS), lines) == []


def test_words_that_ocr_split_or_joined_move_no_other(tmp_path: Path) -> None:
    lines = TEXT.split("\n")
    read = [*WORDS]
    at = read.index("terminate")
    read[at : at + 1] = ["termi", "nate"]
    first = read.index("three")
    read[first : first + 2] = ["threemonths"]
    found = find_words(draw(tmp_path / "a.pdf", lines), read)
    assert found is not None
    true = dict(zip(WORDS, places(lines), strict=True))
    for word in ("period", "quarter,", "writing.", "advance.", "once.", "over."):
        piece = found.pieces[read.index(word)]
        assert piece is not None
        assert piece.line == true[word][0]
        assert piece.left == pytest.approx(true[word][1], abs=12)


def test_light_print_on_dark_paper_is_print(tmp_path: Path) -> None:
    lines = TEXT.split("\n")
    dark = draw(tmp_path / "a.pdf", lines).point(lambda value: 230 - value * 0.8)
    assert wrong(find_words(dark, WORDS), lines) == []


def test_a_word_is_cut_out_with_a_little_room(tmp_path: Path) -> None:
    lines = TEXT.split("\n")
    found = find_words(draw(tmp_path / "a.pdf", lines), WORDS)
    assert found is not None
    (_, left, right), at = places(lines)[WORDS.index("terminate")], WORDS.index("terminate")
    cut = found.crop(at)
    assert cut is not None
    assert right - left < cut.width < 2 * (right - left)
    assert cut.height < SCALE * LEADING * 1.5


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    blank = Image.new("RGB", (300, 100), "white")
    assert find_words(blank, ["word"]) is None
    other = draw(tmp_path / "b.pdf", ["A", "b", "c", "d"])
    assert find_words(other, ["quarterly", "statements", "of", "accountants"]) is None
    full = draw(tmp_path / "a.pdf", TEXT.split("\n"))
    assert find_words(full, ["word"] * (MOST_WORDS + 1)) is None


def test_an_underlined_heading_is_not_turned(tmp_path: Path) -> None:
    words = ["Linzensoep", "a", "la", "Waterman"]
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(200, 24))
    canvas.setFont("Courier", SIZE)
    canvas.drawString(10, 10, " ".join(words))
    canvas.setLineWidth(0.8)
    for left, right in ((10, 70), (72, 90), (92, 154)):
        canvas.line(left, 6, right, 6.7)
    canvas.save()
    picture = pypdfium2.PdfDocument(tmp_path / "a.pdf")[0].render(scale=SCALE).to_pil()
    found = find_words(picture.convert("RGB"), words)
    assert found is not None
    (top, bottom), *_ = found.lines
    line = found.picture.convert("L").crop((0, top, found.picture.width, bottom))
    ink = [
        sum(255 - value for value in line.crop((0, y, line.width, y + 1)).tobytes())
        for y in range(line.height)
    ]
    assert ink.index(max(ink)) > line.height / 2, "the line is below the words"
