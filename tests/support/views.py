"""A panel's JavaScript in a page, with a model instead of a kernel, and states to draw."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from carrel.notebook.panels.core import assets

EVIL = "invoice [/final] <img src=x onerror=window.hacked=1>.pdf"
LAYOUT: dict[str, Any] = {"sort": None, "widths": {}}
FAKE_MODEL = Path(__file__).with_name("fake_model.js")


def mount(page: Page, panel: str, state: dict[str, Any]) -> None:
    texts = [assets.module(panel), assets.style(panel), {"connection": "", **state}]
    page.evaluate("([module, style, state]) => mount(module, style, state)", texts)


def sent(page: Page, name: str) -> list[dict[str, Any]]:
    """The intents of that name so far."""
    return [one for one in page.evaluate("model.sent") if one.get("name") == name]


def kernel(page: Page, call: str, *values: Any) -> None:
    page.evaluate(f"values => kernel.{call}(...values)", list(values))


def compare_state(*panels: str, **fields: Any) -> dict[str, Any]:
    """Chats side by side, which nothing was asked yet."""
    state = {
        "chats": [
            {"id": number, "panel": f"anywidget:{panel}", "place": number}
            for number, panel in enumerate(panels)
        ],
        "names": [f"support v{number}" for number in range(len(panels))],
        "compared": len(panels) > 1,
        "judged": "",
        "problem": None,
    }
    named = ("busy", "begun", "answered", "hidden", "blind", "seed")
    return {**state, **dict.fromkeys(named, False), **fields}


def evals_state(**fields: Any) -> dict[str, Any]:
    """A run of two cases, one of which passed."""
    passed, failed = {"text": "● passed", "role": "ready"}, {"text": "✗ failed", "role": "failed"}
    figures = ["95–99 %", "", "12", "0.4"]
    state = {
        "agents": [{"id": "a", "name": "support", "active": 1, "versions": [1, 0]}],
        "file": "cases.yaml",
        "runs": [
            {"id": "run1", "words": "support v1 · leases · 50 % · done"},
            {"id": "run0", "words": "support v0 · leases · 100 % · done"},
        ],
        "shown": "run1",
        "baseline": None,
        "title": "support v1 · leases · run1",
        "said": ["1 failed · 1 passed"],
        "rows": [
            {"id": "rent", "cells": ["rent", failed, "0/1", *figures, "contains “900”"]},
            {"id": "notice", "cells": ["notice", passed, "1/1", *figures, ""]},
        ],
        "progress": None,
        "resumable": False,
        "empty": "No runs yet.",
        "loading": False,
        "layout": LAYOUT,
        "problem": None,
    }
    return {**state, **fields}


def file_row(number: int, name: str = "") -> dict[str, Any]:
    cells = [name or f"file-{number}.pdf", "ocr", "1.2 MB", "3", None, "now"]
    return {"id": f"f{number}", "cells": cells, "marked": False}


def files_state(*rows: dict[str, Any], **fields: Any) -> dict[str, Any]:
    state = {
        "title": "Files",
        "rows": list(rows),
        "selected": rows[0]["id"] if rows else None,
        "marked": [],
        "range": f"1–{len(rows)} of {len(rows)}",
        "page": 0,
        "last_page": 0,
        "search": "",
        "facets": [
            {"field": "purpose", "name": "Purpose", "values": ["ocr", "batch"], "chosen": None},
            {"field": "type", "name": "Type", "values": ["PDF", "text"], "chosen": None},
        ],
        "narrowed": False,
        "loaded": True,
        "preview": preview(),
        "sample": {"running": False, "steps": []},
        "service": "",
        "as_a_batch": ["As one batch job", "Cheaper; all come at its end."],
        "way_back": "You can undo this for 7 days.",
        "empty": "No files yet.",
        "layout": LAYOUT,
        "progress": [],
        "loading": False,
        "read_only": False,
        "problem": None,
    }
    return {**state, **fields}


def preview(**fields: Any) -> dict[str, Any]:
    """A look into a file."""
    nothing: dict[str, Any] = {
        "of": None,
        "name": "",
        "kind": "none",
        "lines": [],
        "note": "",
        "pages": None,
    }
    return {**nothing, **fields}


def document_state(blocks: int, **fields: Any) -> dict[str, Any]:
    state = {
        "source": "f1",
        "empty": "No document is open.",
        "title": "lease.pdf · page 1 of 3",
        "page": 0,
        "page_count": 3,
        "pages": [{"page": n, "text": str(n + 1), "state": "read"} for n in range(3)],
        "markdown": "# Lease",
        "passages": [
            {"html": f"<p>block {n}</p>", "raw": f"# block <b> {n}", "block": n}
            for n in range(blocks)
        ],
        "boxes": [
            {
                "block": n,
                "words": f"text {n + 1} of {blocks}",
                "doubtful": n == 1,
                "box": [10, 90 * n / blocks, 80, 90 / blocks],
            }
            for n in range(blocks)
        ],
        "block": None,
        "block_words": "",
        "place": None,
        "query": "",
        "mark_words": "",
        "tables": 0,
        "changes": [],
        "annotation": "",
        "options": {
            "pages": "", "tables": "text", "headers": False, "scores": "word", "pictures": False,
            "schema": "",
        },
        "option_words": "",
        "large": False,
        "unread": 0,
        "billed": "",
        "waiting": "",
        "confidence": "98 % sure",
        "corrected": "",
        "note": "",
        "progress": "",
        "reading": False,
        "read": True,
        "has_picture": True,
        "no_picture": None,
        "loading": False,
        "problem": None,
    }  # fmt: skip
    return {**state, **fields}


def turn(number: int, role: str, blocks: list[str] | None, **fields: Any) -> dict[str, Any]:
    row = {"id": number, "role": role, "speaker": role, "figures": "", "note": ""}
    more = {"variant": [1, 1], "calls": [], "attached": [], "sources_title": "", "sources": []}
    return {**row, **more, "blocks": blocks, **fields}


def chat_state(*turns: dict[str, Any], **fields: Any) -> dict[str, Any]:
    state = {
        "single": False,
        "asks": True,
        "session": "s1",
        "sessions": [],
        "sessions_title": "Chats",
        "search": "",
        "agents": [{"id": "a1", "name": "support", "version": 1, "versions": [1, 0]}],
        "agent": "a1",
        "pinned": None,
        "draft": False,
        "title": "support v1",
        "tokens": "",
        "model": "large",
        "models": ["large", "small"],
        "parameters": dict.fromkeys(
            ("model", "temperature", "top_p", "max_tokens", "seed", "stop", "tools"), ""
        ),
        "parameter_words": "",
        "turns": list(turns),
        "prompt": "",
        "editing": None,
        "attached": [],
        "uploading": 0,
        "history": [],
        "busy": False,
        "phase": "",
        "permission": None,
        "empty": "Ask something.",
        "found": None,
        "case_file": "cases.yaml",
        "problem": None,
    }
    return {**state, **fields}


def diff_rows(*lines: dict[str, Any], pairs: list[list[int | None]]) -> list[dict[str, Any]]:
    """The instructions, of which these lines differ, and another temperature."""
    row = {"field": "instructions", "words": "1 of 9 lines", "change": "changed", "depth": 0}
    hunk = {"gap": "⋯ 8 lines the same", "lines": [*lines], "pairs": pairs}
    other = {"field": "temperature", "words": "0.7 → 0.3", "change": "changed", "depth": 0}
    return [{**row, "hunks": [hunk]}, {**other, "hunks": []}]


def agent_fields(**fields: Any) -> dict[str, Any]:
    values = {"name": "support", "model": "smollm2", "description": "", "instructions": "Be kind."}
    numbers = {"temperature": 0.3, "max_tokens": None}
    tools = {"libraries": ["l2"], "connectors": "mail"}
    return {**values, **numbers, **tools, "message": "", **fields}


def agent_state(**fields: Any) -> dict[str, Any]:
    active = {"text": "● active", "role": "ready"}
    state = {
        "single": False,
        "agents": [{"id": "a1", "name": "support", "note": "v1"}],
        "selected": "a1",
        "title": "support",
        "empty": "No agents yet.",
        "versions": [
            {"id": "1", "cells": ["v1", active, "", "now", ""], "marked": False},
            {"id": "0", "cells": ["v0", None, "", "1 h ago", "first"], "marked": False},
        ],
        "active": "1",
        "aliases": [],
        "about": {"title": "v1 · active", "rows": []},
        "diff": {"title": "", "rows": []},
        "draft": {"title": "", "rows": []},
        "trial": None,
        "new_agents": [],
        "models": ["smollm2"],
        "loading": False,
        "read_only": False,
        "problem": None,
    }
    return {**state, **fields}


def library_state(**fields: Any) -> dict[str, Any]:
    ready = {"text": "● Ready", "role": "ready"}
    state = {
        "single": False,
        "libraries": [
            {"id": "l1", "name": "contracts", "note": "1"},
            {"id": "l2", "name": "b", "note": "0"},
        ],
        "selected": "l1",
        "title": "contracts · 1 document",
        "rows": [{"id": "d1", "cells": ["lease.pdf", ready, "12", "now", ""]}],
        "document": "d1",
        "details": {
            "name": "lease.pdf",
            "status": ready,
            "facts": [["Pages", "12"], ["shelf", "north"]],
            "summary": "Lease between two parties.",
            "text": None,
        },
        "range": "1–1 of 1",
        "page": 0,
        "last_page": 0,
        "service": "",
        "way_back": "You can undo this for 7 days.",
        "empty": "No documents yet.",
        "layout": LAYOUT,
        "query": "",
        "hits": [],
        "searching": False,
        "folders": [],
        "progress": [],
        "loading": False,
        "read_only": False,
        "problem": None,
    }
    return {**state, **fields}


def workbench_state(**fields: Any) -> dict[str, Any]:
    names = ["Files", "Libraries", "Document", "Agents", "Chat", "Activity"]
    state = {
        "tabs": [{"id": name, "label": name, "panel": f"anywidget:{name}"} for name in names],
        "badge": {"text": "local ● ready", "role": "ready"},
        "status": "",
        "problem": None,
    }
    return {**state, **fields}


def demo_state(**fields: Any) -> dict[str, Any]:
    """A demo of two steps, of which one is done."""
    state = {
        "caption": "The clerk knows every lease.",
        "place_words": "1 of 2 steps",
        "phase": "ready",
        "paused": False,
        "trouble": "",
        "note": "",
        "recorded_title": "⚑ Recorded answer",
        "recorded": "",
        "ended": False,
        "awaits_key": False,
        "looks_for": "",
        "steps": ["The clerk knows every lease.", "How long?"],
        "place": "chat",
        "panels": [
            {"id": name.lower(), "label": name, "panel": f"anywidget:{name}"}
            for name in ("Libraries", "Document", "Agents", "Chat")
        ],
        "problem": None,
    }
    return {**state, **fields}
