"""Blocks whose reading order is doubtful."""

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from carrel.client import Client
from carrel.store.documents.boxes import boxes
from carrel.store.documents.formatting import score_words
from carrel.store.documents.order import has_doubtful_cells, is_order_doubtful
from carrel.wire.generation.content import FileChunk
from carrel.wire.ocr import Block, BlockScores, OCRRequest, Page
from support.process import RunningServer

LABELS = "Total EU-12 Total EU-15"


def block(content: str, width: int, height: int, kind: str = "text") -> Block:
    edges = {"top_left_x": 100, "top_left_y": 40}
    edges |= {"bottom_right_x": 100 + width, "bottom_right_y": 40 + height}
    return Block.model_validate({"type": kind, "content": content, **edges})


@pytest.mark.parametrize(
    ("content", "width", "height", "doubtful"),
    [
        (LABELS, 230, 20, False),
        (LABELS, 560, 20, True),
        # Lines of a paragraph are joined: the longest line is the whole of it.
        (f"{LABELS} " * 8, 560, 80, False),
        ("3 litres of water\n2 onions\nbutter", 180, 60, False),
        ("400 400\n350 350", 640, 40, True),
        ("会计年度结束后提交报告", 220, 20, False),
        ("报告        提交        年度", 700, 20, True),
        ("19", 60, 16, False),
    ],
)
def test_words_that_stand_apart_have_a_doubtful_order(
    content: str, width: int, height: int, doubtful: bool
) -> None:
    assert is_order_doubtful(block(content, width, height)) is doubtful


@pytest.mark.parametrize(("order", "structure"), [(0.6, None), (0.98, 0.3)])
def test_the_scores_of_the_service_say_what_is_doubtful(
    order: float, structure: float | None
) -> None:
    scores = BlockScores(order_confidence_score=order, structure_confidence_score=structure)
    table = block(LABELS, 560, 20, "table").model_copy(update={"confidence_scores": scores})
    assert is_order_doubtful(table) is (order < 0.7)
    assert has_doubtful_cells(table) is (structure is not None)


@pytest.mark.parametrize("kind", ["title", "table", "image", "aside_text"])
def test_only_flowing_text_has_an_order_to_doubt(kind: str) -> None:
    assert not is_order_doubtful(block(LABELS, 560, 20, kind))


def test_a_block_without_a_place_is_not_doubted() -> None:
    edges = dict.fromkeys(("top_left_x", "top_left_y", "bottom_right_x", "bottom_right_y"))
    assert not is_order_doubtful(Block.model_validate({"type": "text", "content": LABELS, **edges}))


async def test_a_page_says_that_its_order_is_doubtful(
    server: RunningServer, tmp_path: Path
) -> None:
    path = tmp_path / "labels.pdf"
    canvas = Canvas(str(path))
    canvas.drawString(72, 720, "Enquiries by country of residence, shares of the whole year in per")
    canvas.drawString(72, 706, "cent, as counted by the contact centre on the first of January.")
    canvas.drawString(110, 500, "Total EU-12")
    canvas.drawString(390, 500, "Total EU-15")
    canvas.save()
    async with Client(server.url, server.api_key) as client:
        file = await client.files.upload(path, purpose="ocr")
        request = OCRRequest(
            model=None,
            document=FileChunk(file_id=file.id),
            include_blocks=True,
            confidence_scores_granularity="page",
        )
        (page,) = (await client.ocr.process(request)).pages
    # Labels far apart are blocks of their own, whose order is no doubt; as one block it is.
    assert page.blocks is not None
    assert [block.content for block in page.blocks][1:] == ["Total EU-12", "Total EU-15"]
    assert "Check: order" not in score_words(page)
    joined = page.model_copy(update={"blocks": [page.blocks[0], block(LABELS, 560, 20)]})
    assert isinstance(joined, Page) and score_words(joined).startswith("Check: order · ")
    assert [box.doubtful for box in boxes(joined)] == [False, True]
