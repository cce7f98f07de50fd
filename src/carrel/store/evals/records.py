"""Runs stored on this machine: a JSONL file each, with a header line and a line per attempt.

A line is written at its attempt's end, so that a killed run resumes where it was and counts nothing
twice.
"""

import os
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedWriter
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from carrel.config.profiles import Price
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.evals.cases import CaseSet
from carrel.store.evals.statistics import Tally
from carrel.system.locking import Locked, lock_file

FORMAT = 1

TAKEN = Problem("This run is under way", "Another program continues it.", "Wait for its end.")


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True)


class Checked(_Kept):
    """One check of an answer: its condition in words, and the reason for its result."""

    check: str
    passed: bool
    reason: str


class Attempt(_Kept):
    """One answer to a case. `repeat` counts from 0; `error` is the reason for a missing answer.

    `seconds` last from the question to the end of the answer; `judging` counts the judges' tokens.
    """

    case: str
    repeat: int
    answer: str = ""
    error: str = ""
    checks: list[Checked] = Field(default_factory=list)
    sources: list[str] = Field(default_factory=list)
    seed: int | None = None
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    judging: int = 0

    @property
    def passed(self) -> bool:
        """Whether there is an answer that passes every check."""
        return not self.error and all(check.passed for check in self.checks)

    @property
    def reason(self) -> str:
        """The reason for a failure, or an empty string."""
        if self.error:
            return self.error
        return next((f"{one.check}: {one.reason}" for one in self.checks if not one.passed), "")


class Header(_Kept):
    """The questions and the target of a run. `begun` is in seconds since 1970, `service` an
    address, `price` the model's price at the run's begin, if set."""

    format: int = FORMAT
    id: str
    begun: float
    service: str
    agent_id: str
    agent: str
    version: int
    model: str
    repeats: int
    seed: int | None
    hash: str
    price: Price | None = None
    cases: CaseSet


class _Trial(_Kept):
    trial: str


class Run(_Kept):
    """A run so far."""

    header: Header
    attempts: list[Attempt]

    @property
    def id(self) -> str:
        return self.header.id

    @property
    def total(self) -> int:
        """The number of attempts of the whole run."""
        return len(self.header.cases.cases) * self.header.repeats

    @property
    def finished(self) -> bool:
        """Whether all attempts have ended."""
        return len(self.attempts) >= self.total

    @property
    def cost(self) -> float | None:
        """The cost of the answers by the run's price, or None without a price."""
        price = self.header.price
        if price is None:
            return None
        read = sum(attempt.prompt_tokens for attempt in self.attempts) * price.input
        written = sum(attempt.completion_tokens for attempt in self.attempts) * price.output
        return (read + written) / 1_000_000

    def of(self, case: str) -> list[Attempt]:
        """Return the attempts at a case by repeat."""
        found = [attempt for attempt in self.attempts if attempt.case == case]
        return sorted(found, key=lambda one: one.repeat)

    def tallies(self) -> dict[str, Tally]:
        """Return each case's count of passes, in the order of the set."""
        found = {case.id: Tally(0, 0) for case in self.header.cases.cases}
        for attempt in self.attempts:
            found[attempt.case] += Tally(int(attempt.passed), 1)
        return found


class Journal:
    """A run being written; its file is locked meanwhile."""

    def __init__(self, path: Path, run: Run, file: BufferedWriter) -> None:
        self.path = path
        self.run = run
        self._file = file
        self._done = {(attempt.case, attempt.repeat) for attempt in run.attempts}

    def has(self, case: str, repeat: int) -> bool:
        """Return whether an attempt has ended already."""
        return (case, repeat) in self._done

    def add(self, attempt: Attempt) -> None:
        """Store an attempt; an existing one stays unchanged.

        Raises:
            ProblemError: the file cannot be written, for example on a full disk.
        """
        if self.has(attempt.case, attempt.repeat):
            return
        _append(self._file, self.path, attempt.model_dump_json())
        self._done.add((attempt.case, attempt.repeat))
        self.run.attempts.append(attempt)

    def note_trial(self, agent_id: str) -> None:
        """Store the id of the run's trial agent for a clean-up after a kill; empty once it is
        removed."""
        _append(self._file, self.path, _Trial(trial=agent_id).model_dump_json())


