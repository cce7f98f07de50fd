/** The Library panel: libraries at the left, one library's documents or search hits beside them. */
class LibraryView extends View {
  constructor(host) {
    super(host, "Libraries");
    const { h } = this;
    this.list = new ChoiceList(this, "Libraries", (id) => this.ask("choose", { library: id }));
    this.name = h("input", { "aria-label": "Name of the new library", placeholder: "New library", required: true });
    this.create = h("form", { class: "carrel-tools", onsubmit: (event) => this.add(event) },
      this.name, h("button", { class: "carrel-button" }, "New"));
    this.name.style.flex = "1";
    this.side = h("div", { class: "carrel-pane list" }, this.list.element, this.create);
    this.uploads = new Uploads(this, (files) => this.ask("upload", { library: this.state.selected, files }));
    this.search = searchField(this, "Search in the library", (text) => this.ask("search", { text }));
    this.openButton = this.button("Open", () => this.open(this.grid.cursor));
    this.againButton = this.button("Reprocess…", () => this.reprocess());
    this.renameButton = this.button("Rename…", () => this.openRename());
    this.deleteButton = this.button("Delete…", () => this.remove());
    this.title = h("h3", {});
    this.grid = new Grid(this, {
      label: "Documents",
      columns: [
        { label: "Document", kind: "name", name: "name" }, { label: "Status", name: "status" },
        { label: "Pages", kind: "number", name: "pages" }, { label: "Added", kind: "quiet", name: "added" },
        { label: "Summary", kind: "summary quiet", name: "summary", sorts: false },
      ],
      onSelect: (id) => this.ask("select", { document: id }),
      onOpen: (id) => this.open(id),
    });
    this.hits = h("ol", { class: "carrel-hits", "aria-label": "Passages found" });
    this.progress = new Progress(this);
    this.before = this.sign("‹", "Page before", () => this.ask("page", { page: this.state.page - 1 }));
    this.after = this.sign("›", "Page after", () => this.ask("page", { page: this.state.page + 1 }));
    this.range = h("span", { class: "carrel-range" });
    this.foot = h("div", { class: "carrel-foot" }, this.range, this.before, this.after);
    this.newName = h("input", { "aria-label": "New name", required: true });
    this.renaming = h("form", { class: "carrel-question", "aria-label": "Rename", hidden: true, onsubmit: (event) => this.rename(event) },
      this.newName, h("button", { class: "carrel-button primary" }, "Rename"),
      this.button("Cancel", () => { this.renaming.hidden = true; this.renameButton.focus(); }));
    this.detailName = h("h3", {});
    this.detailStatus = h("p", {});
    this.facts = h("dl", { class: "carrel-facts" });
    this.summary = h("p", { class: "summary" });
    this.textButton = this.button("Text", () => this.ask("text", { library: this.state.selected, document: this.grid.cursor }), "small");
    this.text = h("pre", { class: "carrel-plain", tabindex: "0", "aria-label": "Text of the document" });
    this.details = new Details(this);
    this.details.element.append(h("div", { class: "carrel-scroll" }, this.details.close, this.detailName, this.detailStatus, this.facts, this.summary, this.textButton, this.text));
    this.folders = new Folders(this);
    this.body.append(h("div", { class: "carrel-panes" }, this.side, h("div", { class: "carrel-pane" },
      h("div", { class: "carrel-tools" }, this.title, h("span", { class: "carrel-gap" }),
        this.uploads.button, this.uploads.input, this.folders.button, this.openButton, this.againButton, this.renameButton, this.deleteButton, this.details.button, this.search, this.keepFresh()),
      this.renaming, this.folders.form, this.grid.element, this.hits, this.folders.list, this.progress.element, this.foot),
    this.details.element));
    this.on("typed", ({ text }) => { this.search.value = text; });
    this.key("n", "New library", () => this.name.focus());
    this.key("D", "Delete", () => this.remove());
    this.key("R", "Reprocess", () => this.reprocess());
    this.key("e", "Rename", () => this.openRename());
  }

