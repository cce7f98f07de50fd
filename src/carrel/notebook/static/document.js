/** The Document panel: the page's picture with its boxes, beside what was read from it. */
class DocumentView extends View {
  constructor(host) {
    super(host, "Document");
    const { h } = this;
    this.title = h("h3", {});
    this.reading = h("span", { class: "carrel-range" });
    this.stopButton = this.button("■ Stop", () => this.ask("stop"));
    this.readButton = this.button("Run OCR", () => this.ask("read"));
    this.rawButton = this.button("Markdown", () => this.toggleRaw());
    this.rawButton.setAttribute("aria-pressed", "false");
    this.raw = false;
    this.picture = h("img", { alt: "", draggable: "false" });
    this.boxes = h("div", { class: "carrel-boxes" });
    this.sheet = h("div", { class: "carrel-sheet" }, this.picture, this.boxes);
    this.noPicture = h("div", { class: "carrel-empty", hidden: true });
    this.stage = h("div", { class: "carrel-stage" }, this.sheet, this.noPicture);
    this.text = h("div", { class: "carrel-scroll carrel-text" });
    this.sure = h("span", { class: "carrel-range" });
    this.pages = h("nav", { class: "carrel-pages", "aria-label": "Pages" });
    this.before = this.button("‹", () => this.go(this.state.page - 1), "small");
    this.before.setAttribute("aria-label", "Page before");
    this.after = this.button("›", () => this.go(this.state.page + 1), "small");
    this.after.setAttribute("aria-label", "Page after");
    this.empty = h("div", { class: "carrel-empty" });
    this.content = h("div", { class: "carrel-pane" },
      h("div", { class: "carrel-tools" }, this.title, h("span", { class: "carrel-gap" }), this.reading, this.readButton, this.stopButton, this.rawButton),
      h("div", { class: "carrel-panes" },
        h("div", { class: "carrel-pane page" }, this.stage),
        h("div", { class: "carrel-pane" }, this.text)),
      h("div", { class: "carrel-foot" }, this.pages, h("span", { class: "carrel-gap" }), this.sure, this.before, this.after));
    this.body.append(this.empty, this.content);
    for (const [key, step] of Object.entries({ h: -1, ArrowLeft: -1, PageUp: -1, l: 1, ArrowRight: 1, PageDown: 1 })) {
      this.key(key, () => this.go(this.state.page + step));
    }
    this.key("j", () => this.step(1));
    this.key("k", () => this.step(-1));
    this.key("o", () => { if (!this.readButton.hidden) this.ask("read"); });
    this.key("v", () => this.toggleRaw());
    this.shown = null;
    this.signal.addEventListener("abort", () => this.release());
  }

  draw(state) {
    this.state = state;
    const none = state.source === null;
    this.empty.hidden = !none;
    this.content.hidden = none;
    say(this.empty, state.empty);
    if (none) return;
    say(this.title, state.title);
    say(this.reading, state.progress);
    this.stopButton.hidden = !state.reading;
    this.readButton.hidden = state.reading || state.loading || state.read;
    say(this.sure, state.confidence);
    this.before.disabled = state.page === 0;
    this.after.disabled = state.page_count === null || state.page >= state.page_count - 1;
    this.drawPages(state);
    this.drawText(state);
    this.drawPicture(state);
    this.root.setAttribute("aria-busy", String(state.loading || state.reading));
  }

  go(page) {
    const { page_count: count } = this.state;
    if (page >= 0 && (count === null || page < count)) this.ask("go", { page });
  }

  drawPages(state) {
    const { h } = this;
    keyed(this.pages, state.pages.map((page) => ({ ...page, id: page.page })), (page) =>
      h("button", { type: "button", onclick: () => this.go(page.page) }), (node, page) => {
      say(node, page.text);
      node.title = page.state;
      node.toggleAttribute("data-current", page.page === state.page);
      if (page.page === state.page) node.setAttribute("aria-current", "page");
      else node.removeAttribute("aria-current");
    });
  }

  drawText(state) {
    const drawn = JSON.stringify([state.source, state.page, state.blocks, this.raw]);
    if (drawn === this.drawnText) return;
    this.drawnText = drawn;
    const { h } = this;
    if (state.markdown === null) {
      this.text.replaceChildren(h("p", { class: "carrel-empty" }, state.waiting));
    } else if (this.raw) {
      this.text.replaceChildren(h("pre", {}, state.markdown));
    } else {
      this.text.replaceChildren(...state.blocks.map((block, index) => {
        const node = h("div", { class: "carrel-block", onpointerenter: () => this.mark(index), onpointerleave: () => this.mark(null) });
        node.innerHTML = block.html; // made by the kernel's one Markdown renderer, raw HTML off
        return node;
      }));
    }
    this.drawBoxes(state.blocks);
  }

  drawBoxes(blocks) {
    const { h } = this;
    this.boxes.replaceChildren(...blocks.flatMap((block, index) => {
      if (!block.box) return [];
      const box = h("button", {
        type: "button", "data-index": index, "aria-label": `${block.type} ${index + 1} of ${blocks.length}`, title: block.type,
        onpointerenter: () => this.mark(index), onpointerleave: () => this.mark(null),
        onfocus: () => this.mark(index, true), onblur: () => this.mark(null),
        onclick: () => this.mark(index, true),
      });
      const [left, top, width, height] = block.box;
      Object.assign(box.style, { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%` });
      return [box];
    }));
  }

  /** Marks one block on both sides. */
  mark(index, scroll = false) {
    for (const box of this.boxes.children) box.classList.toggle("marked", Number(box.dataset.index) === index);
    [...this.text.children].forEach((block, at) => {
      block.classList.toggle("marked", at === index);
      if (at === index && scroll) block.scrollIntoView({ block: "nearest" });
    });
  }

  /** Moves the focus to the next or the former box. */
  step(by) {
    const boxes = [...this.boxes.children];
    const at = boxes.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : boxes.length - 1) : Math.min(Math.max(at + by, 0), boxes.length - 1);
    boxes[next]?.focus();
  }

  toggleRaw() {
    this.raw = !this.raw;
    this.rawButton.setAttribute("aria-pressed", String(this.raw));
    this.drawText(this.state);
  }

  async drawPicture(state) {
    say(this.noPicture, state.no_picture ?? "");
    this.noPicture.hidden = state.no_picture === null;
    this.sheet.hidden = state.no_picture !== null;
    if (!state.has_picture) return;
    const wanted = `${state.source} ${state.page}`;
    if (wanted === this.wanted) return;
    this.wanted = wanted;
    this.picture.alt = state.title;
    this.sheet.classList.add("turning");
    const width = Math.min(1600, Math.ceil((this.stage.clientWidth || 700) * window.devicePixelRatio));
    const png = await this.ask("picture", { page: state.page, width });
    if (!png || this.wanted !== wanted || this.signal.aborted) return;
    this.release();
    this.shown = URL.createObjectURL(new Blob([png], { type: "image/png" }));
    this.picture.src = this.shown;
    this.sheet.classList.remove("turning");
  }

  release() {
    if (this.shown) URL.revokeObjectURL(this.shown);
    this.shown = null;
  }
}

export default { render: (host) => new DocumentView(host).start() };