class Records:
    """The runs in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> tuple[Run, ...]:
        """Return the runs, newest first. Other files are skipped."""
        found = []
        for path in self._folder.glob("*.jsonl"):
            try:
                found.append(_read(path))
            except (OSError, ValueError):
                continue
        return tuple(sorted(found, key=lambda run: (run.header.begun, run.id), reverse=True))

    def get(self, wanted: str) -> Run:
        """Return a run by its id, the beginning of its id, or its file.

        Raises:
            ProblemError: there is no such run, or more than one.
        """
        path = Path(wanted)
        if path.suffix == ".jsonl" and path.is_file():
            try:
                return _read(path)
            except ValueError as error:
                raise ProblemError("This file is not a run", wanted) from error
        names = sorted(one.stem for one in self._folder.glob("*.jsonl"))
        found = [wanted] if wanted in names else [name for name in names if name.startswith(wanted)]
        if len(found) != 1:
            start = "More than one run begins with" if found else "There is no run"
            title = f"{start} “{wanted}”"
            raise ProblemError(title, ", ".join(found[:5]), "See: carrel agents runs")
        try:
            return _read(self._folder / f"{found[0]}.jsonl")
        except ValueError as error:
            raise ProblemError("This run cannot be read", f"{found[0]}: {error}") from error

    def path(self, run_id: str) -> Path:
        """Return the path of a run's file."""
        return self._folder / f"{run_id}.jsonl"

    def unfinished(self, like: Header) -> Run | None:
        """Return the newest unfinished run of the same questions to the same version, or None."""
        wanted = _question_key(like)
        return next(
            (run for run in self.all() if not run.finished and _question_key(run.header) == wanted),
            None,
        )

    @contextmanager
    def begin(self, header: Header) -> Iterator[Journal]:
        """Yield a new run.

        Raises:
            ProblemError: the file cannot be written.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(self._folder, error) from error
        path = self.path(header.id)
        with _lock(path) as file:
            _append(file, path, header.model_dump_json())
            yield Journal(path, Run(header=header, attempts=[]), file)

    @contextmanager
    def resume(self, run: Run) -> Iterator[Journal]:
        """Yield a run to resume.

        Raises:
            ProblemError: another program has resumed it, or the file cannot be written.
        """
        path = self.path(run.id)
        with _lock(path) as file:
            # Read again under the lock; a truncated line is left by a kill.
            file.truncate(path.read_bytes().rfind(b"\n") + 1)
            yield Journal(path, _read(path), file)

    @contextmanager
    def left_behind(self, service: str) -> Iterator[list[str]]:
        """Yield the ids of agents that killed runs left on a service.

        After the block they are forgotten.
        """
        with ExitStack() as stack:
            left = []
            for run in self.all():
                trial = _trial_of(self.path(run.id))
                if run.header.service != service or not trial:
                    continue
                with suppress(ProblemError):
                    file = stack.enter_context(_lock(self.path(run.id)))
                    left.append((Journal(self.path(run.id), run, file), trial))
            yield [trial for _, trial in left]
            for journal, _ in left:
                journal.note_trial("")


@contextmanager
def _lock(path: Path) -> Iterator[BufferedWriter]:
    try:
        file = lock_file(path)
    except Locked:
        raise ProblemError(TAKEN) from None
    except OSError as error:
        raise _unwritable(path, error) from error
    with file:
        yield file


def _trial_of(path: Path) -> str:
    """Return a run's trial agent that was not removed, or an empty string."""
    found = ""
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        if line.startswith('{"trial":'):
            with suppress(ValidationError):
                found = _Trial.model_validate_json(line).trial
    return found


def new_id() -> str:
    """Return a new id such as `20261123-0610-3f2a`; ids sort by time."""
    return f"{time.strftime('%Y%m%d-%H%M', time.gmtime())}-{uuid.uuid4().hex[:4]}"


def _question_key(header: Header) -> tuple[object, ...]:
    return (
        *(header.service, header.agent_id, header.version),
        *(header.hash, header.repeats, header.seed),
    )


def _append(file: BufferedWriter, path: Path, line: str) -> None:
    # Unbuffered: a line that a full disk refused must not be written later.
    data = memoryview(f"{line}\n".encode())
    try:
        while data:
            data = data[file.raw.write(data) or 0 :]
        os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> ProblemError:
    detail = f"{path}: {error.strerror}."
    advice = "Make room, then resume the run: finished answers are kept."
    return ProblemError("The run cannot be kept", detail, advice)


def find_earlier(run: Run, runs: Iterable[Run]) -> Run | None:
    """Return the first of `runs`, newest first, that finished before a run of the same agent and
    set began, or None."""
    mine = run.header
    for other in runs:
        theirs = other.header
        alike = (theirs.agent_id, theirs.cases.name) == (mine.agent_id, mine.cases.name)
        if alike and other.finished and theirs.begun < mine.begun:
            return other
    return None


_ATTEMPT = TypeAdapter(Attempt)


def _read(path: Path) -> Run:
    """Read a run's file.

    Raises:
        ValueError: the file is not a run.
    """
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    header = Header.model_validate_json(lines[0])
    if header.format != FORMAT:
        raise ValueError("it was written by another version of Carrel")
    return Run(header=header, attempts=list(_attempts(lines[1:-1])))


def _attempts(lines: Iterable[str]) -> Iterator[Attempt]:
    seen = set()
    for line in lines:
        try:
            one = _ATTEMPT.validate_json(line)
        except ValidationError:
            continue
        if (one.case, one.repeat) not in seen:
            seen.add((one.case, one.repeat))
            yield one
