const ZOOMS = [0.5, 0.75, 1, 1.5, 2, 3, 4];
const FORMATS = { markdown: ["Markdown", "md"], json: ["JSON", "json"], csv: ["Tables (CSV)", "zip"], images: ["Pictures", "zip"] };
const MARGIN = 16;
const SIGNS = { same: " ", added: "+", removed: "−" };

/** The Document panel: the page's picture with its boxes, beside what was read from it. */
class DocumentView extends View {
  constructor(host) {
    super(host, "Document");
    const { h } = this;
    this.form = "rendered";
    this.zoom = ZOOMS.indexOf(1);
    this.filling = false;
    this.build();
    this.opened = h("div", { class: "carrel-pane" },
      h("div", { class: "carrel-tools" }, this.title, h("span", { class: "carrel-gap" }),
        this.reading, this.readButton, this.stopButton, this.again, this.formButton, this.correctButton, this.copyMenu, this.saveMenu, this.corner()),
      this.readingForm.element,
      this.corrections.element,
      this.ways.contents,
      this.ways.thumbnails,
      h("div", { class: "carrel-panes" },
        this.sheetPane,
        h("div", { class: "carrel-pane" }, this.text,
          h("div", { class: "carrel-foot" }, this.search, this.markBefore, this.markAfter, h("span", { class: "carrel-gap" }), this.sure))),
      h("div", { class: "carrel-foot" }, this.pages, h("span", { class: "carrel-gap" }), this.note, this.contentsButton, this.thumbnailsButton, this.before, this.number, this.ofPages, this.after));
    this.body.append(this.empty, this.opened);
    this.bindKeys();
    this.shown = null;
    this.signal.addEventListener("abort", () => this.release());
  }

  build() {
    const { h } = this;
    this.title = h("h3", {});
    this.reading = h("span", { class: "carrel-range" });
    this.stopButton = this.button("■ Stop", () => this.ask("stop"));
    this.readButton = this.button("Run OCR", () => this.readPages());
    this.readingForm = new ReadingForm(this, (options) => this.ask("read_again", { options }));
    this.again = this.button("Options…", () => this.readingForm.toggle(this.readingForm.element.hidden, this.state.options, this.state.billed, this.state.readers));
    this.formButton = this.button("Markdown", () => this.nextForm());
    this.corrections = new Corrections(this);
    this.correctButton = this.button("Correct…", () => this.corrections.open());
    this.copyMenu = this.menu("Copy…", (what) => this.copyPart(what));
    this.saveMenu = this.menu("Save…", (format) => this.save(format));
    this.fillMenu(this.saveMenu, Object.entries(FORMATS).map(([format, [words]]) => [format, words]));
    this.picture = h("img", { alt: "", draggable: "false" });
    // One listener for all boxes: there may be hundreds.
    this.boxes = h("div", {
      class: "carrel-boxes", role: "group", "aria-label": "Blocks of the page",
      onclick: (event) => this.choose(event.target),
      onfocusin: (event) => { if (event.target.matches(":focus-visible")) this.choose(event.target); },
    });
    this.place = h("div", { class: "carrel-place", hidden: true });
    this.sheet = h("div", { class: "carrel-sheet" }, this.picture, this.place, this.boxes);
    this.stage = h("div", { class: "carrel-stage" }, this.sheet);
    this.text = h("div", { class: "carrel-scroll carrel-text", tabindex: "0", "aria-label": "Text" });
    this.sure = h("span", { class: "carrel-range", role: "status" });
    this.note = h("span", { class: "carrel-range" });
    this.blockWords = h("span", { class: "carrel-range", role: "status" });
    this.search = searchField(this, "Find in the text", (text) => this.ask("find", { text }));
    this.markBefore = this.sign("[", "Mark before", () => this.ask("mark", { by: -1 }));
    this.markAfter = this.sign("]", "Next mark: doubtful word or hit", () => this.ask("mark", { by: 1 }));
    this.smaller = this.sign("−", "Smaller", () => this.setZoom(this.zoom - 1));
    this.larger = this.sign("+", "Larger", () => this.setZoom(this.zoom + 1));
    this.fill = this.sign("Fill", "Fill with block", () => this.toggleFill());
    this.sheetPane = h("div", { class: "carrel-pane page" }, this.stage,
      h("div", { class: "carrel-foot" }, this.smaller, this.larger, this.fill, h("span", { class: "carrel-gap" }), this.blockWords));
    this.pages = h("nav", { class: "carrel-pages", "aria-label": "Pages" });
    this.before = this.sign("‹", "Page before", () => this.go(this.state.page - 1));
    this.after = this.sign("›", "Page after", () => this.go(this.state.page + 1));
    this.number = h("input", {
      type: "number", min: 1, class: "carrel-number", "aria-label": "Page", onchange: () => this.goToNumber(),
      onkeydown: (event) => { if (event.key === "Enter") this.root.focus(); },
    });
    this.ofPages = h("span", { class: "carrel-range" });
    this.ways = new PageWays(this);
    this.contentsButton = this.button("Contents…", () => this.ways.showContents(), "small");
    this.thumbnailsButton = this.button("Thumbnails…", () => this.ways.showThumbnails(), "small");
    this.empty = h("div", { class: "carrel-empty" });
  }

