"""Results of a sync."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.sync.formatting import summary_words

if TYPE_CHECKING:
    from carrel.store.sync.service import Summary


@dataclass(frozen=True)
class Synced:
    """A synced folder; `summary` has counts and failures."""

    folder: Path
    summary: "Summary"

    def __repr__(self) -> str:
        return f"<Sync of {self.folder.name}: {summary_words(self.summary)}>"

    def _repr_html_(self) -> str:
        words = escape(summary_words(self.summary))
        failed = "".join(
            f"<li>{escape(one.path)}: {escape(one.reason)}</li>" for one in self.summary.failures
        )
        reasons = f"<ul>{failed}</ul>" if failed else ""
        return f"<p><strong>{escape(self.folder.name)}</strong> {words}</p>{reasons}"
