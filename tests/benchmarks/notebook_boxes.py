"""Boxes: a page with 300 blocks in the Document panel, until its boxes and text are on screen.

The view's own module in a real browser, with a model instead of a kernel: the time from the new
state to the next painted frame. Held against 0.5 s, and for comparison against a plain script
that puts as many buttons and paragraphs on the same page.
"""

from collections.abc import Iterable
from statistics import median

from playwright.sync_api import Page

from benchmarks.report import Figure
from support.browser import chromium
from support.views import FAKE_MODEL, document_state, mount

_BLOCKS = 300
_ROUNDS = 9

_PAINTED = "await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"
_OURS = f"""async (state) => {{
  const began = performance.now();
  kernel.state(state);
  {_PAINTED}
  return performance.now() - began;
}}"""
_PLAIN = f"""async (state) => {{
  const place = document.querySelector("#plain");
  const began = performance.now();
  place.innerHTML = state.boxes.map(({{ box: [left, top, width, height] }}) =>
    `<button style="position:absolute;left:${{left}}%;top:${{top}}%;` +
    `width:${{width}}%;height:${{height}}%"></button>`
  ).join("") + state.passages.map(({{ html }}) => html).join("");
  {_PAINTED}
  return performance.now() - began;
}}"""


def measure() -> Iterable[Figure]:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        page.set_content("<body><div id=place></div><div id=plain></div></body>")
        page.add_script_tag(path=FAKE_MODEL)
        mount(page, "document", document_state(1))
        times = [_round(page, number) for number in range(_ROUNDS)]
        drawn = page.locator(".carrel-boxes button").count()
        page.close()
    ours, plain = (median(each) for each in zip(*times, strict=True))
    detail = f"the middle of {_ROUNDS} rounds, {ours / plain:.1f} × a plain script's {plain:.2f} s"
    yield Figure(f"seconds until {drawn} boxes are drawn", ours, 0.5, "lower", detail)


def _round(page: Page, number: int) -> tuple[float, float]:
    state = document_state(_BLOCKS, source=f"f{number}")
    return page.evaluate(_OURS, state) / 1000, page.evaluate(_PLAIN, state) / 1000