  /** Goes to the page whose number was typed; a number that is no page is taken back. */
  goToNumber() {
    const page = Number(this.number.value) - 1;
    if (!Number.isInteger(page) || !this.go(page)) this.number.value = String(this.state.page + 1);
  }

  bindKeys() {
    const turn = (by) => () => this.go(this.state.page + by);
    const ask = (name, by) => () => this.ask(name, { by });
    const zoom = (by) => () => this.setZoom(this.zoom + by);
    /** @type {[string[], string, () => void][]} */
    const keys = [
      [["h", "ArrowLeft", "PageUp"], "Page before", turn(-1)], [["l", "ArrowRight", "PageDown"], "Next page", turn(1)],
      [["j"], "Next block", ask("step", 1)], [["k"], "Block before", ask("step", -1)],
      [["]"], "Next mark: doubtful word or hit", ask("mark", 1)], [["["], "Mark before", ask("mark", -1)],
      [["+", "="], "Larger", zoom(1)], [["-"], "Smaller", zoom(-1)],
      [["z"], "Fill with block", () => this.toggleFill()], [["v"], "Form of the text", () => this.nextForm()],
      [["p"], "Page by number", () => this.number.select()], [["c"], "Contents", () => this.ways.showContents()],
      [["t"], "Thumbnails", () => this.ways.showThumbnails()],
      [["e"], "Correct words", () => this.corrections.open()], [["o"], "OCR options", () => this.again.click()],
      [["r"], "Run OCR", () => { if (!this.readButton.hidden) this.readPages(); }],
      [["Escape"], "Back", () => this.back()],
    ];
    for (const [names, words, action] of keys) {
      names.forEach((name, at) => this.key(name, at ? "" : words, () => { if (this.state.source !== null) action(); }));
    }
  }

  readPages() {
    const { large, unread, billed } = this.state;
    const read = () => this.ask("read");
    if (large) this.confirm(`Run OCR of ${unread.toLocaleString("en")} pages? ${billed}`, "Run OCR", read);
    else read();
  }

  draw(state) {
    this.state = state;
    const none = state.source === null;
    this.empty.hidden = !none;
    this.opened.hidden = none;
    say(this.empty, state.empty);
    if (state.source !== this.correcting) {
      this.corrections.close();
      this.ways.close();
    }
    this.correcting = state.source;
    if (none) return;
    say(this.title, state.title);
    say(this.reading, state.progress);
    this.stopButton.hidden = !state.reading;
    this.readButton.hidden = state.reading || state.loading || state.read;
    this.again.hidden = state.loading;
    say(this.sure, state.mark_words || [state.confidence, state.corrected].filter(Boolean).join(" · "));
    say(this.note, [state.option_words, state.note].filter(Boolean).join(" · "));
    say(this.blockWords, state.block_words);
    fill(this.search, state.query);
    this.before.disabled = state.page === 0;
    this.after.disabled = state.page_count === null || state.page >= state.page_count - 1;
    this.drawPages(state);
    this.drawMenus(state);
    this.drawText(state);
    this.drawBoxes(state);
    this.drawChosen(state);
    this.drawPicture(state);
    this.root.setAttribute("aria-busy", String(state.loading || state.reading));
  }

  /** Goes to a page; returns whether there is one of that number. */
  go(page) {
    const { page_count: count } = this.state;
    const known = page >= 0 && (count === null || page < count);
    if (known) this.ask("go", { page });
    return known;
  }

