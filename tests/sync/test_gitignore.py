"""Patterns of rule files, held against Git itself."""

import re
import shutil
import subprocess
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carrel.sync.gitignore import Pattern

NAMES = st.text("ab.-]!", min_size=1, max_size=4).filter(lambda name: name.strip("."))
PARTS = st.one_of(
    st.just("**"),
    st.lists(
        st.sampled_from(
            [
                *("a", "b", ".", "-", "*", "**", "?", "[ab]", "[!a]", "[^b.]", "[]a]", "[a-b]"),
                *("[[:alpha:]]", "[[:punct:]b]", "\\a", "\\*", "\\[", "!", "#", " "),
                *("[", "[b-a]", "[[:x:]]"),
            ]
        ),
        min_size=1,
        max_size=5,
    ).map("".join),
)
PATTERNS = st.builds(
    lambda before, parts, after: before + "/".join(parts) + after,
    st.sampled_from(["", "", "/", "!"]),
    st.lists(PARTS, min_size=1, max_size=4),
    st.sampled_from(["", "", "/", " ", "\\ ", " a"]),
).filter(lambda line: not re.search(r"\[[^\]]*/", line))
"""In none does a set span a slash, as Git takes `[a/b]` for one."""
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("there is no Git to compare with")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


def git_ignores(repository: Path, line: str, path: str, *, folder: bool) -> bool:
    """Whether Git itself leaves a path out, for a file that only has this line."""
    (repository / ".gitignore").write_text(f"{line}\n")
    if folder:
        # By a slash at its end, check-ignore would take a folder for what is in it.
        (repository / path).mkdir(parents=True)
    command = ["git", "-C", str(repository), "check-ignore", "--no-index", "-q", "--", path]
    ignored = subprocess.run(command, check=False).returncode == 0
    if folder:
        shutil.rmtree(repository / path.split("/")[0])
    return ignored


def ignores(line: str, path: str, *, folder: bool) -> bool:
    pattern = Pattern.parse(line)
    if pattern is None or pattern.includes:
        return False
    names = path.split("/")
    above = ["/".join(names[:count]) for count in range(1, len(names))]
    return pattern.matches(path, folder=folder) or any(
        pattern.matches(each, folder=True) for each in above
    )


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(line=PATTERNS, path=PATHS, folder=st.booleans())
def test_a_pattern_means_what_git_makes_of_it(
    repository: Path, line: str, path: str, folder: bool
) -> None:
    assert ignores(line, path, folder=folder) == git_ignores(repository, line, path, folder=folder)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("*a*a*a*a*a*a*a*a*a*a*b", "a" * 60),
        ("*a" * 100 + "b", "a" * 250),
        ("*[a][a]" * 50 + "b", "a" * 250),
        ("**/a/" * 30 + "b", "a/" * 1000 + "c"),
        ("**/*a*a*a/" * 30 + "b", "aaaaaaa/" * 300 + "c"),
        ("a" + "?" * 250, "a" * 250),
    ],
)
def test_no_pattern_takes_long(line: str, path: str) -> None:
    began = time.process_time()
    pattern = Pattern.parse(line)
    assert pattern is not None
    assert not pattern.matches_above(path)
    assert time.process_time() - began < 1


def test_an_open_set_is_no_pattern_and_warns_of_nothing() -> None:
    with warnings.catch_warnings(action="error"):
        assert Pattern.parse("[[:alpha:]-") is None
        assert Pattern.parse("[[a]--b&&c||d~~e]") is not None
