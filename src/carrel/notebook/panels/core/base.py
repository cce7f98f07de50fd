"""The base of every panel: state goes down, intents come up.

Down, durable: the `state` trait, small JSON that survives a reload. Down, transient: messages. Up:
messages only, because a host may lose trait changes from the browser while a cell runs. A view
sends `hello` and `goodbye`, `intent {name, args, rid}` and file `chunk`s; the kernel answers each
`rid` with `ack` at once and `done` or `error` at the end. An intent with `of` is refused once the
panel shows another item.

A message arrives on any thread the host chooses and is handed to the store's loop; only that
thread writes traits and sends messages.
"""

import asyncio
import contextlib
import dataclasses
import inspect
import itertools
import time
import uuid
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, Self, TypeVar

import anywidget
import ipywidgets
import traitlets
from pydantic import ValidationError, validate_call

from carrel.notebook.cells.errors import no_option_words
from carrel.notebook.html.tables import table
from carrel.notebook.panels.core.assets import module, style
from carrel.notebook.panels.core.snapshot import Still, display_live
from carrel.notebook.panels.core.uploads import BrowserFiles
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.action import Service
from carrel.store.core.actions.handle import Cancelled, Handle
from carrel.store.core.actions.slice import Slice
from carrel.store.core.actions.watch import watch
from carrel.store.core.formatting import Badge
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.search.formatting import group_hits, place_of, result_words
from carrel.store.session.formatting import status
from carrel.store.session.state import SessionState
from carrel.store.store import Store
from carrel.store.sync.selection import select_names
from carrel.store.trash.formatting import way_back
from carrel.store.trash.state import DeletedFrom

T = TypeVar("T")
Json = dict[str, Any]
Cell = str | Json | None
Intent = Callable[..., Coroutine[Any, Any, object]]

OPTIONS = ("height", "layout")
"""Options of every panel."""

FIRST = 3.0
"""Seconds for which a cell waits for a panel's first rows."""

_NOT_UNDERSTOOD = Problem(
    "The panel asked for something unknown",
    "Its page is from another version.",
    "Run the cell again.",
)

_MOVED_ON = Problem(
    "The panel shows something else by now", "Nothing was done.", "Look again, then repeat it."
)


def problem_json(problem: Problem | None) -> Json | None:
    """Return a problem in the form that a view shows."""
    return None if problem is None else dataclasses.asdict(problem)


def badge_json(badge: Badge | None) -> Json | None:
    """Return a badge in the form of a table cell."""
    return None if badge is None else {"text": str(badge), "role": badge.role}


def layout_options(height: int | None, layout: ipywidgets.Layout | None) -> Json:
    """Return the options of a panel that were given."""
    options = {"height": height, "layout": layout}
    return {name: value for name, value in options.items() if value is not None}


def intent(method: Intent) -> Intent:
    """Make a coroutine method `_on_name` the intent `name` and check its arguments.

    Its result goes to the asking view: JSON, or bytes as a binary buffer.
    """
    checked = validate_call(method)
    checked.__carrel_intent__ = True  # type: ignore[attr-defined]
    return checked


def forward(
    service: str, action: Callable[..., Handle[Any]], *names: str, waits: bool = True
) -> Intent:
    """Return an intent that is an action of a panel's service; its result is not sent.

    `names` are the view's names of the action's arguments, in order. Unless it `waits`, the intent
    ends as soon as the action is accepted.
    """
    checked, find = validate_call(action), attrgetter(service)
    own = dict(zip(names, [*inspect.signature(action).parameters][1:], strict=False))

    async def carry_out(panel: object, **args: Any) -> None:
        handle = checked(find(panel), **{own.get(name, name): args[name] for name in args}).check()
        if waits:
            await handle

    carry_out.__carrel_intent__ = True  # type: ignore[attr-defined]
    return carry_out


def _intents_of(kind: type) -> dict[str, Intent]:
    return {
        name.removeprefix("_on_"): method
        for one in reversed(kind.__mro__)
        for name, method in vars(one).items()
        if hasattr(method, "__carrel_intent__")
    }


