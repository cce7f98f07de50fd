"""Everything the store awaits comes late, in an order of chance, while somebody works with it.

A seed makes a run; what it did is in its log. Nothing may be written to the wrong place, no list
may stay old, and nothing that was typed may be lost.
"""

import asyncio
import hashlib
import random
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from carrel.config.profiles import Profile, folders
from carrel.local.address import Address
from carrel.pages.renderer import Part
from carrel.store.agents.drafts import Draft
from carrel.store.agents.plan import Plan as Difference
from carrel.store.agents.plan import Step
from carrel.store.agents.state import AgentsState
from carrel.store.batches.service import SubmittedJobs
from carrel.store.cache.copies import DocumentSource
from carrel.store.cache.results import ResultCache
from carrel.store.chat.sessions.saved import ChatSession
from carrel.store.chat.state import ChatState
from carrel.store.comparison.state import Side, Votes
from carrel.store.core.actions.handle import Handle
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.watch import until
from carrel.store.core.lists import Sort
from carrel.store.documents.marks import TextMark
from carrel.store.documents.reader import USUAL, OCROptions
from carrel.store.documents.state import DocumentState
from carrel.store.evals.cases import Case, load_set
from carrel.store.evals.records import Run
from carrel.store.evals.running import Plan
from carrel.store.evals.state import EvalsState
from carrel.store.files.service import FilesService
from carrel.store.files.state import FilesState
from carrel.store.libraries.service import LibrariesService
from carrel.store.libraries.state import LibrariesState
from carrel.store.store import Store
from carrel.store.tools.state import Consent, Permission, ToolsState
from support.late import ANSWER, LateLoop, LateService, content

RUNS = 40
STEPS = 60
REFRESH = 5.0
"""Seconds between two looks of a face at its lists."""
AGREE = 240.0
"""Seconds after which the lists must be as the service has them."""


TOOLS = [Consent(name, "command", name, name) for name in ("noon", "weather")]
PERMISSIONS: tuple[Permission, ...] = ("no", "once", "chat", "always")


T = TypeVar("T")


async def _ended(handle: Handle[Any]) -> None:
    await handle.settled()


async def _result(handle: Handle[T]) -> T | None:
    return handle.result(0) if await handle.settled() == "done" else None


class Lease:
    """Holds no server: this one needs none."""

    def __init__(self, address: Address) -> None:
        pass

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass


class Renderer:
    """Draws the bytes of a document as they are."""

    async def page_count(self, path: Path) -> int:
        await asyncio.to_thread(path.read_bytes)
        return 3

    async def render(self, path: Path, page: int, width: int, part: Part | None = None) -> bytes:
        return await asyncio.to_thread(path.read_bytes)

    async def close(self) -> None:
        pass


