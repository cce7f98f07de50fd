"""Deletion of several items, some of which may be gone already."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from carrel.client.http.errors import ClientError, NotFound, Unreachable
from carrel.store.core.formatting import count, counted
from carrel.store.core.problem import Problem, ProblemError

NAMED = 3
"""Number of undeleted items that a problem names."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """Result of a deletion: `done` includes items that were already `gone`; `failed` has names.

    `ids` are the items that this deletion itself removed.
    """

    done: int
    gone: int
    failed: tuple[str, ...]
    reason: Problem | None
    ids: tuple[str, ...]

    def words(self, one: str, many: str) -> str:
        """Return “Deleted 3 files; 1 was gone already.”; `one` and `many` are the nouns."""
        words = f"Deleted {self.counted(self.done, one, many)}"
        if self.gone:
            was = "was" if self.gone == 1 else "were"
            words += f"; {count(self.gone)} {was} gone already"
        return f"{words}."

    @staticmethod
    def counted(number: int, one: str, many: str) -> str:
        """Return “one file”, “3 files”."""
        return f"one {one}" if number == 1 else counted(number, one, many)

    def check(self, one: str, many: str) -> None:
        """Raise a problem if an item was not deleted.

        Raises:
            ProblemError: some are not deleted.
        """
        if self.reason is None:
            return
        number = len(self.failed)
        was = "was" if number == 1 else "were"
        title = f"{counted(number, one, many)} {was} not deleted"
        names = ", ".join(self.failed[:NAMED])
        if number > NAMED:
            names += f" and {count(number - NAMED)} more"
        why = f"{names}: {self.reason.title}. {self.reason.detail}"
        raise ProblemError(Problem(title, why, "Try again.", lost=self.reason.lost))


async def delete_each(
    names: Mapping[str, str],
    delete: Callable[[str], Awaitable[object]],
    forget: Callable[[str], object],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Deleted:
    """Delete items one after the other; `names` maps their ids to names.

    A missing item counts as deleted. A failure does not stop the others, unless the service is
    lost. `forget` is called with each deleted id, `progress` with the number of tried items and the
    total.
    """
    gone, failed, reason = 0, [], None
    ids: list[str] = []
    for number, (id, name) in enumerate(names.items()):
        progress(number, len(names))
        try:
            await delete(id)
        except NotFound:
            gone += 1
        except Unreachable as error:
            failed += [*names.values()][number:]
            reason = Problem.of(error)
            break
        except ClientError as error:
            failed.append(name)
            reason = Problem.of(error)
            continue
        ids.append(id)
        forget(id)
    return Deleted(len(names) - len(failed), gone, tuple(failed), reason, tuple(ids))
