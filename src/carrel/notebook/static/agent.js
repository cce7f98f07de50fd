/** How long after the last key what is typed is kept. */
const KEEP_MS = 500;

/** The Agent panel: agents, the versions of one, what differs; a form whose content is a draft. */
class AgentView extends View {
  constructor(host) {
    super(host, "Agents");
    const { h } = this;
    this.host = host.host;
    this.list = new ChoiceList(this, "Agents", (id) => this.ask("choose", { agent: id }));
    this.newButton = this.button("New…", () => this.begin("blank"));
    this.unsaved = new ChoiceList(this, "New agents that are not saved", (id) => this.begin(id));
    this.side = h("div", { class: "carrel-pane list" }, this.list.element, this.unsaved.element,
      h("div", { class: "carrel-tools" }, this.newButton));
    this.grid = new Grid(this, {
      label: "Versions", marks: true,
      columns: [
        { label: "Version", name: "version" }, { label: "State" }, { label: "Changed", kind: "quiet", name: "changed" },
        { label: "Message", kind: "name", name: "note" },
      ],
      onSelect: () => this.drawChosen(),
      onMark: (id) => this.mark(id),
      onOpen: (id) => (id === "draft" ? this.review(this.state.selected) : this.mark(id)),
    });
    this.title = h("h3", {});
    this.tools = {
      edit: this.button("Edit", () => this.begin("edit")),
      try: this.button("Try draft", () => this.tryDraft()),
      chat: this.button("Chat", () => this.chat()),
      copy: this.button("Duplicate", () => this.begin("copy")),
      active: this.button("Make active…", () => this.makeActive()),
      back: this.button("Roll back", () => this.rollBack()),
      remove: this.button("Delete…", () => this.remove()),
    };
    this.changes = new Changes(this);
    this.diffTitle = h("h4", {});
    this.aliases = this.makeAliases();
    this.form = this.makeForm();
    this.reviewed = this.makeReview();
    this.trial = h("div", { class: "carrel-nest", hidden: true });
    this.trialTools = [
      this.button("Edit", () => this.editTried()),
      this.button("Save…", () => this.review(this.state.trial.draft)),
      this.button("Close", () => this.ask("end_trial")),
    ];
    this.versions = h("div", { class: "carrel-panes" },
      h("div", { class: "carrel-pane versions" }, this.grid.element, this.aliases),
      h("div", { class: "carrel-pane" },
        h("div", { class: "carrel-tools" }, this.diffTitle, h("span", { class: "carrel-gap" }), this.changes.toggle),
        h("div", { class: "carrel-scroll" }, this.changes.element)));
    this.empty = h("div", { class: "carrel-empty" });
    this.body.append(h("div", { class: "carrel-panes" }, this.side, h("div", { class: "carrel-pane" },
      h("div", { class: "carrel-tools" }, this.title, h("span", { class: "carrel-gap" }), ...Object.values(this.tools), ...this.trialTools, this.keepFresh()),
      this.empty, this.versions, this.trial, this.form, this.reviewed)));
    this.signal.addEventListener("abort", () => clearTimeout(this.keeping));
    this.key("n", "New agent", () => this.begin("blank"));
    this.key("e", "Edit", () => this.begin("edit"));
    this.key("t", "Try draft", () => this.tryDraft());
    this.key("c", "Chat", () => this.chat());
    this.key("A", "Make active", () => this.makeActive());
    this.key("b", "Roll back", () => this.rollBack());
    this.key("a", "Alias", () => this.alias.focus());
    this.key("v", "Changes beside each other or below", () => this.shown().turn());
    this.key("[", "Change before", () => this.shown().go(-1));
    this.key("]", "Next change", () => this.shown().go(1));
    this.key("D", "Delete", () => this.remove());
  }

  makeAliases() {
    const { h } = this;
    this.aliasButtons = h("span", {});
    this.alias = h("input", {
      "aria-label": "Alias of the chosen version", placeholder: "alias, such as prod", autocomplete: "off",
      onkeydown: (event) => { if (event.key === "Enter") this.setAlias(this.alias.value.trim()); },
    });
    return h("div", { class: "aliases", role: "group", "aria-label": "Aliases" },
      this.alias, this.button("Set", () => this.setAlias(this.alias.value.trim()), "small"), this.aliasButtons);
  }