  back() {
    if (!this.readingForm.element.hidden) this.readingForm.toggle(false);
    else if (!this.corrections.element.hidden) this.corrections.close();
    else if (this.ways.close()) this.root.focus();
    else if (this.filling) this.toggleFill();
    else if (this.state.query) this.ask("find", { text: "" });
    else this.ask("choose", { block: null });
  }

  drawPages(state) {
    const { h } = this;
    const several = (state.page_count ?? 1) > 1;
    for (const node of [this.number, this.ofPages, this.before, this.after, this.thumbnailsButton]) node.hidden = !several;
    say(this.ofPages, several ? `of ${state.page_count.toLocaleString("en")}` : "");
    this.number.max = state.page_count ?? 1;
    if (document.activeElement !== this.number) this.number.value = String(state.page + 1);
    // Without buttons, which are not sent of many pages, the field goes to them.
    this.pages.hidden = !state.pages.length;
    keyed(this.pages, state.pages.map((page) => ({ ...page, id: page.page })), (page) =>
      h("button", { type: "button", onclick: () => this.go(page.page) }), (node, page) => {
      say(node, page.text);
      node.title = page.state;
      node.toggleAttribute("data-current", page.page === state.page);
      if (page.page === state.page) node.setAttribute("aria-current", "page");
      else node.removeAttribute("aria-current");
    });
  }

  // the text

  forms() {
    const { changes, annotation } = this.state;
    return ["rendered", "raw", ...(changes.length ? ["changes"] : []), ...(annotation ? ["schema"] : [])];
  }

  nextForm() {
    const forms = this.forms();
    this.form = forms[(forms.indexOf(this.form) + 1) % forms.length];
    this.draw(this.state);
  }

  drawText(state) {
    if (!this.forms().includes(this.form)) this.form = "rendered";
    say(this.formButton, { rendered: "Rendered", raw: "Markdown", changes: "Changes", schema: "Schema" }[this.form]);
    const drawn = JSON.stringify([state.source, state.page, state.passages, state.markdown, state.changes, state.annotation, state.no_text, this.form]);
    if (drawn === this.drawnText) return;
    this.drawnText = drawn;
    this.drawnBlock = undefined;
    const { h } = this;
    if (this.form === "changes") this.text.replaceChildren(...state.changes.map((line) => this.changedLine(line)));
    else if (this.form === "schema") this.text.replaceChildren(h("pre", {}, state.annotation));
    else if (state.no_text) this.text.replaceChildren(h("p", { class: "carrel-empty" }, state.no_text));
    else this.text.replaceChildren(...state.passages.map((passage) => this.passage(passage)));
  }

  passage({ html, raw, block }) {
    const node = this.h("div", {
      class: "carrel-block", "data-block": block,
      onclick: () => { if (block !== null && !window.getSelection()?.toString()) this.ask("choose", { block }); },
    });
    if (this.form === "raw") node.append(this.h("pre", {}, raw));
    else node.innerHTML = html; // made by the kernel's one Markdown renderer, raw HTML off
    return node;
  }

  changedLine({ change, spans }) {
    const { h } = this;
    const parts = spans.map(([text, kind]) => (kind === "same" ? text : h("mark", { class: kind }, text)));
    return h("div", { class: `carrel-line ${change}` }, `${SIGNS[change]} `, ...parts);
  }

  // the boxes

  drawBoxes(state) {
    const drawn = JSON.stringify([state.source, state.page, state.boxes]);
    if (drawn === this.drawnBoxes) return;
    this.drawnBoxes = drawn;
    this.drawnBlock = undefined;
    const { h } = this;
    const fragment = document.createDocumentFragment();
    for (const { block, words, doubtful, box } of state.boxes) {
      const node = h("button", { type: "button", "data-block": block, "aria-label": words, title: words, class: doubtful ? "doubtful" : "" });
      const [left, top, width, height] = box;
      node.style.cssText = `left:${left}%;top:${top}%;width:${width}%;height:${height}%`;
      fragment.append(node);
    }
    this.boxes.replaceChildren(fragment);
  }

  choose(node) {
    const block = Number(node.dataset.block);
    if (node.matches("button") && block !== this.state.block) this.ask("choose", { block });
  }

