"""The app's themes: which there are, which is in force, and what is wrong with the others."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import App

from carrel.config.profiles import ConfigError
from carrel.config.settings import save_settings
from carrel.tui.theme import themes
from carrel.tui.theme.themes import DEFAULT, LIGHT, ThemeError

if TYPE_CHECKING:
    from carrel.store.core.problem import Problem

LOOK = 1.0
"""Seconds between two looks at the user's folder."""


class Appearance:
    """Registers our themes and the user's with the app, and reads changed files again."""

    def __init__(
        self, app: App[Any], wanted: str, say: Callable[[str], object], redraw: Callable[[], object]
    ) -> None:
        """`wanted`: the theme of the settings.

        `say` shows a line that something failed; `redraw` draws everything anew.
        """
        self.chosen = DEFAULT
        self.broken: tuple[ThemeError, ...] = ()
        self._app = app
        self._say = say
        self._redraw = redraw
        self.wanted = wanted
        self._stamps = themes.stamps(themes.user_folder())
        for theme in themes.find_themes(themes.shipped_folder()).themes:
            app.register_theme(theme)
        self._read_own()
        self.chosen = wanted if wanted in app.available_themes else DEFAULT
        app.theme = self.chosen

    def start(self) -> None:
        """Watch the user's folder from now on, and say what is wrong already."""
        self._app.set_interval(LOOK, self._look)
        if self.broken:
            self._tell()
        elif self.wanted != self.chosen:
            self._say(f"There is no theme “{self.wanted}”: ctrl+p has those there are.")

    def names(self) -> list[str]:
        """Return every theme, our own first."""
        return sorted(
            self._app.available_themes, key=lambda name: (not name.startswith("carrel"), name)
        )

    def choose(self, name: str) -> None:
        """Put a theme in force, also for the next start."""
        self.chosen = self.wanted = self._app.theme = name
        try:
            save_settings({"theme": name})
        except ConfigError as error:
            self._say(str(error))

    def preview(self, name: str) -> None:
        """Show a theme for now."""
        self._app.theme = name

    def restore(self) -> None:
        """End a preview."""
        self._app.theme = self.chosen

    def toggle(self) -> None:
        """Switch from dark to light and back."""
        self.choose(LIGHT if self._app.current_theme.dark else DEFAULT)

    def problem(self) -> "Problem":
        """Return the mistakes in the user's themes, and how to mend them."""
        from carrel.store.core.problem import Problem

        detail = "\n\n".join(str(error) for error in self.broken)
        advice = "Mend the lines named; a file that is saved is read again at once."
        return Problem("Themes that cannot be used", detail, advice)

    def _look(self) -> None:
        stamps = themes.stamps(themes.user_folder())
        if stamps == self._stamps:
            return
        self._stamps = stamps
        self._read_own()
        if self.wanted in self._app.available_themes and self.chosen == DEFAULT != self.wanted:
            self.chosen = self.wanted
        # The same name may mean other colours now.
        self._app.theme = self.chosen
        self._redraw()
        if self.broken:
            self._tell()

    def _read_own(self) -> None:
        found = themes.find_themes(themes.user_folder())
        self.broken = found.broken
        for theme in found.themes:
            self._app.register_theme(theme)

    def _tell(self) -> None:
        files = ", ".join(error.path.name for error in self.broken)
        self._say(f"{files} cannot be used: ctrl+p “What is wrong with my themes”.")