  makeForm() {
    const { h } = this;
    this.modelList = h("datalist", { id: `${this.id}-models` });
    this.libraryBoxes = h("div", { class: "libraries", role: "group", "aria-label": "Libraries it may search" });
    this.starters = h("div", { class: "starters", role: "group", "aria-label": "Starting points" });
    this.submit = h("button", { class: "carrel-button primary" }, "Save…");
    this.dropButton = this.button("Discard draft…", () => this.drop(this.editing), "danger");
    const form = h("form", {
      class: "carrel-form", hidden: true, oninput: () => this.keepSoon(),
      onsubmit: (event) => { event.preventDefault(); this.review(this.editing, this.fields()); },
    },
    this.startersLabel = h("span", {}, "Start from"), this.starters,
    ...this.labelled("name", "Name", h("input", { required: true, autocomplete: "off" })),
    ...this.labelled("model", "Model", h("input", { required: true, autocomplete: "off", list: `${this.id}-models` })), this.modelList,
    ...this.labelled("instructions", "Instructions", h("textarea", { rows: 6 })),
    h("span", {}, "Libraries"), this.libraryBoxes,
    ...this.labelled("connectors", "Connectors", h("input", { autocomplete: "off", placeholder: "names from the server's settings, or web_search" })),
    ...this.labelled("message", "Version note (optional)", h("input", { autocomplete: "off", maxlength: 500 })),
    ...this.labelled("description", "Description", h("input", { autocomplete: "off" })),
    ...this.labelled("temperature", "Temperature", h("input", { type: "number", min: 0, max: 1, step: "any", placeholder: "the model's own" })),
    ...this.labelled("max_tokens", "Max answer tokens", h("input", { type: "number", min: 0, step: 1, placeholder: "the model's own" })),
    h("div", { class: "actions" }, this.submit, this.button("Try draft", () => this.tryDraft()), this.dropButton,
      this.button("Close", () => this.leave())));
    this.modelList.style.display = "none";
    form.addEventListener("keydown", (event) => { if (event.key === "Escape") this.leave(); }, { signal: this.signal });
    return form;
  }

  makeReview() {
    const { h } = this;
    this.reviewTitle = h("h3", {});
    this.reviewDoubt = h("div", { "data-role": "failed" });
    this.reviewAbout = h("div", {});
    this.reviewChanges = new Changes(this);
    this.reviewButtons = h("div", { class: "carrel-tools" });
    const review = h("section", { class: "carrel-review", role: "alertdialog", "aria-label": "What changes", hidden: true },
      h("div", { class: "carrel-scroll" }, this.reviewTitle, this.reviewDoubt, this.reviewAbout, this.reviewChanges.element), this.reviewButtons);
    review.addEventListener("keydown", (event) => { if (event.key === "Escape") this.show("versions"); }, { signal: this.signal });
    return review;
  }

  draw(state) {
    this.state = state;
    this.side.hidden = state.single;
    this.list.draw(state.agents, state.selected);
    this.unsaved.draw(state.new_agents.map((one) => ({ ...one, name: `✎ ${one.name || "no name yet"}` })), null);
    this.unsaved.element.hidden = state.new_agents.length === 0;
    this.list.element.hidden = state.agents.length === 0 && !this.unsaved.element.hidden;
    const none = state.selected === null;
    const resting = this.form.hidden && this.reviewed.hidden;
    const trying = resting && state.trial !== null;
    if (resting) {
      say(this.title, trying ? state.trial.title : state.title);
      say(this.empty, state.empty);
      this.empty.hidden = trying || !none;
      this.versions.hidden = trying || none;
    }
    this.drawTrial(state.trial);
    this.trial.hidden = !trying;
    for (const button of this.trialTools) button.hidden = !trying;
    this.grid.draw(state.versions, null, "Loading the versions …", state.layout);
    this.drawChosen();
    for (const [name, button] of Object.entries(this.tools)) {
      button.hidden = !resting || trying || (name === "try" && !state.draft.title);
      button.disabled = none || (state.read_only && ["active", "back", "remove"].includes(name));
    }
    this.submit.disabled = state.read_only;
    this.root.setAttribute("aria-busy", String(state.loading));
  }