  /** Marks the chosen block on both sides and brings it into view. */
  drawChosen(state) {
    const { block, place } = state;
    this.place.hidden = place === null || block !== null;
    if (place) this.place.style.cssText = `left:${place[0]}%;top:${place[1]}%;width:${place[2]}%;height:${place[3]}%`;
    const drawn = JSON.stringify([state.page, block, place, state.mark_words]);
    if (drawn === this.drawnBlock) return;
    this.drawnBlock = drawn;
    for (const side of [this.boxes, this.text]) {
      for (const node of side.children) {
        const chosen = block !== null && node.dataset.block === String(block);
        node.classList.toggle("marked", chosen);
        if (side === this.boxes) node.setAttribute("aria-pressed", String(chosen));
      }
    }
    reveal(this.text, this.text.querySelector("mark.chosen") ?? this.text.querySelector(".marked"), { margin: MARGIN });
    if (this.filling) this.layOut();
    else reveal(this.stage, this.boxes.querySelector(".marked") ?? (place ? this.place : null), { margin: MARGIN });
  }

  // the picture

  setZoom(zoom) {
    this.zoom = Math.min(Math.max(zoom, 0), ZOOMS.length - 1);
    this.filling = false;
    this.layOut();
  }

  toggleFill() {
    if (!this.filling && this.state.block === null) { this.tell(ADVICE.CHOOSE_BLOCK); return; }
    this.filling = !this.filling;
    this.layOut();
  }

  /** Gives the page its width: the pane's, zoomed, or so that the chosen block fills the pane. */
  layOut() {
    const box = this.filling && this.boxes.querySelector(".marked");
    const scale = box ? Math.min(100 / parseFloat(box.style.width), 6) : ZOOMS[this.zoom];
    this.sheet.style.width = `${scale * 100}%`;
    this.sheet.style.maxWidth = scale === 1 ? "" : "none";
    this.fill.setAttribute("aria-pressed", String(Boolean(box)));
    if (box) reveal(this.stage, box, { start: true, margin: MARGIN });
    this.drawPicture(this.state);
  }

  async drawPicture(state) {
    this.sheetPane.hidden = state.no_picture !== null;
    if (!state.has_picture) return;
    const width = Math.min(3200, Math.ceil((this.sheet.clientWidth || 700) * window.devicePixelRatio));
    const page = `${state.source} ${state.page}`;
    const wanted = `${page} ${width}`;
    if (wanted === this.wanted) return;
    const turned = !this.wanted?.startsWith(`${page} `);
    this.wanted = wanted;
    this.picture.alt = state.title;
    this.sheet.classList.toggle("turning", turned);
    const png = await this.ask("picture", { page: state.page, width });
    if (this.wanted !== wanted || this.signal.aborted) return;
    if (!png) {
      // With the next state it is asked for again.
      this.wanted = null;
      return;
    }
    this.release();
    this.shown = pictureUrl(png);
    this.picture.src = this.shown;
    this.sheet.classList.remove("turning");
  }

  release() {
    if (this.shown) URL.revokeObjectURL(this.shown);
    this.shown = null;
  }

  // taking it along

  menu(label, act) {
    const select = this.h("select", { class: "carrel-menu", "aria-label": label, onchange: () => {
      act(select.value);
      select.value = "";
    } });
    select.dataset.label = label;
    return select;
  }

  fillMenu(menu, offers) {
    const drawn = JSON.stringify(offers);
    if (menu.dataset.drawn === drawn) return;
    menu.dataset.drawn = drawn;
    menu.replaceChildren(this.h("option", { value: "" }, menu.dataset.label),
      ...offers.map(([value, words]) => this.h("option", { value }, words)));
  }

  drawMenus(state) {
    const tables = [...Array(state.tables).keys()].flatMap((n) =>
      [[`csv ${n}`, `Table ${n + 1} as CSV`], [`markdown ${n}`, `Table ${n + 1} as Markdown`]]);
    const page = state.markdown === null ? [] : [["page", "This page"]];
    this.fillMenu(this.copyMenu, [...tables, ...page, ...(state.annotation ? [["schema", "The answer in the schema"]] : [])]);
  }

  async copyPart(what) {
    const [form, number] = what.split(" ");
    const texts = { page: this.state.markdown, schema: this.state.annotation };
    this.copy(texts[what] ?? await this.ask("table", { number: Number(number), form }));
  }

  async save(format) {
    const stem = this.state.title.split(" · page ")[0].replace(/\.\w+$/, "");
    this.keepFile(await this.ask("export", { form: format }), `${stem}.${FORMATS[format][1]}`);
  }
}

export default { render: (host) => new DocumentView(host).start() };
