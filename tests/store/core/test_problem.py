import errno
from pathlib import Path

import pytest

from carrel.client.http.errors import Invalid, NotFound, ServiceError, Unauthorized, Unreachable
from carrel.config.profiles import ConfigError
from carrel.local import LocalError
from carrel.pages.errors import NoPicture
from carrel.store.core.crash import KEPT, write_report
from carrel.store.core.problem import Problem, ProblemError


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (Unreachable("127.0.0.1:1 did not answer."), "The connection failed"),
        (Unauthorized("Unauthorized", 401), "The key was refused"),
        (NotFound("No such file", 404), "Not there any more"),
        (Invalid("name: too long", 422), "The service did not accept this"),
        (ServiceError("Broken", 500), "The service answered with an error"),
        (ServiceError("It is no PDF", 400, "3740"), "This file can't be read"),
        (LocalError("See the log."), "The server on this machine did not start"),
        (ConfigError("profiles: no url"), "The settings cannot be used"),
        (NoPicture("This PDF is damaged."), "No picture of this page"),
    ],
)
def test_known_errors_keep_their_words_and_write_no_report(
    error: Exception, title: str, home: Path
) -> None:
    problem = Problem.of(error)
    assert problem.title == title
    assert problem.detail == str(error)
    assert not list(home.rglob("*.txt"))


def test_errors_of_the_system_name_the_file() -> None:
    missing = Problem.of(FileNotFoundError(errno.ENOENT, "No such file", "/tmp/a [/b].pdf"))
    assert (missing.title, missing.detail) == ("No such file", "/tmp/a [/b].pdf")
    full = Problem.of(OSError(errno.ENOSPC, "No space left on device", "/tmp/x"))
    assert full.detail == "/tmp/x: No space left on device"


def test_a_problem_in_words_stays_as_it_is() -> None:
    problem = Problem("Read-only profile", "Changes are off.")
    assert Problem.of(ProblemError(problem)) is problem
    assert str(problem) == "Read-only profile. Changes are off."


def _raise_with(secret: str) -> Exception:
    try:
        raise RuntimeError(f"GET http://host/signed/{secret}?sig={secret} Bearer {secret}")
    except RuntimeError as error:
        return error


def test_a_report_has_the_traceback_and_no_secret(home: Path) -> None:
    path = write_report(_raise_with("s3cr3t"))
    assert path is not None and path.is_relative_to(home)
    text = path.read_text()
    assert "_raise_with" in text and "RuntimeError" in text
    assert "s3cr3t" not in text
    assert path.stat().st_mode & 0o777 == 0o600


def test_old_reports_go(home: Path) -> None:
    for _ in range(KEPT + 3):
        last = write_report(RuntimeError())
    assert last is not None
    assert len(list(last.parent.iterdir())) == KEPT


def test_without_a_folder_to_write_to_the_problem_still_tells(home: Path) -> None:
    (home / "state").write_text("in the way")
    assert write_report(RuntimeError()) is None
    assert Problem.of(RuntimeError()).advice == "No report could be written."