  draw(state) {
    this.state = state;
    this.side.hidden = state.single;
    this.list.draw(state.libraries, state.selected);
    say(this.title, state.title);
    fill(this.search, state.query);
    const searching = state.query !== "";
    this.grid.element.hidden = searching;
    this.hits.hidden = !searching;
    this.grid.draw(state.rows, state.document, state.empty, state.layout);
    this.drawHits(state.hits);
    this.drawDetails(state.details);
    this.foot.hidden = searching || !state.rows.length;
    this.details.element.hidden = this.details.button.hidden = searching;
    say(this.range, state.range);
    this.before.disabled = state.page === 0;
    this.after.disabled = state.page >= state.last_page;
    this.progress.draw(state.progress);
    this.folders.draw(state.folders, !state.read_only && state.selected !== null);
    const nothing = state.rows.length === 0 || searching;
    this.openButton.disabled = nothing;
    this.againButton.disabled = nothing || state.read_only;
    // Without a document they are about the library itself.
    this.renameButton.disabled = this.deleteButton.disabled = state.selected === null || state.read_only;
    this.uploads.button.disabled = state.read_only || state.selected === null;
    this.search.disabled = state.selected === null;
    this.create.hidden = state.read_only;
    this.root.setAttribute("aria-busy", String(state.loading));
  }

  drawHits(hits) {
    const { h } = this;
    keyed(this.hits, hits, (hit) => {
      const open = h("button", { type: "button", onclick: () => this.openHit(hit.id) },
        h("span", { class: "where" }), h("span", { class: "passage" }));
      return h("li", {}, open);
    }, (node, hit) => {
      const [where, passage] = node.firstElementChild.children;
      say(where, hit.where);
      passage.replaceChildren(...marked(h, hit.passage));
    });
    if (!hits.length) {
      this.hits.replaceChildren(h("li", { class: "carrel-empty" }, this.state.searching ? "Searching …" : "No passage found."));
    }
  }

  async add(event) {
    event.preventDefault();
    const name = this.name.value.trim();
    if (name && (await this.ask("create", { name })) !== undefined) this.name.value = "";
  }

  drawDetails(details) {
    const { h } = this;
    say(this.detailName, details.name);
    sayBadge(this.detailStatus, details.status);
    this.facts.replaceChildren(...details.facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
    say(this.summary, details.summary);
    this.textButton.hidden = !details.name || details.text !== null;
    this.text.hidden = details.text === null;
    say(this.text, details.text ?? "");
  }

  async open(id) {
    if (id !== null && (await this.ask("open", { document: id })) !== undefined) this.goto("Document");
  }

  async openHit(number) {
    if ((await this.ask("open_hit", { number })) !== undefined) this.goto("Document");
  }

  openRename() {
    if (this.renameButton.disabled) return;
    this.renaming.hidden = false;
    // As they are now: others may be chosen by the time the new name is typed.
    const document = this.chosen();
    const library = this.state.libraries.find((one) => one.id === this.state.selected);
    this.renamed = { library: this.state.selected, document: document?.id ?? null };
    this.newName.value = document ? document.cells[0] : library?.name ?? "";
    this.newName.focus();
    this.newName.select();
  }

  async rename(event) {
    event.preventDefault();
    const name = this.newName.value.trim();
    if (name && (await this.ask("rename", { ...this.renamed, name })) !== undefined) this.renaming.hidden = true;
  }

  chosen() {
    return this.state.rows.find((row) => row.id === this.grid.cursor);
  }

  reprocess() {
    const row = this.chosen();
    if (!row || this.state.read_only) return;
    const library = this.state.selected;
    this.confirm(`Process “${row.cells[0]}” again? ${this.state.service}`, "Reprocess",
      () => this.ask("reprocess", { library, document: row.id }));
  }

  /** Removes the chosen document, or a library that has none. */
  remove() {
    if (this.deleteButton.disabled) return;
    const row = this.chosen();
    const library = this.state.libraries.find((one) => one.id === this.state.selected);
    if (row && library) {
      this.confirm(`Delete “${row.cells[0]}” from this library? ${this.state.way_back} ${this.state.service}`, "Delete",
        () => this.ask("delete", { library: library.id, document: row.id }));
    } else if (library) {
      this.confirm(`Delete the library “${library.name}”? ${this.state.way_back} ${this.state.service}`, "Delete",
        () => this.ask("delete_library", { library: library.id }));
    }
  }
}

export default { render: (host) => new LibraryView(host).start() };