class Person:
    """Somebody who does one thing after the other without waiting for any of them."""

    def __init__(self, store: Store, service: LateService, chance: random.Random) -> None:
        self.store, self.service, self.chance = store, service, chance
        self.wrong = service.wrong
        service.beside = lambda: {
            beside
            for session in store.chats.all()
            if ("chat", session.id) in service.asked
            for beside in session.beside
        }
        self.log: list[str] = []
        self.field = ""  # what is typed and not accepted yet
        self.number = 0
        self.accepted: list[tuple[str, str]] = []  # session, question
        self.deleted_chats: set[str] = set()
        self.drafted: dict[str, str] = {}  # what was typed last of an agent
        self.switched: dict[str, list[tuple[int, int]]] = {}
        self.versions = asyncio.Lock()  # one change of an agent's versions after the other
        self.said: set[tuple[str, bool]] = set()  # of tools: whether they may run
        self.under_way: set[asyncio.Task[None]] = set()
        self.handles: list[Handle[Any]] = []
        self.set = folders().data / "cases.yaml"
        self.cases: list[str] = []  # added to the set
        self.plans: list[tuple[Difference, str]] = []

    async def work(self) -> None:
        """Does things at random."""
        things: list[Callable[[], object]] = [
            self.select_library, self.select_library, self.turn_page, self.mark, self.delete_marked,
            self.delete_documents, self.rename, self.show_text, self.search, self.create_library,
            self.delete_files, self.mark_file, self.delete_marked_files, self.turn_files,
            self.open, self.open, self.read, self.read_again, self.stop, self.picture, self.export,
            self.correct, self.batch, self.batch_job, self.look_at_jobs, self.cancel_job,
            self.use_tool, self.use_tool, self.answer_tool, self.allow_tool,
            self.select_agent, self.switch, self.switch, self.roll_back, self.roll_back,
            self.draft, self.save_draft, self.plan, self.apply, self.apply,
            self.begin_chat, self.resume, self.send, self.send, self.attach, self.delete_chat,
            self.compare, self.vote, self.blind, self.go_on, self.count_votes,
            self.stop_answer, self.another_client, self.restart,
            self.add_case, self.add_case, self.evaluate, self.stop_run, self.resume_run,
            self.show_run,
            self.show_no_run,
            self.sort_files, self.sort_documents, self.mark_many_files, self.mark_many_documents,
        ]  # fmt: skip
        for _ in range(STEPS):
            thing = self.chance.choice(things)
            self.log.append(f"{asyncio.get_running_loop().time():8.1f} {thing.__name__}")
            thing()
            await asyncio.sleep(self.chance.choice((0, 0, 0, 0.2, 1, 4)))

    async def finish(self) -> None:
        """Waits for everything that was begun."""
        self.service.faults, self.service.slow = False, True
        while self.under_way:
            await asyncio.wait(self.under_way, timeout=1)
            while self.store.tools.slice.value.asking:
                self.answer_tool()
        for handle in self.handles:
            await handle.settled()

    def _then(self, work: Awaitable[None]) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self.under_way.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.under_way.discard(task)
        if error := task.exception():
            self.wrong.append("".join(traceback.format_exception(error)))

    # libraries

    def select_library(self) -> None:
        self.store.libraries.select(self.chance.choice("ABC"))

    def turn_page(self) -> None:
        self.store.libraries.load_documents(self.chance.randrange(3))

    def mark(self) -> None:
        if documents := self.store.libraries.slice.value.documents:
            self.store.libraries.mark_document(self.chance.choice(documents).id)

    def mark_many_documents(self) -> None:
        self._mark_many(self.store.libraries)

    def sort_documents(self) -> None:
        self.store.libraries.sort(self.chance.choice((None, Sort("name"), Sort("pages", True))))

    def _mark_many(self, area: FilesService | LibrariesService) -> None:
        self.chance.choice((area.mark_all, area.invert_marks, area.mark_none))()

    def delete_marked(self) -> None:
        state = self.store.libraries.slice.value
        if state.marked and state.selected:
            self._delete_documents(state.selected, [*state.marked])

    def delete_documents(self) -> None:
        state = self.store.libraries.slice.value
        if state.documents and state.selected:
            chosen = self.chance.sample(state.documents, min(2, len(state.documents)))
            self._delete_documents(state.selected, [one.id for one in chosen])

    def _delete_documents(self, library: str, ids: list[str]) -> None:
        self.service.asked |= {("document", library, id) for id in ids}
        handle = self.store.libraries.delete_documents(library, ids)
        held = self.service.documents[library]
        self._then(self._deleted(handle, ids, held, f"/v1/libraries/{library}/documents/"))

    async def _deleted(
        self, handle: Handle[int], ids: list[str], held: dict[str, Any], path: str
    ) -> None:
        number = await _result(handle)
        left = [id for id in ids if id in held]
        if handle.outcome == "done" and (left or number != len(ids)):
            self.wrong.append(f"{ids} deleted, and there are {left}")
        unasked = [id for id in left if path + id not in self.service.refused]
        if handle.outcome == "failed" and unasked and not _lost(handle):
            self.wrong.append(f"never tried to delete: {unasked}: {handle.error}")

    def rename(self) -> None:
        state = self.store.libraries.slice.value
        if state.documents and state.selected:
            document = self.chance.choice(state.documents)
            self.service.asked.add(("rename", state.selected, document.id))
            self.store.libraries.update_document(state.selected, document.id, name="renamed")

    def show_text(self) -> None:
        state = self.store.libraries.slice.value
        if state.documents and state.selected:
            id = self.chance.choice(state.documents).id
            self._then(self._text(self.store.libraries.show_text(state.selected, id), id))

    async def _text(self, handle: Handle[str], id: str) -> None:
        text = await _result(handle)
        if text not in (None, f"text of {id}"):
            self.wrong.append(f"{text} for {id}")

    def search(self) -> None:
        self.store.libraries.search("months")

    def create_library(self) -> None:
        if len(self.service.documents) < 5:
            self.store.libraries.create("new")

    # files and documents

    def turn_files(self) -> None:
        self.store.files.load_page(self.chance.randrange(3))

    def mark_file(self) -> None:
        if items := self.store.files.slice.value.items:
            self.store.files.mark(self.chance.choice(items).id)

    def mark_many_files(self) -> None:
        self._mark_many(self.store.files)

    def sort_files(self) -> None:
        self.store.files.sort(self.chance.choice((None, Sort("name"), Sort("size", True))))

    def delete_marked_files(self) -> None:
        self._delete_files([*self.store.files.slice.value.marked])

    def delete_files(self) -> None:
        if (items := self.store.files.slice.value.items) and len(self.service.files) > 4:
            self._delete_files([self.chance.choice(items).id])

    def _delete_files(self, ids: list[str]) -> None:
        if ids:
            self.service.asked |= {("file", id) for id in ids}
            handle = self.store.files.delete(ids)
            self._then(self._deleted(handle, ids, self.service.files, "/v1/files/"))

    def open(self) -> None:
        self.store.documents.open(self._source())

    def _source(self) -> DocumentSource:
        if self.chance.random() < 0.5:
            return DocumentSource(
                "file", id := self.chance.choice([*self.service.files] or ["f-0"]), id
            )
        library = self.chance.choice("ABC")
        id = f"{library}-{self.chance.randrange(8)}"
        return DocumentSource("document", id, id, library)

    def read(self) -> None:
        self.store.documents.read()

    def read_again(self) -> None:
        options = self.chance.choice((None, OCROptions(tables="html"), USUAL))
        self.store.documents.read_again(options)

    def stop(self) -> None:
        self.store.documents.stop()

    def picture(self) -> None:
        state = self.store.documents.slice.value
        if state.opened is not None:
            self._then(self._picture(self.store.documents.picture(0, 100), state.opened.source.id))

    async def _picture(self, handle: Handle[bytes], id: str) -> None:
        png = await _result(handle)
        if png not in (None, content(id)):
            self.wrong.append(f"a picture of {png!r} for {id}")

    def export(self) -> None:
        state = self.store.documents.slice.value
        if state.source is not None and any(state.pages):
            self._then(self._exported(self.store.documents.as_files("markdown"), state.source.id))

    async def _exported(self, handle: Handle[list[tuple[str, bytes]]], id: str) -> None:
        for name, made in await _result(handle) or []:
            if name != f"{id}.md" or f" of {id}.".encode() not in made:
                self.wrong.append(f"{name}: {made!r} saved for {id}")

    def correct(self) -> None:
        state = self.store.documents.slice.value
        if state.opened is not None:
            mark = TextMark(0, 0, 4, "doubtful", "Page")
            self.store.documents.correct(mark, state.opened.source.id)

    def batch(self) -> None:
        self.store.ocr_batch.read([self._source() for _ in range(3)])

    def batch_job(self) -> None:
        ids = self.chance.sample([*self.service.files], min(2, len(self.service.files)))
        if ids:
            self.store.batches.read([DocumentSource("file", id, id) for id in ids])

    def look_at_jobs(self) -> None:
        self.store.batches.load()

    def cancel_job(self) -> None:
        if jobs := self.store.batches.slice.value.jobs:
            id = self.chance.choice(jobs).id
            self.service.asked.add(("job", id))
            self.store.batches.cancel(id)

    # tools

    def use_tool(self) -> None:
        self._then(self._use_tool(self.chance.choice(TOOLS)))

    async def _use_tool(self, tool: Consent) -> None:
        allowed = await self.store.tools.ask_permission(tool)
        if (tool.name, allowed) not in self.said:
            self.wrong.append(f"{tool.name} ran: {allowed}, and nobody said so")

    def answer_tool(self) -> None:
        if asking := self.store.tools.slice.value.asking:
            tool, permission = self.chance.choice(asking), self.chance.choice(PERMISSIONS)
            self.said.add((tool.name, permission != "no"))
            self.store.tools.answer(tool, permission)

    def allow_tool(self) -> None:
        tool, allowed = self.chance.choice(TOOLS), self.chance.choice((True, False))
        self.said.add((tool.name, allowed))
        self.store.tools.allow(tool, allowed)

    # agents

    def select_agent(self) -> None:
        self.store.agents.select(self.chance.choice(("agent", "other")))

    def switch(self) -> None:
        self._then(self._change_version(self.chance.randrange(4)))

    def roll_back(self) -> None:
        self._then(self._change_version(None))

    async def _change_version(self, version: int | None) -> None:
        async with self.versions:
            before = self.service.active["agent"]
            switched = self.switched.setdefault("agent", [])
            while switched and switched[-1][1] != before:
                switched.pop()
            expected = switched[-1][0] if switched else before - 1
            agents = self.store.agents
            handle = (
                agents.roll_back("agent") if version is None else agents.switch("agent", version)
            )
            changed = await _result(handle)
            if changed is None:
                if version is None and self.service.faults:
                    self.roll_back()  # once more, as one would
                return
            if version is None:
                if changed.version != expected:
                    self.wrong.append(f"rolled back to v{changed.version}, not v{expected}")
                if switched:
                    switched.pop()
            elif version != before:
                switched.append((before, version))

    def draft(self) -> None:
        if state := self.store.agents.slice.value.items:
            self.number += 1
            agent = next(one for one in state if one.id == "other")
            kept = next((d for d in self.store.agents.slice.value.drafts if d.id == "other"), None)
            words = f"typed {self.number}"
            self.drafted["other"] = words
            self.store.agents.keep((kept or Draft.of(agent)).changed(instructions=words))

    def save_draft(self) -> None:
        drafts = [one for one in self.store.agents.slice.value.drafts if one.id == "other"]
        if drafts:
            self.store.agents.save(drafts[0])

    def plan(self) -> None:
        self.number += 1
        path = self.set.with_name(f"other-{self.number}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        words = f"planned {self.number}"
        path.write_text(f"name: other\nmodel: large\ninstructions: {words}\n")
        self._then(self._planned(self.store.agents.plan([path]), words))

    async def _planned(self, handle: Handle[Difference], words: str) -> None:
        if plan := await _result(handle):
            self.plans.append((plan, words))

    def apply(self) -> None:
        if self.plans:
            plan, words = self.chance.choice(self.plans)
            self._then(self._applied(self.store.agents.apply(plan), plan, words))

    async def _applied(
        self, handle: Handle[tuple[Step, ...]], plan: Difference, words: str
    ) -> None:
        steps = await _result(handle)
        if steps is None:
            return
        [planned], [taken] = plan.steps, steps
        versions = self.service.agents["other"]
        if planned.agent is None or taken.agent is None:
            self.wrong.append(f"{words}: {plan} became {steps}")
        elif versions[taken.agent.version]["instructions"] != words:
            self.wrong.append(f"{words}: v{taken.agent.version} has something else")
        elif taken.agent.version not in (planned.agent.version, max(planned.agent.versions) + 1):
            self.wrong.append(f"{words}: {planned} became {taken}")

    # chats

    @property
    def session(self) -> str:
        return self.store.chat.slice.value.session_id or ""

    def begin_chat(self) -> None:
        self.store.chat.new("agent")

    def resume(self) -> None:
        if sessions := self.store.chat.slice.value.sessions:
            self.store.chat.resume(self.chance.choice(sessions).id)

    def send(self) -> None:
        if not self.field:
            self.number += 1
            self.field = f"question {self.number}?"
        handle = self.store.comparison.send(self.field)
        if handle.error is None:
            self._then(self._sent(handle, self.field))
            self.field = ""

    async def _sent(self, handle: Handle[None], question: str) -> None:
        """Notes the session that a question went to: it may have waited for it."""

        def asked(state: ChatState) -> bool:
            return any(turn.text == question for turn in state.turns)

        there = asyncio.ensure_future(until(self.store.chat.slice, asked))
        ended = asyncio.ensure_future(_ended(handle))
        await asyncio.wait([there, ended], return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if there.done():
            self.accepted.append((there.result().session_id or "", question))
        else:
            there.cancel()

    def attach(self) -> None:
        if self.session:
            name = f"{self.session}.txt"
            self.store.chat.attach((name, 3, _bytes()))

    def compare(self) -> None:
        self.store.comparison.add(Side("other"))

    def vote(self) -> None:
        number = self.chance.randrange(len(self.store.comparison.chats))
        self.store.comparison.vote(self.chance.choice((number, None)))

    def blind(self) -> None:
        self.store.comparison.set_blind(self.chance.choice((True, False)))

    def count_votes(self) -> None:
        self._then(self._counted(self.store.comparison.count_votes()))

    async def _counted(self, handle: Handle[tuple[Votes, ...]]) -> None:
        for votes in await _result(handle) or ():
            if votes.won + votes.lost + votes.tied < 1:
                self.wrong.append(f"{votes} were counted, and nobody voted")

    def go_on(self) -> None:
        self.store.comparison.go_on(self.chance.randrange(len(self.store.comparison.chats)))

    def stop_answer(self) -> None:
        self.store.chat.stop()

    def delete_chat(self) -> None:
        ids = [one.id for one in self.store.chat.slice.value.sessions]
        if self.session:
            ids.append(self.session)
        if ids:
            id = self.chance.choice(ids)
            self.service.asked.add(("chat", id))
            self._then(self._delete_chat(id))

    async def _delete_chat(self, id: str) -> None:
        handle = self.store.chat.delete_session(id)
        await handle.settled()
        if handle.outcome == "done":
            self.deleted_chats.add(id)

    # evals

    def add_case(self) -> None:
        self.number += 1
        case = Case(question=f"case {self.number}?")
        self._then(self._added(self.store.evals.add_case(self.set, case), case.id))

    async def _added(self, handle: Handle[None], id: str) -> None:
        await handle.settled()
        self.cases.append(id)
        if handle.error is not None:
            self.wrong.append(f"{id} was not added: {handle.error}")

    def evaluate(self) -> None:
        self._then(self._evaluated(self.store.evals.run("other", None, self.set, Plan(2))))

    async def _evaluated(self, handle: Handle[Run]) -> None:
        run = await _result(handle)
        if run is None:
            return
        kept = self.store.evals.records.get(run.id)
        if not run.finished or kept != run:
            self.wrong.append(f"{len(kept.attempts)} of {run.total} attempts are kept")
        answers = {one.answer for one in run.attempts if not one.error}
        if answers - {ANSWER}:
            self.wrong.append(f"{answers} answer the cases")

    def resume_run(self) -> None:
        if runs := [one for one in self.store.evals.slice.value.runs if not one.finished]:
            self._then(self._evaluated(self.store.evals.resume(self.chance.choice(runs).id)))

    def stop_run(self) -> None:
        self.store.evals.stop()

    def show_run(self) -> None:
        if runs := self.store.evals.slice.value.runs:
            self.store.evals.show(self.chance.choice(runs).id, self.chance.choice(runs).id)

    def show_no_run(self) -> None:
        self.store.evals.show_none()

    # others

    def another_client(self) -> None:
        """Another client deletes something."""
        for held in (*self.service.documents.values(), self.service.files):
            if len(held) > 4:
                held.pop(self.chance.choice([*held]))

    def restart(self) -> None:
        """The server goes, and comes back at another address."""
        self.service.port += 1


async def _bytes() -> AsyncIterator[bytes]:
    yield b"abc"


def _lost(handle: Handle[Any]) -> bool:
    return handle.error is not None and handle.error.lost


# What must hold whenever the state changes


def _libraries(state: LibrariesState) -> str | None:
    pages = (state.documents, *state.seen.values(), tuple(state.marked.values()))
    strangers = {one.library_id for page in pages for one in page} - {state.selected}
    strangers |= {hit.document_id.partition("-")[0] for hit in state.hits} - {state.selected}
    if strangers:
        return f"{state.selected} shows documents of {strangers}"
    if state.text is not None and state.text != f"text of {state.document}":
        return f"{state.text} for {state.document}"
    return None


def _agents(state: AgentsState) -> str | None:
    strangers = {one.id for one in state.versions} - {state.selected}
    return f"{state.selected} shows versions of {strangers}" if strangers else None


def _document(state: DocumentState) -> str | None:
    id = state.source.id if state.source else ""
    if state.opened is not None:
        if state.opened.source != state.source:
            return f"{state.source} is shown from {state.opened}"
        if state.opened.copy.hash != hashlib.sha256(content(id)).hexdigest():
            return f"another copy for {id}"
    if strangers := {*state.corrections.values()} - {id}:
        return f"corrections of {strangers} for {id}"
    wrong = [page for page in state.pages if page and not page.markdown.endswith(f" of {id}.")]
    return f"{wrong[0].markdown} for {id}" if wrong else None


def _copy_is_there(state: DocumentState) -> str | None:
    there = state.opened is None or state.opened.copy.path.exists()
    return None if there else f"the copy of {state.source} has gone"


def _chat(state: ChatState) -> str | None:
    strangers = [one for one in state.attached if one.name != f"{state.session_id}.txt"]
    if strangers:
        return f"{strangers} go with a question of {state.session_id}"
    return f"{state.uploading} uploads" if state.uploading < 0 else None


def _evals(state: EvalsState) -> str | None:
    report = state.report
    if report is None:
        return None
    found = (report.run.id, report.baseline and report.baseline.id)
    asked = (state.shown, state.baseline)
    return None if found == asked else f"{asked} shows a report of {found}"


def _tools(state: ToolsState) -> str | None:
    asked = [one.name for one in state.asking]
    return f"asked twice at once: {asked}" if len({*asked}) < len(asked) else None


def _watch(store: Store, wrong: list[str]) -> None:
    def check(slice: Any, holds: Callable[[Any], str | None]) -> None:
        def changed(new: Any, old: Any) -> None:
            if found := holds(new):
                wrong.append(found)

        slice.changed.connect(changed)

    check(store.libraries.slice, _libraries)
    check(store.agents.slice, _agents)
    check(store.documents.slice, _document)
    check(store.chat.slice, _chat)
    check(store.evals.slice, _evals)
    check(store.tools.slice, _tools)
    store.activity.slice.changed.connect(
        lambda new, old: wrong.extend(filter(None, [_copy_is_there(store.documents.slice.value)]))
    )


async def _refresh(store: Store) -> None:
    """What a face does that shows everything."""
    while True:
        store.files.load()
        store.libraries.load()
        store.agents.load()
        store.chat.load_sessions()
        await asyncio.sleep(REFRESH)


def _names(things: Any) -> list[str]:
    return [one.id for one in things]


def _agrees(store: Store, service: LateService) -> list[str]:
    """Where the lists differ from what the service has."""
    files: FilesState = store.files.slice.value
    libraries = store.libraries.slice.value
    agents = store.agents.slice.value
    first = files.page * files.page_size
    pairs = {
        "files": (_names(files.items), [*service.files][first : first + files.page_size]),
        "libraries": (_names(libraries.items), [*service.documents]),
        "agents": (
            {one.id: one.version for one in agents.items},
            service.active,
        ),
        "jobs": (
            {job.id: job.status for job in store.batches.slice.value.jobs},
            {id: job["status"] for id, job in service.jobs.items()},
        ),
        "versions": (len(agents.versions), len(service.agents[agents.selected or "agent"])),
    }
    if libraries.selected:
        first = libraries.page * libraries.page_size
        held = [*service.documents[libraries.selected]][first : first + libraries.page_size]
        pairs["documents"] = (_names(libraries.documents), held)
    return [
        f"{name}: {shown} for {there}" for name, (shown, there) in pairs.items() if shown != there
    ]


async def _check_disk(store: Store, person: Person, service: LateService) -> None:
    ids = [
        *(f"f-{number}" for number in (*range(8), *range(101, service.numbers + 1))),
        *(f"{a}-{n}" for a in "ABC" for n in range(8)),
    ]
    for id in ids:
        digest = hashlib.sha256(content(id)).hexdigest()
        for options in (USUAL, OCROptions(tables="html")):
            kept = await ResultCache(folders().cache).load(
                f"{digest}\0{store.profile.name}\0{options.key()}"
            )
            for page in kept.pages.values():
                if not page.markdown.endswith(f" of {id}."):
                    person.wrong.append(f"{page.markdown} is kept as a page of {id}")
    saved = {session.id: session for session in store.chats.all()}
    listed = set(_names(store.chat.slice.value.sessions))
    if back := person.deleted_chats & (saved.keys() | listed):
        person.wrong.append(f"deleted, and back again: {back}")
    if left := person.deleted_chats & service.conversations.keys():
        person.wrong.append(f"deleted, and still at the service: {left}")
    for session, question in person.accepted:
        found = {
            id
            for id, one in saved.items()
            if any(t.text == question for t in one.conversation.said)
        }
        # Chats beside it, and one that goes on from it, have it too: they begin alike.
        begun = {_first_question(saved[id]) for id in found}
        if len(begun) > 1 or session not in found | person.deleted_chats:
            person.wrong.append(f"{question} of {session} is in {found}")
    if person.cases and [one.id for one in load_set(person.set).cases] != person.cases:
        person.wrong.append(f"the set has not the cases {person.cases} in their order")
    for id, words in person.drafted.items():
        known = [str(one.fields.get("instructions")) for one in store.agents.slice.value.drafts]
        known += [str(version["instructions"]) for version in service.agents[id]]
        if words not in known:
            person.wrong.append(f"{words!r} was typed and is lost")


def _first_question(session: ChatSession) -> str:
    return session.conversation.said[0].text


async def _run(seed: int) -> None:
    chance = random.Random(seed)
    service = LateService(chance)
    closed: list[object] = []
    with pytest.MonkeyPatch.context() as patch:

        async def ensure(data: Path) -> Address:
            await asyncio.sleep(1)
            return Address(service.url, "key")

        async def send(connections: object, request: httpx.Request) -> httpx.Response:
            try:
                return await service.answer(request)
            finally:
                if connections in closed:
                    service.wrong.append(f"{request.url.path}: its connection was closed under it")

        async def close(connections: object) -> None:
            closed.append(connections)

        patch.setattr("carrel.local.ensure", ensure)
        patch.setattr("carrel.local.Lease", Lease)
        patch.setattr("carrel.store.store.Renderer", Renderer)
        patch.setattr("carrel.store.cache.copies.COPIES_BYTES", 350)
        patch.setattr("carrel.store.activity.uploads.NOTICED", 20.0)
        patch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", send)
        patch.setattr(httpx.AsyncHTTPTransport, "aclose", close)
        patch.setattr(
            "carrel.store.core.crash.write_report",
            lambda error: service.wrong.append("".join(traceback.format_exception(error))),
        )
        store = Store(Profile("local"), OwnerLoop.running())
        store.files.slice.set(page_size=3)
        store.libraries.slice.set(page_size=3)
        _watch(store, service.wrong)
        person = Person(store, service, chance)
        await store.start()
        refreshing = asyncio.create_task(_refresh(store))
        await person.work()
        await person.finish()
        await asyncio.sleep(AGREE)
        # Nobody has looked at the jobs since, and their pages are here.
        if left := SubmittedJobs(folders().state, store.profile.name).all():
            service.wrong.append(f"jobs that are waited for: {left}")
        await store.batches.load()
        service.wrong += _agrees(store, service)
        refreshing.cancel()
        await asyncio.sleep(AGREE)
        await _check_disk(store, person, service)
        await store.close()
        assert not service.wrong, "\n".join([*dict.fromkeys(service.wrong), *person.log])


@pytest.mark.parametrize("seed", range(RUNS))
def test_nothing_is_written_to_the_wrong_place_and_nothing_is_lost(seed: int) -> None:
    loop = LateLoop(random.Random(seed))
    faults: list[str] = []
    loop.set_exception_handler(lambda _, context: faults.append(repr(context)))
    try:
        loop.run_until_complete(asyncio.wait_for(_run(seed), 10_000))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
    assert faults == []
