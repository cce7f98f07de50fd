"""Hostile names and texts in the outputs of a saved notebook: nothing runs, nothing leaks."""

import asyncio
import json
from pathlib import Path

import nbformat
import pytest

from support.browser import chromium
from support.home import new_server
from support.hostile import ANSWER, UNSAFE
from support.notebooks import WIDGET, executed, outputs
from support.process import RunningServer
from support.spoken import spoken_model

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(300)]

TAG = "<img src=x onerror=window.hacked=1>"
LINK = "[x](javascript:window.hacked=8)"
TEXT = f"""# {TAG} head

<script>window.hacked = 2</script> The notice <b onclick=window.hacked=3>period</b> {TAG}

[press](javascript:window.hacked=4) [press](data:text/html,<script>window.hacked=5</script>)
![picture](https://evil.example/{TAG}) </section></script></style><svg onload=window.hacked=6>

| a | {TAG} |
|---|---|
| [x](JaVaScRiPt:window.hacked=7) | «{TAG}» |
"""
CELLS = [
    "import carrel\nbench = carrel.connect()",
    "bench.add(TAG, PATH, create=True)",
    "bench.upload(TURNED)",
    "agent = {'model': 'spoken', 'instructions': TEXT, 'description': TEXT}\n"
    "bench.create_agent(TAG + LINK, **agent)",
    "bench.ocr(PATH)",
    "bench.search('notice period')",
    "bench.client.files.list()",
    "bench.agent(TAG + LINK)",
    "for handle in (bench.files, bench.libraries, bench.agents, bench.document):\n"
    "    display(handle)",
    "bench",
    "bench.ask(TAG + LINK, 'How long?')",
    "bench.ask(TAG + LINK, 'How long?').sources",
    "bench.delete(TAG + LINK)",
]
HARM = """() => [
  window.hacked, document.querySelectorAll('img[src=x], [onerror], [onclick], svg[onload]').length,
  [...document.links].filter((one) => /^(javascript|data|vbscript):/i.test(one.href)).length,
  [...document.images].filter((one) => one.src.includes('evil')).length,
].join()"""
"""The scripts that ran, and the elements that might."""


def test_hostile_names_and_texts_stay_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with spoken_model() as model, new_server(tmp_path, "--model-url", model.url) as server:
        model.answer = lambda _: {"content": ANSWER + TEXT}
        _stays_text(server, tmp_path, monkeypatch)


def _stays_text(server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_URL", server.url)
    monkeypatch.setenv("CARREL_API_KEY", server.api_key)
    path, book = tmp_path / "hostile.md", tmp_path / "book.ipynb"
    path.write_text(TEXT)
    turned = tmp_path / f"evil\u202efdp {TAG}.md"
    turned.write_text(TEXT)
    names = {"TAG": TAG, "LINK": LINK, "TURNED": str(turned), "TEXT": TEXT, "PATH": str(path)}
    given = "\n".join(f"{name} = {value!r}" for name, value in names.items())
    cells = [nbformat.v4.new_code_cell(one) for one in (given, *CELLS)]  # type: ignore[no-untyped-call]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), book)  # type: ignore[no-untyped-call]
    notebook = asyncio.run(executed(book, tmp_path))

    shown = json.dumps(outputs(notebook), ensure_ascii=False)
    assert "&lt;img src=x onerror" in shown
    assert not UNSAFE.search(shown.replace("\\n", "")), ascii(UNSAFE.findall(shown))
    states = json.dumps(notebook.metadata.get("widgets", {}))
    assert WIDGET in shown
    for private in (server.api_key, server.url, "/signed/"):
        assert private not in shown + states

    from nbconvert import HTMLExporter

    page, _ = HTMLExporter().from_notebook_node(notebook)  # type: ignore[no-untyped-call]
    (tmp_path / "book.html").write_text(page)
    asked: list[str] = []
    with chromium() as browser, browser.new_page() as alone:
        alone.on("request", lambda request: asked.append(request.url))
        alone.route("http*://**", lambda route: route.abort())
        alone.goto((tmp_path / "book.html").as_uri())
        assert alone.evaluate(HARM) == ",0,0,0"
    assert not [address for address in asked if "evil" in address]
