"""Search: words and vectors, marks, places, and the fusion of rankings."""

from pathlib import Path

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.server.library import snippets
from carrel.server.library.fulltext.spelling import distance
from carrel.server.library.fulltext.words import MAX_TERMS, fold, segment, terms
from carrel.server.library.search import fuse
from support.documents import digital_pdf
from support.libraries import LibraryUnderTest, matched, new_library

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
    assert sorted(hit["page"] for hit in hits if "locker" in matched(hit)) == [0, 1, 2]
    assert all(0 < hit["score"] <= 1 for hit in hits)


def test_a_hit_says_where_on_the_page_it_is(library: LibraryUnderTest, tmp_path: Path) -> None:
    library.processed("rules.pdf", digital_pdf(tmp_path / "r.pdf", 1).read_bytes())
    heading, item = library.search("rules")[0]["box"], library.search("whisper")[0]["box"]
    assert (heading["page_width"], heading["page_height"]) == (1654, 2339)
    assert 0 < heading["top_left_y"] < heading["bottom_right_y"] < item["top_left_y"]
    assert item["bottom_right_y"] < 2339 / 3
    library.processed("bees.md", BEES)
    assert library.search("nectar")[0]["box"] is None


def test_finds_without_accents_and_in_any_case(library: LibraryUnderTest) -> None:
    library.processed("cafe.md", CAFE)
    for query in ("cafe", "CAFÉ", "Café"):
        assert "café" in matched(library.search(query)[0])


def test_finds_in_a_script_without_spaces(library: LibraryUnderTest) -> None:
    text = "图书馆每天九点开门，Carrel提供阅读座位。"
    id = library.processed("zh.md", text.encode())
    library.processed("bees.md", BEES)
    for query in ("图书馆", "阅读", "座", "carrel"):
        best = library.search(query)[0]
        assert best["document_id"] == id
        assert query in matched(best)


def test_finds_misspelt_and_part_words(library: LibraryUnderTest) -> None:
    id = library.processed("terms.md", INVOICE)
    library.processed("bees.md", BEES)
    for query in ("invioce", "reciept", "settld", "voice"):
        best = library.search(query)[0]
        assert best["document_id"] == id
        assert matched(best)


def test_a_search_in_some_documents(library: LibraryUnderTest) -> None:
    first = library.processed("1.md", INVOICE)
    second = library.processed("2.md", INVOICE + b"Again.")
    path = f"{library.path}/documents/{second}"
    library.http.patch(path, json={"attributes": {"year": 2026}})

    def found(**query: str) -> set[str]:
        answer = library.http.get(f"{library.path}/search", params={"query": "invoice", **query})
        return {hit["document_id"] for hit in answer.json()["data"]}

    assert found() == {first, second}
    assert found(document_ids=first) == {first}
    assert found(filters_attributes='{"year": 2026}') == {second}
    assert found(document_ids=first, filters_attributes='{"year": 2026}') == set()
    wrong = {"query": "invoice", "filters_attributes": "year"}
    assert library.http.get(f"{library.path}/search", params=wrong).status_code == 422


def test_finds_by_meaning_what_shares_no_word(library: LibraryUnderTest) -> None:
    id = library.processed("terms.md", INVOICE)
    library.processed("bees.md", BEES)
    best = library.search("payment due date")[0]
    assert best["document_id"] == id
    assert best["matches"] == []


def test_one_sentence_among_many_is_found_by_its_meaning(library: LibraryUnderTest) -> None:
    about = b"The choir sings in the old chapel. Its singers meet on Tuesdays. Songs are in Latin."
    sentence = INVOICE.splitlines()[-1]
    id = library.processed("choir.md", b" ".join([about, sentence, about]))
    library.processed("money.md", b"Banks keep coins. A purse is made of leather. Gold is heavy.")
    assert library.search("payment due date")[0]["document_id"] == id


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
@given(
    st.dictionaries(st.integers(0, 9), st.floats(0, 1)),
    st.dictionaries(st.integers(0, 9), st.floats(-1, 1)),
)
def test_fusion_keeps_everything_and_respects_agreement(
    words: dict[int, float], meaning: dict[int, float]
) -> None:
    scores = fuse(words, meaning)
    assert scores.keys() == words.keys() | meaning.keys()
    assert all(0 <= score <= 1 for score in scores.values())
    for better in words.keys() & meaning.keys():
        for worse in words.keys() & meaning.keys():
            if words[better] > words[worse] and meaning[better] >= meaning[worse]:
                assert scores[better] >= scores[worse]


@settings(deadline=None)
@given(st.text(max_size=200))
def test_a_term_has_letters_and_digits_alone(query: str) -> None:
    found = terms(query)
    assert len(found) <= MAX_TERMS
    for term in found:
        for part in (term.word,) if term.word else term.pairs:
            # No index reads such a word as one of its operators.
            assert part.replace("_", "a").isalnum()


def test_words_without_content_count_only_alone() -> None:
    assert [term.text for term in terms("What is the invoice?")] == ["invoice"]
    assert [term.text for term in terms("to be or not to be")] == ["to", "be", "or", "not"]


def test_folding_and_segments() -> None:
    assert fold("Caf\u00e9 \u00c5NGSTR\u00d6M") == "cafe angstrom"
    assert fold("\ud55c\uad6d") == "\ud55c\uad6d"
    assert segment("plain words") is None
    assert segment("\u56fe\u4e66\u9986 open") == "\u56fe\u4e66 \u4e66\u9986 open"


@settings(deadline=None)
@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_distance_is_one(one: str, other: str) -> None:
    count = distance(one, other)
    assert count == distance(other, one)
    assert (count == 0) == (one == other)
    assert abs(len(one) - len(other)) <= count <= max(len(one), len(other))


def test_two_neighbours_swapped_are_one_mistake() -> None:
    assert distance("recieve", "receive") == 1


_SPANS = st.lists(st.tuples(st.integers(0, 900), st.integers(1, 20)), max_size=20)


@settings(deadline=None)
@given(st.text("ab \n", max_size=1000), _SPANS)
def test_a_snippet_is_a_part_of_the_text_with_its_matches(
    text: str, given_spans: list[tuple[int, int]]
) -> None:
    spans: list[tuple[int, int]] = []
    for start, length in sorted(given_spans):
        if start + length <= len(text) and (not spans or start > spans[-1][1]):
            spans.append((start, start + length))
    snippet, matches, (start, end) = snippets.snippet(text, spans)
    assert text[start:end] == snippet.removeprefix("\u2026").removesuffix("\u2026")
    assert end - start <= snippets.LENGTH
    shown = [snippet[match.start : match.end] for match in matches]
    inside = [span for span in spans if start <= span[0] and span[1] <= end]
    assert shown == [text[slice(*span)] for span in inside]
    assert bool(matches) == bool(spans)
