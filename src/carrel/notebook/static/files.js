/** The marks of the sample's steps. */
const STEP = { waiting: "○", running: "◐", done: "●", failed: "✕" };

/** What a link may be asked for, in hours. */
const HOURS = [[1, "1 h"], [24, "24 h"], [168, "7 days"]];

/** The Files panel: a paged grid of files, and a look into the chosen one. */
class FilesView extends View {
  constructor(host) {
    super(host, "Files");
    const { h } = this;
    this.uploads = new Uploads(this, (files) => this.ask("upload", { files }));
    this.search = searchField(this, "Filter", (text) => this.ask("search", { text }));
    this.search.title = "A part of the name; !words to leave out";
    this.facets = h("span", { class: "carrel-facets" });
    this.grid = new Grid(this, {
      label: "Files", marks: true,
      columns: [
        { label: "Name", kind: "name", name: "name" }, { label: "Purpose", name: "purpose" },
        { label: "Size", kind: "number", name: "size" }, { label: "Pages", kind: "number", name: "pages" },
        { label: "OCR", name: "ocr" }, { label: "Created", kind: "quiet", name: "created" },
      ],
      onSelect: (id) => this.ask("select", { id }),
      onOpen: (id) => this.open(id),
      onMark: (id) => this.ask("mark", { id }),
    });
    this.progress = new Progress(this);
    this.readButton = this.button("Run OCR", () => this.read());
    this.addButton = this.button("Add to library…", () => this.chooseLibrary());
    this.deleteButton = this.button("Delete…", () => this.remove());
    this.linkButton = this.button("Copy link", () => this.copyLink());
    this.hours = h("select", { "aria-label": "How long the link works" },
      ...HOURS.map(([hours, words]) => h("option", { value: hours, selected: hours === 24 }, words)));
    this.saveButton = this.button("Download", () => this.download());
    this.library = h("select", { "aria-label": "Library" });
    this.adding = h("form", { class: "carrel-question", "aria-label": "Add to library", hidden: true, onsubmit: (event) => this.add(event) },
      h("span", {}, "Add to"), this.library, h("button", { class: "carrel-button primary" }, "Add"),
      this.button("Cancel", () => { this.adding.hidden = true; this.addButton.focus(); }));
    this.sampleButton = this.button("Open the sample (1 minute)", () => this.playSample(), "primary");
    this.steps = h("ul", { class: "carrel-steps", role: "status" });
    this.sample = h("div", { class: "carrel-sample" }, this.sampleButton, this.steps);
    this.before = this.sign("‹", "Page before", () => this.ask("page", { page: this.state.page - 1 }));
    this.after = this.sign("›", "Page after", () => this.ask("page", { page: this.state.page + 1 }));
    this.range = h("span", { class: "carrel-range" });
    this.name = h("h3", {});
    this.note = h("p", { class: "note" });
    this.picture = h("img", { alt: "First page", hidden: true });
    this.text = h("pre", { class: "carrel-lines", "aria-label": "Beginning of the file" });
    this.details = new Details(this);
    this.details.element.append(
      h("div", { class: "carrel-tools" }, this.name, h("span", { class: "carrel-gap" }), this.details.close), h("div", { class: "carrel-look", tabindex: "0", role: "group", "aria-label": "Preview" }, this.picture, this.text, this.note),
      h("div", { class: "carrel-tools" }, this.linkButton, this.hours, this.saveButton));
    this.body.append(
      h("div", { class: "carrel-tools" },
        this.uploads.button, this.uploads.input, this.readButton, this.addButton, this.deleteButton,
        h("div", { class: "carrel-narrow" }, this.facets, this.search), this.details.button, this.keepFresh()),
      this.adding,
      h("div", { class: "carrel-panes" },
        h("div", { class: "carrel-pane" }, this.grid.element, this.sample, this.progress.element,
          h("div", { class: "carrel-foot" }, this.range, this.before, this.after)),
        this.details.element));
    this.key("D", "Delete", () => this.remove());
    this.key("o", "Run OCR", () => this.read());
    this.key("a", "Add to library", () => this.chooseLibrary());
    this.key("y", "Copy link", () => this.copyLink());
    this.signal.addEventListener("abort", () => this.forgetPicture());
  }

  draw(state) {
    this.state = state;
    this.grid.draw(state.rows, state.selected, state.empty, state.layout);
    this.progress.draw(state.progress);
    this.drawFacets(state.facets);
    this.drawPreview(state.preview);
    this.drawSample(state);
    fill(this.search, state.search);
    say(this.range, [state.range, state.marked.length ? `${state.marked.length} marked` : ""].filter(Boolean).join(" · "));
    this.before.disabled = state.page === 0;
    this.after.disabled = state.page >= state.last_page;
    const nothing = state.rows.length === 0;
    this.readButton.disabled = this.linkButton.disabled = this.saveButton.disabled = nothing;
    this.uploads.button.disabled = state.read_only;
    this.addButton.disabled = this.deleteButton.disabled = nothing || state.read_only;
    this.root.setAttribute("aria-busy", String(state.loading));
  }

  drawFacets(facets) {
    const { h } = this;
    keyed(this.facets, facets.map((facet) => ({ ...facet, id: facet.field })), (facet) =>
      h("select", { "aria-label": facet.name, onchange: (event) => this.ask("narrow", { field: facet.field, value: event.target.value || null }) },
        h("option", { value: "" }, `Any ${facet.name.toLowerCase()}`),
        ...facet.values.map((value) => h("option", { value }, value))),
    (node, facet) => { if (document.activeElement !== node) node.value = facet.chosen ?? ""; });
  }

