"""A query for the chunks nearest to a vector."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.server.records.embeddings import SearchedLibrary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Nearest:
    """A query for the chunks of a library nearest to a vector of its model."""

    library: SearchedLibrary
    vector: "NDArray[np.float32]"
    limit: int
    document_ids: Collection[str] | None = None
    """Restricts the search to some documents."""


Finish = Callable[[Collection[int]], dict[int, float]]
"""Returns the nearest chunks and those of some ids, wherever these rank, with their similarity;
blocks.
"""
