"""Our two themes, and the colour roles that every theme gets.

A role is a theme variable (`$ready`, `$muted` …); screens name roles, never colours.
"""

from collections.abc import Mapping

from textual.theme import Theme

DARK = Theme(
    name="carrel-dark",
    primary="#e2a65a",
    secondary="#7fb4ca",
    accent="#e2a65a",
    success="#98bb6c",
    warning="#e6c384",
    error="#e46876",
    foreground="#d5d8de",
    background="#15171c",
    surface="#15171c",
    panel="#1e2128",
    dark=True,
    variables={
        "line": "#3a404c",
        "muted": "#868e9b",
        "selection": "#2a2f39",
        "busy": "#7fb4ca",
        "waiting": "#a39e93",
        "hosted": "#b69ad6",
        "match": "#f0c674",
        "speaker": "#8ea8d8",
        "block-cursor-background": "#e2a65a",
        "block-cursor-foreground": "#15171c",
        "block-cursor-text-style": "none",
        "input-selection-background": "#e2a65a 30%",
        "scrollbar": "#343a45",
        "scrollbar-hover": "#454d5b",
        "scrollbar-active": "#e2a65a",
        "scrollbar-background": "#15171c",
        "scrollbar-background-hover": "#15171c",
        "scrollbar-background-active": "#15171c",
    },
)

LIGHT = Theme(
    name="carrel-light",
    primary="#a0550c",
    secondary="#22718f",
    accent="#a0550c",
    success="#3f7a2e",
    warning="#8f6400",
    error="#b8322f",
    foreground="#2c2e33",
    background="#faf7f0",
    surface="#faf7f0",
    panel="#efe9dd",
    dark=False,
    variables={
        "line": "#cfc6b4",
        "muted": "#6f6859",
        "selection": "#ebe2cf",
        "busy": "#22718f",
        "waiting": "#7c7463",
        "hosted": "#7a4aa0",
        "match": "#8f6400",
        "speaker": "#3557a0",
        "block-cursor-background": "#a0550c",
        "block-cursor-foreground": "#faf7f0",
        "block-cursor-text-style": "none",
        "input-selection-background": "#a0550c 25%",
        "scrollbar": "#d8cfbd",
        "scrollbar-hover": "#c4b9a3",
        "scrollbar-active": "#a0550c",
        "scrollbar-background": "#faf7f0",
        "scrollbar-background-hover": "#faf7f0",
        "scrollbar-background-active": "#faf7f0",
    },
)

OWN = (DARK, LIGHT)


def with_roles(variables: Mapping[str, str]) -> dict[str, str]:
    """A theme's variables with every role in them; roles that it does not name are derived."""
    roles = {
        "line": variables["border-blurred"],
        "muted": variables["foreground-muted"],
        "selection": variables["boost"],
        "ready": variables["success"],
        "busy": variables["secondary"],
        "waiting": variables["foreground-muted"],
        "failed": variables["error"],
        "hosted": variables["secondary"],
        "added": variables["success"],
        "removed": variables["error"],
        "match": variables["warning"],
        "doubtful": variables["warning"],
        "speaker": variables["secondary"],
    }
    return {**roles, **variables}