  drawPreview(preview) {
    const texts = preview.kind === "text" || preview.kind === "lines";
    const name = preview.pages > 1 ? `${preview.name} · ${preview.pages} pages` : preview.name;
    say(this.name, name || "Details");
    this.name.title = name;
    say(this.note, preview.note);
    this.note.hidden = !preview.note;
    this.text.hidden = !texts || !preview.lines.length;
    if (texts) {
      keyed(this.text, preview.lines.map(([number, line], id) => ({ id, number, line })),
        () => this.h("div", {}, this.h("span", { class: "note" }), this.h("span", {})),
        (node, { number, line }) => { say(node.firstElementChild, number); say(node.lastElementChild, line); });
    }
    if (preview.of === this.pictured) return;
    this.pictured = preview.of;
    this.forgetPicture();
    if (preview.of) this.fetchPicture(preview.of);
  }

  async fetchPicture(id) {
    const width = Math.round((this.details.element.clientWidth || 280) * devicePixelRatio);
    const bytes = await this.ask("picture", { width });
    if (this.pictured !== id || this.signal.aborted) return;
    if (!bytes) {
      // With the next state it is asked for again.
      this.pictured = null;
      return;
    }
    this.url = pictureUrl(bytes);
    this.picture.src = this.url;
    this.picture.hidden = false;
  }

  forgetPicture() {
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = null;
    this.picture.removeAttribute("src");
    this.picture.hidden = true;
  }

  drawSample({ sample, loaded, narrowed, rows, read_only: readOnly }) {
    const invited = loaded && !narrowed && !rows.length && !readOnly;
    this.sampleButton.hidden = !invited || sample.running;
    this.steps.hidden = !sample.running;
    this.sample.hidden = this.sampleButton.hidden && this.steps.hidden;
    keyed(this.steps, sample.steps.map((step, id) => ({ ...step, id })), () => this.h("li", {}),
      (node, step) => { say(node, `${STEP[step.status]} ${step.words}`); node.dataset.role = { running: "busy", done: "ready" }[step.status] ?? "waiting"; });
  }

  async playSample() {
    if ((await this.ask("sample")) !== undefined) this.goto("Chat");
  }

  async open(id) {
    if (id === null) return;
    if ((await this.ask("open", { id })) !== undefined) this.goto("Document");
  }

  read() {
    const ids = this.chosen();
    const start = async () => {
      if ((await this.ask("read", { ids, batch: false })) !== undefined) this.goto("Activity");
    };
    if (!this.state.marked.length) this.open(this.grid.cursor);
    else if (!this.state.service) start();
    else this.confirm(`Run OCR of ${counted(ids.length)}? ${this.state.service}`, "Run OCR", start, this.asBatch(ids));
  }

  /** The other way to read many files: one batch job. */
  asBatch(ids) {
    const [name, differs] = this.state.as_a_batch;
    if (ids.length < 2) return undefined;
    return { verb: name, words: differs, action: async () => {
      if ((await this.ask("read", { ids, batch: true })) !== undefined) this.goto("Activity");
    } };
  }

  async copyLink() {
    const link = await this.ask("link", { id: this.grid.cursor, hours: Number(this.hours.value) });
    if (!link) return;
    await navigator.clipboard.writeText(link.url);
    this.tell(`Copied. ${link.words}`);
  }

  /** The browser fetches the file itself, by an address that works for an hour. */
  async download() {
    const signed = await this.ask("link", { id: this.grid.cursor, hours: 1 });
    if (!signed) return;
    const link = this.h("a", { href: signed.url, download: "", rel: "noreferrer", hidden: true });
    this.root.append(link);
    link.click();
    link.remove();
  }

  /** The ids of the marked files, on whatever page, else of the one under the cursor. */
  chosen() {
    if (this.state.marked.length) return this.state.marked;
    return this.state.rows.some((row) => row.id === this.grid.cursor) ? [this.grid.cursor] : [];
  }

  async chooseLibrary() {
    if (this.addButton.disabled) return;
    const libraries = await this.ask("libraries");
    if (!libraries) return;
    if (!libraries.length) {
      this.tell("There are no libraries yet. Make one in Libraries.");
      return;
    }
    this.library.replaceChildren(...libraries.map((one) => this.h("option", { value: one.id }, one.name)));
    this.adding.hidden = false;
    this.library.focus();
  }

  async add(event) {
    event.preventDefault();
    this.adding.hidden = true;
    if ((await this.ask("add", { ids: this.chosen(), library: this.library.value })) !== undefined) this.goto("Libraries");
  }

  remove() {
    const ids = this.chosen();
    if (!ids.length || this.state.read_only) return;
    const only = ids.length === 1 && this.state.rows.find((row) => row.id === ids[0]);
    const what = only ? `“${only.cells[0]}”` : counted(ids.length);
    this.confirm(`Delete ${what}? ${this.state.way_back} ${this.state.service}`, "Delete", () => this.ask("delete", { ids }));
  }
}

/** @param {number} number */
function counted(number) {
  return number === 1 ? "1 file" : `${number} files`;
}

export default { render: (host) => new FilesView(host).start() };
