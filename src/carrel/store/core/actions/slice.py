"""Slices: immutable parts of the state, with a signal for changes."""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from psygnal import EmitLoopError, Signal

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    S = TypeVar("S", bound=DataclassInstance)
else:
    S = TypeVar("S")

logger = logging.getLogger(__name__)


class Slice(Generic[S]):
    """Holder of a frozen dataclass. Anyone may read it; its service writes it, on the owner
    loop."""

    changed = Signal(object, object)
    """Emitted with the new and the old value, on the owner loop's thread."""

    def __init__(self, value: S) -> None:
        self._value = value

    @property
    def value(self) -> S:
        """The current value."""
        return self._value

    def set(self, **fields: Any) -> S:
        """Replace fields. Nothing is emitted if the value stays equal."""
        return self.put(dataclasses.replace(self._value, **fields))

    def put(self, new: S) -> S:
        """Replace the whole value. Nothing is emitted if it stays equal."""
        old = self._value
        if new != old:
            self._value = new
            try:
                self.changed.emit(new, old)
            except EmitLoopError:
                # A listener's error must not fail the action that made the change.
                logger.exception("a listener of %s failed", type(new).__name__)
        return self._value
