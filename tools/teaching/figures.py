"""Figures of the page model on pages with truth: of roles, and of what neighbours share."""

from collections.abc import Sequence

import numpy as np

from carrel.server.reading.page_model.network import FLAGS, ROLES, SHARED, look
from teaching.dataset import LabelledPage, seen


def report(name: str, labelled: Sequence[LabelledPage]) -> None:
    """Print precision and recall for each role, flag and shared thing."""
    pages = [seen(page.rows, page.around, page.labels) for page in labelled]
    views = [look([page.features])[0] for page in pages]
    if not views:
        return
    truth = np.concatenate([page.roles for page in pages])
    said = np.concatenate([view.roles.argmax(1) for view in views])
    known = truth >= 0
    print(f"{name}: {len(pages)} pages, roles right {(said == truth)[known].mean():.3f}")
    parts = [_score(role, said[known] == n, truth[known] == n) for n, role in enumerate(ROLES)]
    flags = np.concatenate([view.flags for view in views])
    true_flags = np.concatenate([page.flags for page in pages])
    for n, flag in enumerate(FLAGS):
        known = true_flags[:, n] >= 0
        parts.append(_score(flag, flags[known, n] > 0.5, true_flags[known, n] > 0))
    for n, what in enumerate(SHARED):
        for d, way in ((0, "right"), (2, "below")):
            right = np.concatenate([page.shared[d, :, n] for page in pages])
            chance = np.concatenate([view.shared[d, :, n] for view in views])
            known = right >= 0
            parts.append(_score(f"{what} {way}", chance[known] > 0.5, right[known] > 0))
    print("   " + ", ".join(filter(None, parts)), flush=True)


def _score(name: str, said: np.ndarray, true: np.ndarray) -> str:
    if not true.any():
        return ""
    both = (said & true).sum()
    return f"{name} {both / max(1, said.sum()):.2f}/{both / true.sum():.2f} ({true.sum()})"
