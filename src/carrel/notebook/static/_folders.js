/** The folders of a library: those that are synced, and the form for another. */
class Folders {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const { h } = view;
    this.list = h("ul", { class: "carrel-folders", "aria-label": "Synced folders" });
    const text = (label, placeholder) => h("input", { "aria-label": label, placeholder, oninput: () => this.changed() });
    const box = (label, look) => {
      const input = h("input", { type: "checkbox", onchange: () => look && this.changed() });
      return [input, h("label", {}, input, ` ${label}`)];
    };
    this.path = text("Folder", "Path of a folder where the kernel runs");
    this.include = text("Only", "Only, such as *.pdf *.docx");
    this.exclude = text("Leave out", "Leave out, such as drafts/");
    const [watching, watchLabel] = box("Keep watching, and sync after every change", false);
    const [deleting, deleteLabel] = box("Delete in the library what was deleted there", true);
    this.watching = watching;
    this.deleting = deleting;
    this.words = h("p", { class: "words", role: "status" });
    this.changes = h("ul", { class: "changes", "aria-label": "What a sync would do" });
    this.start = h("button", { class: "carrel-button primary", disabled: true }, "Sync");
    this.form = h("form", { class: "carrel-sync", hidden: true, "aria-label": "Sync a folder", onsubmit: (event) => this.sync(event) },
      this.path,
      h("div", { class: "patterns" }, this.include, this.exclude),
      h("div", { class: "choices" }, watchLabel, deleteLabel),
      this.words, this.changes,
      h("div", { class: "actions" }, this.start, view.button("Cancel", () => this.close())));
    this.button = view.button("Sync folder…", () => this.open());
    view.key("s", "Sync folder", () => { if (!this.button.disabled) this.open(); });
    view.signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  draw(folders, usable) {
    this.button.disabled = !usable;
    this.list.hidden = folders.length === 0;
    const { h } = this.view;
    keyed(this.list, folders, (folder) => {
      const node = h("li", {}, h("span", { class: "name" }), h("span", { class: "status" }),
        h("progress", { max: 100, "aria-label": folder.name }), h("span", { class: "notes" }),
        this.view.button("Sync…", () => this.open(node.folder), "small"),
        this.view.button("Stop", () => this.view.ask("sync_stop", { folder: node.folder.id }), "small"),
        this.view.button("Forget…", () => this.forget(node.folder), "small"));
      return node;
    }, (node, folder) => {
      node.folder = folder;
      const [name, status, bar, notes, again, stop, forget] = node.children;
      say(name, folder.name);
      sayBadge(status, folder.status);
      bar.hidden = folder.percent === null;
      bar.value = folder.percent ?? 0;
      say(notes, folder.notes.slice(0, 3).join(" · "));
      again.hidden = folder.running || !usable;
      again.setAttribute("aria-label", `Sync ${folder.name}`);
      stop.hidden = !folder.running;
      stop.setAttribute("aria-label", `Stop syncing ${folder.name}`);
      forget.hidden = folder.running;
      forget.setAttribute("aria-label", `Forget ${folder.name}`);
    });
  }

  forget(folder) {
    this.view.confirm(`Forget ${folder.name}? It is not synced any more; the folder and the library keep what they have.`,
      "Forget", () => this.view.ask("sync_forget", { folder: folder.id }));
  }

  /** @param {any} [row] one that was synced before */
  async open(row) {
    const library = this.view.state.selected;
    const folder = row && await this.view.ask("folder", { folder: row.id });
    if (row && !folder) return;
    this.library = library;
    this.path.value = folder?.path ?? "";
    this.include.value = folder?.include ?? "";
    this.exclude.value = folder?.exclude ?? "";
    this.deleting.checked = folder?.delete ?? false;
    this.watching.checked = false;
    this.form.hidden = false;
    this.path.focus();
    this.look();
  }

  close() {
    this.form.hidden = true;
    this.asked = null;
    this.button.focus();
  }

  changed() {
    clearTimeout(this.timer);
    this.start.disabled = true;
    this.timer = setTimeout(() => this.look(), TYPING_PAUSE_MS);
  }

  wish() {
    return {
      library: this.library, path: this.path.value, delete: this.deleting.checked,
      include: this.include.value, exclude: this.exclude.value,
    };
  }

  /** Shows what a sync would do; the last question counts. */
  async look() {
    const wish = this.wish();
    const asked = this.asked = {};
    this.start.disabled = true;
    this.changes.replaceChildren();
    say(this.words, wish.path.trim() ? "Looking at the folder …" : "");
    if (!wish.path.trim()) return;
    const preview = await this.view.ask("look", wish);
    if (this.asked !== asked) return;
    say(this.words, preview?.words ?? "");
    if (!preview?.rows) return;
    const { h } = this.view;
    const rows = preview.rows.map((row) => h("li", {},
      h("span", { class: "action" }, row.action), h("span", { class: "path" }, row.path), h("span", { class: "note" }, row.note)));
    this.preview = preview;
    if (preview.more) rows.push(h("li", { class: "note" }, `and ${preview.more} more`));
    this.changes.replaceChildren(...rows);
    this.start.disabled = false;
  }

  /** @param {Event} event */
  async sync(event) {
    event.preventDefault();
    if (this.start.disabled) return;
    const { confirm, deletions } = this.preview;
    // What was previewed is synced, whatever is chosen by the time of the answer.
    const wish = { ...this.wish(), watch: this.watching.checked };
    const begin = async (max_delete) => {
      if (await this.view.ask("sync", { ...wish, max_delete }) !== undefined) this.close();
    };
    if (!confirm) return begin(null);
    this.view.confirm(`${confirm} Are all of its files where they should be?`, "Delete", () => begin(deletions));
  }
}
