/** The Files panel: a paged grid of files, upload, link, delete. */
class FilesView extends View {
  constructor(host) {
    super(host, "Files");
    const { h } = this;
    this.uploads = new Uploads(this, (files) => this.ask("upload", { files }));
    this.search = searchField(this, "Filter", (text) => this.ask("search", { text }));
    this.grid = new Grid(this, {
      label: "Files", marks: true,
      columns: [
        { label: "Name", kind: "name" }, { label: "Purpose" }, { label: "Size", kind: "number" },
        { label: "Pages", kind: "number" }, { label: "OCR" }, { label: "Created", kind: "quiet" },
      ],
      onSelect: (id) => this.ask("select", { id }),
      onOpen: (id) => this.open(id),
      onMark: (id) => this.ask("mark", { id }),
    });
    this.progress = new Progress(this);
    this.openButton = this.button("Run OCR", () => this.open(this.grid.cursor));
    this.linkButton = this.button("Copy link (24 h)", () => this.copyLink());
    this.deleteButton = this.button("Delete…", () => this.remove());
    this.before = this.button("‹", () => this.ask("page", { page: this.state.page - 1 }), "small");
    this.before.setAttribute("aria-label", "Page before");
    this.after = this.button("›", () => this.ask("page", { page: this.state.page + 1 }), "small");
    this.after.setAttribute("aria-label", "Page after");
    this.range = h("span", { class: "carrel-range" });
    this.body.append(
      h("div", { class: "carrel-tools" },
        this.uploads.button, this.uploads.input, this.openButton, this.linkButton, this.deleteButton,
        h("span", { class: "carrel-gap" }), this.search),
      this.grid.element, this.progress.element,
      h("div", { class: "carrel-foot" }, this.range, this.before, this.after));
    this.key("D", () => this.remove());
    this.key("o", () => this.open(this.grid.cursor));
    this.key("y", () => this.copyLink());
  }

  draw(state) {
    this.state = state;
    this.grid.draw(state.rows, state.selected, state.empty);
    this.progress.draw(state.progress);
    fill(this.search, state.search);
    say(this.range, state.range);
    this.before.disabled = state.page === 0;
    this.after.disabled = state.page >= state.last_page;
    const nothing = state.rows.length === 0;
    this.openButton.disabled = this.linkButton.disabled = nothing;
    this.uploads.button.disabled = state.read_only;
    this.deleteButton.disabled = nothing || state.read_only;
    this.root.setAttribute("aria-busy", String(state.loading));
  }

  async open(id) {
    if (id === null) return;
    if ((await this.ask("open", { id })) !== undefined) this.goto("Document");
  }

  async copyLink() {
    const url = await this.ask("link", { id: this.grid.cursor });
    if (!url) return;
    await navigator.clipboard.writeText(url);
    this.tell("Link copied. It works for 24 hours, for anyone who has it.");
  }

  remove() {
    const marked = this.state.rows.filter((row) => row.marked);
    const rows = marked.length ? marked : this.state.rows.filter((row) => row.id === this.grid.cursor);
    if (!rows.length || this.state.read_only) return;
    const what = rows.length === 1 ? `“${rows[0].cells[0]}”` : `${rows.length} files`;
    this.confirm(`Delete ${what}? This cannot be undone.`, "Delete", () => this.ask("delete", { ids: rows.map((row) => row.id) }));
  }
}

export default { render: (host) => new FilesView(host).start() };
