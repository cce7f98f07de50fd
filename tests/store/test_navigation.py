from carrel.store.navigation import KEPT, Spot, TrailService

FILES, CHAT, HITS = Spot("files"), Spot("chat"), Spot("libraries", "contracts")
FIRST, LAST = Spot("document", "lease", 0), Spot("document", "lease", 11)


def test_one_goes_back_and_forward_as_in_a_browser() -> None:
    trail = TrailService()
    trail.leave(FILES)
    trail.leave(HITS)
    trail.leave(FIRST)
    assert trail.go_back(LAST) == FIRST
    assert trail.go_back(FIRST) == HITS
    assert trail.forward(HITS) == FIRST
    assert trail.forward(FIRST) == LAST
    assert trail.forward(LAST) is None
    assert [trail.go_back(LAST), trail.go_back(FIRST), trail.go_back(HITS)] == [FIRST, HITS, FILES]
    assert trail.go_back(FILES) is None


def test_another_way_forgets_what_was_ahead() -> None:
    trail = TrailService()
    trail.leave(FILES)
    assert trail.go_back(HITS) == FILES
    trail.leave(FILES)
    assert trail.forward(CHAT) is None


def test_one_step_leaves_a_place_with_all_its_pages() -> None:
    trail = TrailService()
    trail.leave(HITS)
    trail.leave(FIRST)
    assert trail.go_back(LAST, "libraries") == HITS
    assert trail.forward(HITS) == FIRST
    assert trail.forward(FIRST) == LAST
    assert trail.go_back(LAST, "chat") is None


def test_a_spot_counts_once_and_the_oldest_are_forgotten() -> None:
    trail = TrailService()
    for _ in range(2):
        trail.leave(FILES)
    assert trail.slice.value.back == (FILES,)
    for page in range(2 * KEPT):
        trail.leave(Spot("document", "lease", page))
    assert len(trail.slice.value.back) == KEPT