class Panel(anywidget.AnyWidget):
    """A live view of a part of the shared state.

    Options: `height` in pixels (the content scrolls inside), `layout` as for any widget.
    """

    state = traitlets.Dict().tag(sync=True)
    still = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(480, min=160).tag(sync=True)

    _title: ClassVar[str] = "Panel"
    _deletes: ClassVar[DeletedFrom | None] = None
    """The area of the deletions that the panel offers to undo."""
    _listing: Service[Any] | None = None
    """The list that the panel shows."""

    def __init_subclass__(cls, view: str = "", **options: Any) -> None:
        """Give a panel its JavaScript and CSS; `view` is their name in `static/`."""
        if view:
            cls._esm, cls._css = module(view), style(view)
        super().__init_subclass__(**options)

    def __init__(
        self,
        store: Store,
        *,
        parts: Sequence[object] = (),
        panels: Iterable["Panel"] = (),
        own: Service[Any] | None = None,
        **options: Any,
    ) -> None:
        """Make the panel.

        `parts` have intents of their own, which the panel's view sends like the panel's. `panels`
        are enclosed, and close with it, as does its `own` service.
        """
        self._store = store
        self._enclosed = tuple(panels)
        self._intents = {
            name: partial(method, owner)
            for owner in (self, *parts)
            for name, method in _intents_of(type(owner)).items()
        }
        self._watches: list[Callable[[], None]] = []
        if own is not None:
            self._watches.append(lambda: store.close_service(own))
        self._views: set[str] = set()
        self._was_shown = False
        self._closed = False
        self._lost = False
        self._clock: Handle[None] | None = None
        self._loading: Handle[Any] | None = None
        self._around: Panel | None = None
        self._files = BrowserFiles(self._post)
        for name in options.keys() - set(OPTIONS):
            raise TypeError(no_option_words(type(self).__name__, name, OPTIONS))
        id = uuid.uuid4().hex[:12]
        self._still = Still(store, id, self, lambda content: self._post(None, content))
        # The view finds its model in the host by the id of its static page.
        super().__init__(state=self._state(), still=id, model_id=id, **options)
        self.on_msg(self._receive)
        for panel in self._enclosed:
            panel._around = self

    def _state(self) -> Json:
        session = self._store.session.slice.value
        deletion = self._store.trash.slice.value.last(self._deletes) if self._deletes else None
        return {
            "connection": status(session, time.time(), self._copy_time()),
            "way_back": way_back(session),
            # The enclosing panel shows it for its parts.
            "left": [] if self._around else list(self._store.unfinished.left),
            "resumable": bool(self._store.unfinished.resumable),
            "deletion": deletion and {"number": deletion.number, "what": deletion.what},
            **self._view(),
        }

    def _copy_time(self) -> float | None:
        """Return the time at which the shown copy was current, or None if it is no copy."""
        return None if self._listing is None else self._listing.slice.value.as_of

    def _view(self) -> Json:
        """Return the state to draw, except the connection and deletions."""
        raise NotImplementedError

    async def draw_still(self) -> str:
        """Return the panel as static HTML, for places without a live one.

        It has no absolute paths, keys, addresses or ages, which would go stale.
        """
        return table(self._title, *self._table())

    def is_changing(self) -> bool:
        """Return whether the content is about to change, as while an answer is written."""
        return any(panel.is_changing() for panel in self._enclosed)

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        """Return the head and rows of the static table."""
        return (), ()

    def _greet(self, view: str) -> None:
        """Send a new view the data outside of `state`."""

    def _loads(self) -> Sequence[Handle[Any]]:
        """Start to load the panel's data unless a load runs; return the handles."""
        if self._listing is None or self._listing.slice.value.loading:
            return ()
        return (self._listing.load(),)

    @property
    def _outdated(self) -> bool:
        """Return whether an outage may have changed the shown data."""
        return True

    def _follow(self, *slices: Slice[Any]) -> None:
        store = self._store
        follow = partial(watch, deliver=store.loop.call)

        def refresh(_: object) -> None:
            self._refresh_unless_at_rest()

        for slice in (store.session.slice, store.trash.slice, *slices):
            self._watches.append(follow(slice, refresh))
        for slice in (store.activity.slice, store.sync.slice):
            left = follow(slice, refresh, select=lambda _: store.unfinished.left, hz=2)
            self._watches.append(left)
        self._watches.append(follow(store.session.slice, self._recover))

    @property
    def rests(self) -> bool:
        """Whether no page shows the panel, which then follows nothing."""
        return self._was_shown and not self._views

    def _refresh_unless_at_rest(self) -> None:
        if not self.rests:
            self.refresh()

    def _recover(self, session: SessionState) -> None:
        """Reload once a lost service is back; that clears the error too."""
        if session.connection in ("lost", "failed"):
            self._lost = True
        elif session.connection == "ready" and self._lost:
            self._lost = False
            if self._outdated and not self.rests:
                self._loads()

    def refresh(self) -> None:
        """Draw the current state. Call it on the store's loop."""
        state = self._state()
        if state != self.state:
            self.state = state
            self.touch_still()

    def touch_still(self) -> None:
        """Update the static page of this panel, and of the enclosing one."""
        self._still.touch()
        if self._around is not None:
            self._around.touch_still()

    def _keep_time(self) -> None:
        """Redraw ages and remaining times while a page shows the panel; one clock serves all
        panels."""

        async def tick() -> None:
            while True:
                await asyncio.sleep(1)
                self.refresh()

        if self._views and self._clock is None:
            self._clock = self._store.loop.run(tick())
        elif not self._views and self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def call_on_close(self, call: Callable[[], None]) -> Self:
        """Register a callback for the panel's closing; return the panel itself."""
        self._watches.append(call)
        return self

    def close(self) -> None:
        """Close the panel and its inner panels; its place on the page becomes empty."""
        for panel in self._enclosed:
            panel.close()
        self._closed = True
        self._views.clear()
        self._keep_time()
        while self._watches:
            self._watches.pop()()
        super().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __dir__(self) -> list[str]:
        """Return the panel's own names, without the names that all panels share."""
        own = type(self).__mro__[: type(self).__mro__.index(Panel)]
        names = {name for kind in own for name in vars(kind) if not name.startswith("_")}
        return sorted({*(names - vars(Panel).keys()), *OPTIONS, "close"})

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of profile {self._store.session.slice.value.profile}>"

    def _ipython_display_(self) -> None:
        bundle = super()._repr_mimebundle_()
        assert bundle is not None
        content = self._draw_first()
        display_live(bundle[0])
        self._still.display(content)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[Json, Json] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle[0]["text/html"] = self._draw_first()
        return bundle

    def _draw_first(self) -> str:
        """Return the static page's current content, with the first rows if they arrive soon."""

        async def draw() -> str:
            self.refresh()
            return await self.draw_still()

        if self._loading is not None:
            # The panel shows why nothing came.
            with contextlib.suppress(TimeoutError, ProblemError, Cancelled):
                self._loading.result(FIRST)
            if self._loading.done():
                self._loading = None
        with contextlib.suppress(TimeoutError):
            return self._store.loop.run(draw()).result(FIRST) or ""
        return ""

    @intent
    async def _on_refresh(self) -> None:
        """Reload data that another program may have changed."""
        for handle in self._loads():
            await handle

    @intent
    async def _on_undo(self) -> None:
        """Undo the panel's last deletion."""
        await self._store.trash.undo(self._deletes)

    @intent
    async def _on_look_for(self, query: str) -> Json:
        """Search all libraries and chats; return the passages in groups, and the places."""
        state = await self._store.search.search(query)
        number = itertools.count()
        groups = [
            {
                "title": title,
                "hits": [
                    {"id": next(number), "place": place_of(hit), "passage": hit.passage}
                    for hit in hits
                ],
            }
            for title, hits in group_hits(state.found)
        ]
        return {"groups": groups, "said": result_words(state)}

    @intent
    async def _on_open_found(self, query: str, number: int) -> str:
        """Open a passage of the last search; return the place that shows it."""
        state = self._store.search.slice.value
        if query.strip() != state.query or number >= len(state.found):
            raise ProblemError(_MOVED_ON)
        hit = state.found[number]
        if hit.kind == "chat":
            await self._store.chat.resume(hit.id, hit.turn)
            return "Chat"
        source = DocumentSource("document", hit.id, hit.name, hit.library_id)
        self._store.documents.open(source, hit.page or 0, hit.box)
        return "Document"

    @intent
    async def _on_sift(
        self, folder: str, files: list[str], folders: list[str], rules: list[tuple[str, str]]
    ) -> Json:
        """Return the files of a dropped folder to upload, and the folders to scan."""
        return {
            "files": select_names(folder, files, rules),
            "folders": select_names(folder, folders, rules, folders=True),
        }

    @intent
    async def _on_resume(self) -> None:
        """Resume the interrupted work of an earlier kernel or process."""
        self._store.unfinished.resume()

    @intent
    async def _on_drop(self) -> None:
        """Forget the interrupted files of a drop; sent ones stay."""
        self._store.unfinished.drop()

    def type_into(self, text: str) -> None:
        """Put a text into the panel's field as if it was typed, without sending it."""
        self._post(None, {"kind": "typed", "text": text})

    # messages

    def _receive(self, _: object, content: object, buffers: list[memoryview]) -> None:
        self._store.loop.call(lambda: self._dispatch(content, buffers))

    def _dispatch(self, content: object, buffers: list[memoryview]) -> None:
        if not isinstance(content, dict):
            return
        # Requests have a `rid`: kernels take a message's `id` for the address of a reply.
        match content:
            case {"kind": "hello", "rid": str(rid), "view": str(view)}:
                rested = self.rests
                self._was_shown = True
                self._views.add(view)
                self._files.resume_view(view)
                self._keep_time()
                if rested:
                    self.refresh()
                    self._loads()
                # The host may have dropped updates before the view could hear them.
                self.send_state("state")
                self._post(view, {"kind": "done", "rid": rid, "result": None})
                self._greet(view)
                self._still.renew()
            case {"kind": "goodbye", "view": str(view)}:
                self._views.discard(view)
                self._keep_time()
                self._files.leave_view(view)
            case {"kind": "chunk", "key": str(key), "offset": int(offset)}:
                error = content.get("error")
                data = bytes(buffers[0]) if buffers else b""
                self._files.receive(key, offset, data, None if error is None else str(error))
            case {"kind": "intent", "rid": str(rid), "view": str(view), "name": str(name)}:
                self._post(view, {"kind": "ack", "rid": rid})
                if "of" in content and content["of"] != self._subject():
                    self._refuse(view, rid, _MOVED_ON)
                    return
                self._store.loop.run(self._carry_out(view, rid, name, content.get("args")))

    def _subject(self) -> str | None:
        """Return the id of the shown item, to which intents may be bound."""
        return None

    async def _carry_out(self, view: str, rid: str, name: str, args: object) -> None:
        try:
            method = self._intents.get(name)
            if method is None or not isinstance(args, dict):
                raise ProblemError(_NOT_UNDERSTOOD)
            result = await method(**args)
        except (ValidationError, TypeError):
            self._refuse(view, rid, _NOT_UNDERSTOOD)
        except Cancelled:  # cancelled by a newer intent of its kind, or by the user
            self._post(view, {"kind": "done", "rid": rid, "result": None})
        except Exception as error:
            self._refuse(view, rid, Problem.of(error))
        else:
            binary = isinstance(result, bytes)
            answer = {"kind": "done", "rid": rid, "result": None if binary else result}
            self._post(view, answer, [result] if isinstance(result, bytes) else None)

    def _refuse(self, view: str, rid: str, problem: Problem) -> None:
        self._post(view, {"kind": "error", "rid": rid, "problem": problem_json(problem)})

    def _post(self, view: str | None, content: Json, buffers: list[bytes] | None = None) -> None:
        """Send a message to one view, or to all."""
        self.send(content if view is None else {**content, "to": view}, buffers)
