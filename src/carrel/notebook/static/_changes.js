/** What differs between two versions, field by field: below one another or side by side. */
class Changes {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.split = false;
    this.rows = [];
    this.element = view.h("dl", { class: "carrel-diff" });
    this.toggle = view.h("button", {
      type: "button", class: "carrel-button small", "aria-pressed": "false", onclick: () => this.turn(),
    }, "Side by side");
  }

  turn() {
    this.split = !this.split;
    this.toggle.setAttribute("aria-pressed", String(this.split));
    this.fill();
  }

  /** @param {any[]} rows */
  draw(rows) {
    const text = JSON.stringify(rows);
    if (text === this.drawn) return;
    this.drawn = text;
    this.rows = rows;
    this.fill();
  }

  fill() {
    const { h } = this.view;
    this.toggle.hidden = !this.rows.some((row) => row.hunks.length);
    this.element.replaceChildren(...this.rows.flatMap((row) => [
      h("dt", { class: row.depth ? "part" : "", "data-change": row.change }, row.field),
      h("dd", { "data-change": row.change }, h("div", {}, row.words), ...row.hunks.flatMap((hunk) => this.hunk(hunk))),
    ]));
  }

  hunk(hunk) {
    const { h } = this.view;
    const gap = hunk.gap ? [h("div", { class: "gap" }, hunk.gap)] : [];
    const side = (index) => (index === null ? h("div", { class: "line" }) : this.line(hunk.lines[index]));
    return [...gap, ...(this.split
      ? hunk.pairs.map(([old, now]) => h("div", { class: "pair" }, side(old), side(now)))
      : hunk.lines.map((line) => this.line(line)))];
  }

  line(line) {
    const { h } = this.view;
    const spans = line.spans.map((span) => (
      { added: h("ins", {}, span.text), removed: h("del", {}, span.text) }[span.change] ?? span.text));
    return h("div", { class: `line ${line.change}` }, h("span", { class: "sign" }, `${line.sign} `), h("span", {}, ...spans));
  }

  /** Goes to the next change, or the one before. @param {number} step */
  go(step) {
    const changes = [...this.element.querySelectorAll("dt:not([data-change=same])")];
    if (!changes.length) return;
    const here = changes.indexOf(document.activeElement);
    const next = changes[Math.max(0, Math.min(changes.length - 1, here + step))];
    next.tabIndex = -1;
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
}
