"""The plan: what it promises for any folder and any history."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from carrel.sync.plan import Known, Plan, document_name, make_plan

PATHS = st.sampled_from(["a", "b", "c", "d/a", "d/b", "e"])
CONTENTS = st.sampled_from(["1", "2", "3", "4", "5"])
FOLDERS = st.dictionaries(PATHS, CONTENTS)
KNOWN = st.dictionaries(CONTENTS, st.builds(Known, st.just(""), PATHS, st.booleans()))


def carried_out(plan: Plan, known: dict[str, Known]) -> dict[str, Known]:
    """The documents after the plan: what a library does when it is asked."""
    after, ids = dict(known), itertools.count(1)
    for rename in plan.renames:
        assert after[rename.hash].name == rename.old
        after[rename.hash] = Known(after[rename.hash].document_id, rename.new)
    for upload in plan.uploads:
        assert upload.hash not in after
        after[upload.hash] = Known(f"new {next(ids)}", upload.path)
    for removal in plan.removals:
        assert removal.successor is None or removal.successor in after
        assert after.pop(removal.hash).own
    return after


REASONS = st.dictionaries(PATHS, st.just("a reason"))


@given(FOLDERS, KNOWN)
def test_the_library_becomes_the_folder(folder: dict[str, str], known: dict[str, Known]) -> None:
    after = carried_out(make_plan(folder, known, delete=True), known)
    assert {hash for hash, one in after.items() if one.own} <= set(folder.values()) <= set(after)
    for hash, one in after.items():
        assert not one.own or folder[one.name] == hash


@given(FOLDERS, KNOWN, st.booleans())
def test_once_is_enough(folder: dict[str, str], known: dict[str, Known], delete: bool) -> None:
    after = carried_out(make_plan(folder, known, delete=delete), known)
    assert not make_plan(folder, after, delete=delete)


@given(FOLDERS, KNOWN)
def test_without_leave_nothing_is_deleted(folder: dict[str, str], known: dict[str, Known]) -> None:
    plan = make_plan(folder, known, delete=False)
    # What goes makes place for what its path holds now.
    assert all(folder[removal.path] == removal.successor for removal in plan.removals)
    own = {hash: one.name for hash, one in known.items() if one.own}
    gone = {name for hash, name in own.items() if hash not in folder.values()}
    assert set(plan.kept) == {name for name in gone if name not in folder}


@given(FOLDERS, st.permutations(["a", "b", "c", "d/a", "d/b", "e"]))
def test_a_rename_is_never_an_upload(folder: dict[str, str], names: list[str]) -> None:
    known = carried_out(make_plan(folder, {}, delete=False), {})
    new_name = dict(zip(["a", "b", "c", "d/a", "d/b", "e"], names, strict=True))
    moved = {new_name[path]: hash for path, hash in folder.items()}
    plan = make_plan(moved, known, delete=True)
    assert not plan.uploads
    assert not plan.removals


@given(FOLDERS, KNOWN)
def test_what_others_brought_stays_as_it_is(
    folder: dict[str, str], known: dict[str, Known]
) -> None:
    plan = make_plan(folder, known, delete=True)
    touched = {each.hash for each in plan.renames} | {each.hash for each in plan.removals}
    assert all(known[hash].own for hash in touched)


@given(FOLDERS, KNOWN, REASONS, REASONS, st.booleans(), st.booleans())
def test_only_what_the_folder_brought_and_nobody_left_out_is_deleted(
    folder: dict[str, str],
    known: dict[str, Known],
    left_out: dict[str, str],
    unknown: dict[str, str],
    delete: bool,
    delete_excluded: bool,
) -> None:
    plan = make_plan(
        folder,
        known,
        delete=delete,
        delete_excluded=delete_excluded,
        left_out=left_out,
        unknown=unknown,
    )
    for deletion in plan.deletions:
        assert known[deletion.hash].own
        assert deletion.path not in unknown
        assert delete_excluded if deletion.path in left_out else delete
        assert (deletion.reason is not None) == (deletion.path in left_out)
    gone = {each.path for each in plan.removals}
    told = {*plan.kept, *dict(plan.left_out)}
    for hash, one in known.items():
        if one.own and hash not in folder.values():
            assert one.name in gone | told


@given(FOLDERS, KNOWN, st.none() | st.integers(0, 6))
def test_more_than_half_or_the_limit_is_excessive(
    folder: dict[str, str], known: dict[str, Known], max_delete: int | None
) -> None:
    plan = make_plan(folder, known, delete=True, max_delete=max_delete)
    brought = sum(one.own for one in known.values())
    most = brought / 2 if max_delete is None else max_delete
    assert plan.excessive == (len(plan.deletions) > most)
    held = plan.hold({each.hash for each in plan.deletions})
    assert not held.deletions
    assert held.held == plan.deletions
    # The rest is done: new content still takes the place of the old.
    assert (held.uploads, held.renames) == (plan.uploads, plan.renames)
    assert [each for each in plan.removals if each.successor] == list(held.removals)


def test_an_update_says_so() -> None:
    plan = make_plan({"a": "2", "b": "3"}, {"1": Known("x", "a")}, delete=False)
    assert [(each.path, each.updates) for each in plan.uploads] == [("a", True), ("b", False)]
    assert [(each.hash, each.successor) for each in plan.removals] == [("1", "2")]
    assert plan.deletions == ()


def test_files_of_the_same_bytes_are_one_document_of_the_first_name() -> None:
    plan = make_plan({"b": "1", "a": "1"}, {}, delete=False)
    assert [upload.path for upload in plan.uploads] == ["a"]
    # While one of them has the name, it keeps it.
    known = {"1": Known("x", "b")}
    assert not make_plan({"b": "1", "a": "1"}, known, delete=True)
    assert [each.new for each in make_plan({"a": "1"}, known, delete=True).renames] == ["a"]


def test_document_names_are_text_fit_to_be_shown() -> None:
    assert document_name("d/Zu\u0308rich\x1b[2J.pdf") == "d/Zürich[2J.pdf"
