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
    this.uploads = new Uploads(this, (files) => this.ask("upload", { files }));
    this.search = searchField(this, "Search in the library", (text) => this.ask("search", { text }));
    this.openButton = this.button("Open", () => this.open(this.grid.cursor, null));
    this.againButton = this.button("Reprocess…", () => this.reprocess());
    this.deleteButton = this.button("Delete…", () => this.remove());
    this.title = h("h3", {});
    this.grid = new Grid(this, {
      label: "Documents",
      columns: [
        { label: "Document", kind: "name" }, { label: "Status" },
        { label: "Pages", kind: "number" }, { label: "Added", kind: "quiet" }, { label: "Summary", kind: "wide quiet" },
      ],
      onSelect: (id) => this.ask("select", { document: id }),
      onOpen: (id) => this.open(id, null),
    });
    this.hits = h("ol", { class: "carrel-hits", "aria-label": "Passages found" });
    this.progress = new Progress(this);
    this.folders = new Folders(this);
    this.body.append(h("div", { class: "carrel-panes" }, this.side, h("div", { class: "carrel-pane" },
      h("div", { class: "carrel-tools" }, this.title, h("span", { class: "carrel-gap" }),
        this.uploads.button, this.uploads.input, this.folders.button, this.openButton, this.againButton, this.deleteButton, this.search),
      this.folders.form, this.grid.element, this.hits, this.folders.list, this.progress.element)));
    this.key("n", () => this.name.focus());
    this.key("D", () => this.remove());
    this.key("R", () => this.reprocess());
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
    this.grid.draw(state.rows, state.document, state.empty);
    this.drawHits(state.hits);
    this.progress.draw(state.progress);
    this.folders.draw(state.folders, !state.read_only && state.selected !== null);
    const nothing = state.rows.length === 0 || searching;
    this.openButton.disabled = nothing;
    this.againButton.disabled = this.deleteButton.disabled = nothing || state.read_only;
    this.uploads.button.disabled = state.read_only || state.selected === null;
    this.search.disabled = state.selected === null;
    this.create.hidden = state.read_only;
    this.root.setAttribute("aria-busy", String(state.loading));
  }

  drawHits(hits) {
    const { h } = this;
    keyed(this.hits, hits, (hit) => {
      const open = h("button", { type: "button", onclick: () => this.open(hit.document, hit.page) },
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

  async open(id, page) {
    if (id !== null && (await this.ask("open", { document: id, page })) !== undefined) this.goto("Document");
  }

  chosen() {
    return this.state.rows.find((row) => row.id === this.grid.cursor);
  }

  reprocess() {
    const row = this.chosen();
    if (!row || this.state.read_only) return;
    this.confirm(`Read “${row.cells[0]}” again?`, "Reprocess", () => this.ask("reprocess", { document: row.id }));
  }

  remove() {
    const row = this.chosen();
    if (!row || this.state.read_only) return;
    this.confirm(`Delete “${row.cells[0]}” from this library? This cannot be undone.`, "Delete",
      () => this.ask("delete", { document: row.id }));
  }
}

export default { render: (host) => new LibraryView(host).start() };
