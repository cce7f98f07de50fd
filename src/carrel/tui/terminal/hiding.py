"""Masking for shared screens, applied last to everything drawn."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from carrel.config.profiles import Profile, profiles
from carrel.store.core.hiding import Hider, mask


class Hiding(LineFilter):
    """Masks keys, ids, addresses, home paths and names in a drawn line."""

    def __init__(self, names: Iterable[str], keys: Iterable[str] = ()) -> None:
        super().__init__()
        self._hider = Hider(names, keys)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        spans = self._hider.spans("".join(segment.text for segment in segments))
        if not spans:
            return segments
        drawn: list[Segment] = []
        at = 0
        for text, style, control in segments:
            end = at + len(text)
            for start, stop in spans:
                first, last = max(start, at) - at, min(stop, end) - at
                if first < last:
                    text = text[:first] + "\0" * (last - first) + text[last:]
            original = segments[len(drawn)].text
            shown = "".join(
                mask(was) if is_now == "\0" else is_now
                for was, is_now in zip(original, text, strict=True)
            )
            drawn.append(Segment(shown, style, control))
            at = end
        return drawn


def secret_names(here: Profile) -> Iterator[str]:
    """Yield the names to hide: profiles, their hosts, and the home folder."""
    for profile in (here, *profiles()):
        if not profile.local:
            yield profile.name
        yield urlsplit(profile.url or "").hostname or ""
    yield str(Path.home())


def secret_keys(here: Profile) -> list[str]:
    """Return the keys of the profiles."""
    return [profile.api_key for profile in (here, *profiles()) if profile.api_key]
