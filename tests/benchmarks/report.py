"""What a benchmark answers: figures, each held against a promise."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Figure:
    """One measured number and the bound it is promised to keep.

    A performance figure is a ratio against a floor or a peer measured in the same run, so that
    a slow or busy machine moves both. Without a bound the figure is for information.
    """

    name: str
    value: float
    bound: float | None = None
    better: Literal["higher", "lower"] = "higher"
    detail: str = ""

    @property
    def kept(self) -> bool:
        if self.bound is None:
            return True
        return self.value >= self.bound if self.better == "higher" else self.value <= self.bound

    def __str__(self) -> str:
        promise = ""
        if self.bound is not None:
            sign = "≥" if self.better == "higher" else "≤"
            promise = f"  {'kept' if self.kept else 'MISSED'} ({sign} {self.bound:g})"
        detail = f"  [{self.detail}]" if self.detail else ""
        return f"{self.name}: {self.value:.4g}{promise}{detail}"