  /** Opens the chats of a draft that is tried, once. */
  async drawTrial(trial) {
    if (trial?.panel === this.tried) return;
    this.tried = trial?.panel;
    this.untried?.abort();
    this.trial.replaceChildren();
    if (!trial) return;
    this.untried = new AbortController();
    const signal = AbortSignal.any([this.signal, this.untried.signal]);
    const widget = await this.host.getWidget(trial.panel);
    if (signal.aborted) return;
    await widget.render({ el: this.trial, signal });
    if (this.toAsk) this.focusTrial();
    this.toAsk = false;
  }

  focusTrial() {
    this.trial.querySelector("[aria-label='Message to all']")?.focus();
  }

  /** What depends on the version under the cursor: its changes and its aliases. */
  drawChosen() {
    const { state } = this;
    const id = this.grid.cursor;
    const compared = state.diff.rows.length ? state.diff : id === "draft" ? state.draft : state.about;
    say(this.diffTitle, compared.title);
    this.changes.draw(compared.rows);
    this.aliases.hidden = id === null || id === "draft" || state.read_only;
    const buttons = state.aliases.map((one) => (one.id === id
      ? this.button(`Remove ${one.alias}`, () => this.ask("alias", { agent: this.state.selected, alias: one.alias, version: null }), "small")
      : this.button(`Move ${one.alias} here (${one.version})`, () => this.setAlias(one.alias), "small")));
    const words = `${id} ${JSON.stringify(state.aliases)}`;
    if (words !== this.drawnAliases) this.aliasButtons.replaceChildren(...buttons);
    this.drawnAliases = words;
  }

  /** The changes that are on screen. */
  shown() {
    return this.reviewed.hidden ? this.changes : this.reviewChanges;
  }

  /** @param {"versions" | "form" | "review"} what */
  show(what) {
    this.form.hidden = what !== "form";
    this.reviewed.hidden = what !== "review";
    this.versions.hidden = this.empty.hidden = true;
    if (what === "review" && this.state.trial) say(this.title, this.state.title);
    this.draw(this.state);
    if (what === "versions") (this.content() ?? this.root).focus();
  }

  mark(id) {
    if (id !== "draft") this.ask("mark", { version: Number(id) });
    else this.draw(this.state);
  }

  version() {
    const id = this.grid.cursor;
    return id === null || id === "draft" ? null : Number(id);
  }

  // drafts

  /** @param {string} start "blank", a starting point, "edit", "copy", or the id of a kept draft */
  async begin(start) {
    if (start === "edit" && this.state.selected === null) return;
    const begun = await this.ask("begin", { start, agent: this.state.selected, version: this.version() });
    if (!begun) return;
    this.editing = begun.draft;
    this.libraries = begun.fields.libraries;
    const { h } = this;
    for (const [name, value] of Object.entries(begun.fields)) {
      if (name !== "libraries") this.form.elements[name].value = value ?? "";
    }
    this.modelList.replaceChildren(...this.state.models.map((model) => h("option", { value: model })));
    const boxes = begun.libraries.map((library) => {
      const box = h("input", { type: "checkbox", value: library.id });
      box.checked = begun.fields.libraries.includes(library.id);
      return h("label", {}, box, library.name);
    });
    this.libraryBoxes.replaceChildren(...(boxes.length ? boxes : ["none yet"]));
    this.starters.replaceChildren(...begun.starters.map((one) => {
      const button = this.button(one.name, () => this.begin(one.id), "small");
      button.title = one.about;
      button.setAttribute("aria-pressed", String(one.id === start));
      return button;
    }));
    this.starters.hidden = this.startersLabel.hidden = begun.starters.length === 0;
    say(this.title, begun.title);
    this.show("form");
    this.form.elements.name.focus();
  }

  fields() {
    const { name, model, description, instructions, temperature, max_tokens, message, connectors } = this.form.elements;
    const number = (field) => (field.value === "" ? null : Number(field.value));
    return {
      name: name.value, model: model.value, description: description.value, instructions: instructions.value,
      temperature: number(temperature), max_tokens: number(max_tokens), message: message.value,
      connectors: connectors.value,
      libraries: this.libraryBoxes.childElementCount
        ? [...this.libraryBoxes.querySelectorAll("input:checked")].map((box) => box.value) : this.libraries,
    };
  }

