/** The Agent panel: agents, the versions of one, and what differs between two; a form to edit. */
class AgentView extends View {
  constructor(host) {
    super(host, "Agents");
    const { h } = this;
    this.list = new ChoiceList(this, "Agents", (id) => this.ask("choose", { agent: id }));
    this.newButton = this.button("New…", () => this.edit(null));
    this.side = h("div", { class: "carrel-pane list" }, this.list.element, h("div", { class: "carrel-tools" }, this.newButton));
    this.grid = new Grid(this, {
      label: "Versions", marks: true,
      columns: [{ label: "Version" }, { label: "State" }, { label: "Changed", kind: "quiet" }, { label: "Message", kind: "name" }],
      onMark: (id) => this.ask("mark", { version: Number(id) }),
      onOpen: (id) => this.ask("mark", { version: Number(id) }),
    });
    this.title = h("h3", {});
    this.editButton = this.button("Edit", () => this.edit(this.state.selected));
    this.activeButton = this.button("Make active…", () => this.makeActive());
    this.deleteButton = this.button("Delete…", () => this.remove());
    this.diffTitle = h("h4", {});
    this.diff = h("dl", { class: "carrel-diff" });
    this.form = this.makeForm();
    this.versions = h("div", { class: "carrel-panes" },
      h("div", { class: "carrel-pane versions" }, this.grid.element),
      h("div", { class: "carrel-pane" }, h("div", { class: "carrel-scroll" }, this.diffTitle, this.diff)));
    this.empty = h("div", { class: "carrel-empty" });
    this.body.append(h("div", { class: "carrel-panes" }, this.side, h("div", { class: "carrel-pane" },
      h("div", { class: "carrel-tools" }, this.title, h("span", { class: "carrel-gap" }), this.editButton, this.activeButton, this.deleteButton),
      this.empty, this.versions, this.form)));
    this.key("n", () => this.edit(null));
    this.key("e", () => this.edit(this.state.selected));
    this.key("A", () => this.makeActive());
    this.key("D", () => this.remove());
  }

  makeForm() {
    const { h } = this;
    const field = (name, label, node) => {
      node.name = name;
      node.id = `${this.id}-${name}`;
      return [h("label", { for: node.id }, label), node];
    };
    this.modelList = h("datalist", { id: `${this.id}-models` });
    this.libraryBoxes = h("div", { class: "libraries", role: "group", "aria-label": "Libraries it may search" });
    this.submit = h("button", { class: "carrel-button primary" }, "Save");
    const form = h("form", { class: "carrel-form", hidden: true, onsubmit: (event) => this.save(event) },
      ...field("name", "Name", h("input", { required: true, autocomplete: "off" })),
      ...field("model", "Model", h("input", { required: true, autocomplete: "off", list: `${this.id}-models` })), this.modelList,
      ...field("description", "Description", h("input", { autocomplete: "off" })),
      ...field("instructions", "Instructions", h("textarea", { rows: 6 })),
      h("span", {}, "Libraries"), this.libraryBoxes,
      ...field("temperature", "Temperature", h("input", { type: "number", min: 0, max: 1, step: 0.05, placeholder: "the model's own" })),
      h("div", { class: "actions" }, this.submit, this.button("Cancel", () => this.closeForm())));
    this.modelList.style.display = "none";
    form.addEventListener("keydown", (event) => { if (event.key === "Escape") this.closeForm(); }, { signal: this.signal });
    return form;
  }

  draw(state) {
    this.state = state;
    this.side.hidden = state.single;
    this.list.draw(state.agents, state.selected);
    const none = state.selected === null;
    if (this.form.hidden) {
      say(this.title, state.title);
      say(this.empty, state.empty);
      this.empty.hidden = !none;
      this.versions.hidden = none;
    }
    this.grid.draw(state.versions, null, "Loading the versions …");
    say(this.diffTitle, state.diff_title);
    this.drawDiff(state.diff);
    this.editButton.disabled = this.activeButton.disabled = this.deleteButton.disabled = none || state.read_only;
    this.editButton.hidden = this.activeButton.hidden = this.deleteButton.hidden = !this.form.hidden;
    this.newButton.disabled = state.read_only;
    this.root.setAttribute("aria-busy", String(state.loading));
  }

  drawDiff(changes) {
    const { h } = this;
    this.diff.replaceChildren(...changes.flatMap((change) => [
      h("dt", {}, change.field),
      h("dd", {}, ...(change.lines.length
        ? change.lines.map((line) => h("div", { class: `line ${line.change}` }, `${line.sign} `,
          ...line.spans.map((span) => ({ added: h("ins", {}, span.text), removed: h("del", {}, span.text) }[span.change] ?? span.text))))
        : [h("span", {}, change.words)])),
    ]));
  }

  edit(id) {
    if (this.state.read_only) return;
    this.editing = id;
    const { h } = this;
    const agent = id === null ? this.state.blank : this.state.agent;
    if (!agent) return;
    for (const name of ["name", "model", "description", "instructions", "temperature"]) this.form.elements[name].value = agent[name] ?? "";
    this.modelList.replaceChildren(...this.state.models.map((model) => h("option", { value: model })));
    const boxes = this.state.libraries.map((library) => {
      const box = h("input", { type: "checkbox", value: library.id });
      box.checked = agent.libraries.includes(library.id);
      return h("label", {}, box, ` ${library.name}`);
    });
    this.libraryBoxes.replaceChildren(...(boxes.length ? boxes : ["none yet"]));
    say(this.title, id === null ? "New agent" : `Edit ${this.state.title}`);
    this.form.hidden = false;
    this.versions.hidden = this.empty.hidden = true;
    this.draw(this.state);
    this.form.elements.name.focus();
  }

  closeForm() {
    this.form.hidden = true;
    this.draw(this.state);
    this.root.focus();
  }

  async save(event) {
    event.preventDefault();
    const { name, model, description, instructions, temperature } = this.form.elements;
    const libraries = [...this.libraryBoxes.querySelectorAll("input:checked")].map((box) => box.value);
    const fields = {
      name: name.value, model: model.value, description: description.value, instructions: instructions.value,
      temperature: temperature.value === "" ? null : Number(temperature.value), libraries,
    };
    this.submit.disabled = true;
    const saved = await this.ask("save", { agent: this.editing, fields });
    this.submit.disabled = false;
    if (saved !== undefined) this.closeForm();
  }

  makeActive() {
    const version = this.state.versions.find((row) => row.id === this.grid.cursor);
    if (!version || this.state.read_only) return;
    this.confirm(`Make ${version.cells[0]} of ${this.state.title} active?`, "Make active",
      () => this.ask("make_active", { version: Number(version.id) }));
  }

  remove() {
    if (this.state.selected === null || this.state.read_only) return;
    this.confirm(`Delete ${this.state.title} with all its versions? This cannot be undone.`, "Delete", () => this.ask("delete"));
  }
}

export default { render: (host) => new AgentView(host).start() };
