"""A page as a service answers it: blocks with boxes, a table, a picture, a doubtful word."""

from carrel.wire.ocr import Block, Dimensions, Page, PageImage, PageScores, WordScore

TABLE = "| Year | Rent |\n|------|------|\n| 2024 | 1,200.00 |\n| 2025 | 1,240.00 |"
CLAUSE = "The notice period is three months. Notice is given in writlng."


def lease_page(index: int = 0) -> Page:
    """A page of 1000 by 1000 pixels at 100 dpi: a title, a clause, a table and a picture.

    The clause has the one doubtful word.
    """
    parts = [("title", "# Term"), ("text", CLAUSE), ("table", TABLE)]
    parts.append(("image", "![img-0.jpeg](img-0.jpeg)"))
    markdown = "\n\n".join(content for _, content in parts)
    words = [
        WordScore(text="notice", confidence=0.99, start_index=markdown.index("notice")),
        WordScore(text="period", confidence=1.0, start_index=markdown.index("period")),
        WordScore(text=" writlng", confidence=0.61, start_index=markdown.index(" writlng")),
    ]
    blocks = [
        Block(
            type=kind,
            content=content,
            image_id="img-0.jpeg" if kind == "image" else None,
            top_left_x=50,
            top_left_y=20 + 80 * place,
            bottom_right_x=900,
            bottom_right_y=80 + 80 * place,
        )
        for place, (kind, content) in enumerate(parts)
    ]
    return Page(
        index=index,
        markdown=markdown,
        images=[
            PageImage(
                id="img-0.jpeg",
                top_left_x=50, top_left_y=260, bottom_right_x=900, bottom_right_y=320,
            )
        ],
        dimensions=Dimensions(dpi=100, height=1000, width=1000),
        confidence_scores=PageScores(
            average_page_confidence_score=0.98,
            minimum_page_confidence_score=0.61,
            word_confidence_scores=words,
        ),
        blocks=blocks,
    )  # fmt: skip
