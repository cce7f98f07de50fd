"""Sentence vectors from static weights that come with the wordllama package."""

import importlib.util
import logging
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

# The matrices of a search are small: threads would only wait for each other. Numpy,
# loaded later, reads this once.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

log = logging.getLogger(__name__)

DIMENSIONS = 256
_BATCH_CHARACTERS = 100_000
"""Characters of the texts that are embedded at a time."""


class Embedder:
    """Turns text into vectors; loads its weights on first use.

    wordllama has no wheel for some platforms. Texts have no vectors there, and search is by full
    text alone.
    """

    def __init__(self) -> None:
        self._model: Any = None
        self._lock = threading.Lock()

    @property
    def available(self) -> bool:
        """Whether this platform has the weights."""
        return importlib.util.find_spec("wordllama") is not None

    def embed(self, texts: Sequence[str], dimensions: int = DIMENSIONS) -> "Vectors | None":
        """Return a unit vector for each text, zeros without a token, or None if unavailable.

        Fewer dimensions are a prefix of the vector: Matryoshka weights allow that.
        """
        if not self.available:
            return None
        import numpy as np

        if not texts:
            return np.empty((0, dimensions), np.float32)
        model = self._load()
        # A batch is padded to its longest text.
        longest = max((len(text) for text in texts), default=1)
        batch = max(1, _BATCH_CHARACTERS // max(1, longest))
        vectors: Vectors = model.embed(list(texts), batch_size=batch)[:, :dimensions]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, np.float32(1))
        return vectors

    def count_tokens(self, texts: list[str]) -> int:
        """Return the number of tokens of these texts together, estimated if unavailable."""
        if not self.available:
            return sum(len(text) for text in texts) // 4
        tokenizer = self._load().tokenizer
        encoded = (tokenizer.encode(text, add_special_tokens=False) for text in texts)
        return sum(len(item.ids) for item in encoded)

    def _load(self) -> Any:
        with self._lock:
            if self._model is None:
                began = time.perf_counter()
                import wordllama

                # The loader looks beside its own module for only one of its two files.
                folder = Path(wordllama.__file__).parent
                self._model = wordllama.WordLlama.load(
                    dim=DIMENSIONS, cache_dir=folder, disable_download=True
                )
                log.info("embeddings loaded in %.2f s", time.perf_counter() - began)
            return self._model
