"""The whole workbench: six panels as tabs under one header."""

import time
from collections.abc import Mapping
from html import escape
from typing import Any

from carrel.notebook.panels.core.base import Json, Panel, problem_json
from carrel.store.activity.formatting import activity_badge
from carrel.store.session.formatting import connection, header
from carrel.store.store import Store

NEWS_SECONDS = 8.0
"""Seconds for which a notification stays in the status line."""


class Workbench(Panel, view="workbench"):
    """Six tabs. `panels` maps each tab's name to its panel, in tab order."""

    _title = "Carrel"

    def __init__(self, store: Store, panels: Mapping[str, Panel], **options: Any) -> None:
        self._panels = panels
        super().__init__(store, panels=panels.values(), **{"height": 620, **options})
        self._follow(store.activity.slice, store.notifications.slice)

    def _view(self) -> Json:
        session = self._store.session.slice.value
        news = self._store.notifications.slice.value.items
        fresh = bool(news) and time.time() - news[-1].at < NEWS_SECONDS
        return {
            "tabs": [
                {"id": name, "label": self._label(name), "panel": f"anywidget:{panel.model_id}"}
                for name, panel in self._panels.items()
            ],
            "badge": {"text": header(session), "role": connection(session).role},
            "status": news[-1].text if fresh else "",
            "problem": problem_json(session.error),
        }

    def _label(self, name: str) -> str:
        if name != "Activity":
            return name
        return f"{name} {activity_badge(self._store.activity.slice.value)}".strip()

    async def draw_still(self) -> str:
        """Return the six panels, each collapsible."""
        places = [
            f"<details{' open' if name == 'Files' else ''}>"
            f"<summary>{escape(name)}</summary>{await panel.draw_still()}</details>"
            for name, panel in self._panels.items()
        ]
        return f"<p><strong>Carrel</strong></p>{''.join(places)}"