  keepSoon() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), KEEP_MS);
  }

  /** What cannot be sent yet, such as half a number, waits for the next key. */
  keep() {
    clearTimeout(this.keeping);
    return this.form.querySelector("input:invalid[type=number]") ? undefined
      : this.ask("keep", { draft: this.editing, fields: this.fields() });
  }

  leave() {
    this.keep();
    this.show("versions");
  }

  /** Shows what a draft would change, before anything is sent. */
  async review(draft, fields = null) {
    clearTimeout(this.keeping);
    this.submit.disabled = true;
    const found = await this.ask("review", { draft, fields });
    this.submit.disabled = this.state.read_only;
    if (found === undefined) return;
    if (found.same) {
      this.tell(found.same);
      this.show("versions");
      return;
    }
    if (!found.title) {
      this.save(draft);
      return;
    }
    this.confirmChanges(found, [
      this.button(found.verb, () => this.save(draft), "primary"),
      this.button("Edit", () => this.begin(draft)),
      this.button("Try draft", () => this.tryDraft()),
      this.button("Discard draft…", () => this.drop(draft), "danger"),
      this.button("Cancel", () => this.show("versions")),
    ]);
  }

  confirmChanges(found, buttons) {
    say(this.reviewTitle, found.title);
    say(this.reviewDoubt, found.doubt ?? "");
    say(this.reviewAbout, found.about);
    this.reviewChanges.draw(found.rows);
    this.reviewButtons.replaceChildren(...buttons, this.h("span", { class: "carrel-gap" }), this.reviewChanges.toggle);
    this.show("review");
    buttons[0].focus();
  }

  async save(draft) {
    if (await this.ask("save", { draft }) !== undefined) this.show("versions");
  }

  drop(draft) {
    clearTimeout(this.keeping);
    this.confirm("Discard this draft? Unsaved changes are lost.", "Discard", async () => {
      if (await this.ask("drop", { draft }) !== undefined) this.show("versions");
    });
  }

  async tryDraft() {
    const open = !this.form.hidden;
    if (!open && !this.state.draft.title) return;
    const draft = open ? this.editing : this.state.selected;
    clearTimeout(this.keeping);
    this.toAsk = true;
    if (await this.ask("try", { draft, fields: open ? this.fields() : null }) === undefined) return;
    this.show("versions");
    // The chats may be there already, and have lost the focus to the versions.
    this.focusTrial();
  }

  async editTried() {
    const { draft } = this.state.trial;
    if (await this.ask("end_trial") !== undefined) this.begin(draft);
  }

  // versions

  async chat() {
    const version = this.version();
    if (version === null) this.tryDraft();
    else if (await this.ask("chat", { agent: this.state.selected, version }) !== undefined) this.goto("Chat");
  }

  async makeActive() {
    const version = this.version();
    if (version === null || String(version) === this.state.active || this.state.read_only) {
      this.tell(ADVICE.CHOOSE_VERSION);
      return;
    }
    // By the time this is confirmed another agent may be selected.
    const agent = this.state.selected;
    const found = await this.ask("preview", { agent, version });
    if (!found) return;
    this.confirmChanges(found, [
      this.button("Make active", () => { this.show("versions"); this.ask("make_active", { agent, version }); }, "primary"),
      this.button("Cancel", () => this.show("versions")),
    ]);
  }

  async rollBack() {
    if (this.state.selected === null || this.state.read_only) return;
    const agent = this.state.selected;
    const found = await this.ask("preview_back", { agent });
    if (!found) return;
    const { version } = found;
    this.confirmChanges(found, [
      this.button("Roll back", () => { this.show("versions"); this.ask("roll_back", { agent, version }); }, "primary"),
      this.button("Cancel", () => this.show("versions")),
    ]);
  }

  async setAlias(alias) {
    const version = this.version();
    if (!alias || version === null) return;
    if (await this.ask("alias", { agent: this.state.selected, alias, version }) !== undefined) this.alias.value = "";
  }

  remove() {
    const { selected: agent } = this.state;
    if (agent === null || this.state.read_only) return;
    if (this.grid.cursor === "draft") this.drop(agent);
    else this.confirm(`Delete ${this.state.title} with all its versions? ${this.state.way_back}`, "Delete", () => this.ask("delete", { agent }));
  }
}

export default { render: (host) => new AgentView(host).start() };
