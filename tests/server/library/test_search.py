"""Search: words and vectors, marks, places, and the fusion of rankings."""

from pathlib import Path

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.server.library.search import fuse, match_expression
from support.documents import digital_pdf
from support.libraries import LibraryUnderTest, new_library

INVOICE = b"# Terms\n\nThe invoice must be settled within thirty days of receipt.\n"
BEES = b"# Bees\n\nWorkers gather nectar and store the honey in combs.\n"
CAFE = "# Caf\u00e9\n\nLe caf\u00e9 ouvre \u00e0 neuf heures.\n".encode()


def test_finds_by_word_with_the_place_and_the_mark(
    library: LibraryUnderTest, tmp_path: Path
) -> None:
    id = library.processed("rules.pdf", digital_pdf(tmp_path / "r.pdf", 3).read_bytes())
    library.processed("bees.md", BEES)
    hits = library.search("lockers")
    assert {hit["document_id"] for hit in hits} == {id}
    assert {hit["document_name"] for hit in hits} == {"rules.pdf"}
    assert sorted(hit["page"] for hit in hits if "«locker»" in hit["snippet"]) == [0, 1, 2]
    assert all(0 < hit["score"] <= 1 for hit in hits)


def test_finds_without_accents_and_in_any_case(library: LibraryUnderTest) -> None:
    library.processed("cafe.md", CAFE)
    for query in ("cafe", "CAFÉ", "Café"):
        assert "«café»" in library.search(query)[0]["snippet"]


def test_finds_by_meaning_what_shares_no_word(library: LibraryUnderTest) -> None:
    id = library.processed("terms.md", INVOICE)
    library.processed("bees.md", BEES)
    best = library.search("payment due date")[0]
    assert best["document_id"] == id
    assert "«" not in best["snippet"]


def test_what_is_not_there_is_not_found(library: LibraryUnderTest) -> None:
    library.processed("terms.md", INVOICE)
    assert library.search("zebra") == []
    assert library.search("?!") == []


def test_no_query_breaks_the_search(library: LibraryUnderTest) -> None:
    library.processed("terms.md", INVOICE)
    for query in ('"', "'; --", "invoice AND", "NEAR(", "a*", "^x", "col:invoice", "(", "\u202e"):
        answer = library.http.get(f"{library.path}/search", params={"query": query})
        assert answer.status_code == 200, query


def test_limit_and_bounds(library: LibraryUnderTest) -> None:
    for number in range(3):
        library.processed(f"{number}.md", INVOICE + str(number).encode())
    assert len(library.search("invoice", limit=2)) == 2
    wrongs: tuple[dict[str, str], ...] = (
        {},
        {"query": "x", "limit": "0"},
        {"query": "x" * 2001},
    )
    for wrong in wrongs:
        answer = library.http.get(f"{library.path}/search", params=wrong)
        assert answer.status_code == 422


def test_other_libraries_are_not_searched(http: httpx.Client, library: LibraryUnderTest) -> None:
    library.processed("terms.md", INVOICE)
    assert new_library(http).search("invoice") == []


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 20), unique=True), min_size=1, max_size=3))
def test_fusion_keeps_everything_and_respects_agreement(rankings: list[list[int]]) -> None:
    scores = fuse(rankings)
    assert scores.keys() == {item for ranking in rankings for item in ranking}
    assert all(0 < score <= 1 + 1e-9 for score in scores.values())
    for better in scores:
        for worse in scores:
            if all(
                better in ranking
                and (worse not in ranking or ranking.index(better) < ranking.index(worse))
                for ranking in rankings
            ):
                assert scores[better] > scores[worse]


@settings(deadline=None)
@given(st.text(max_size=200))
def test_a_match_expression_is_a_list_of_quoted_words(query: str) -> None:
    expression = match_expression(query)
    terms = expression.split(" OR ") if expression else []
    assert len(terms) <= 16
    for term in terms:
        assert term[0] == term[-1] == '"'
        assert term[1:-1].replace("_", "a").isalnum()


def test_words_without_content_count_only_alone() -> None:
    assert match_expression("What is the invoice?") == '"invoice"'
    assert match_expression("to be or not to be") == '"to" OR "be" OR "or" OR "not"'
