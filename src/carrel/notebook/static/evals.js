/** The Evals panel: a run under way, the cases of a kept one, and both answers to a case. */
class EvalsView extends View {
  constructor(host) {
    super(host, "Evals");
    const { h } = this;
    this.runButton = this.button("Run a set…", () => this.openForm());
    this.resumeButton = this.button("Go on", () => this.ask("resume", { run: this.state.shown }));
    this.shown = h("select", { "aria-label": "Run", onchange: () => this.choose() });
    this.baseline = h("select", { "aria-label": "Compare with", onchange: () => this.choose(this.baseline.value) });
    this.form = this.makeForm();
    this.progress = new Progress(this);
    this.said = h("div", { class: "said", role: "status" });
    this.grid = new Grid(this, {
      label: "Cases",
      columns: [
        { label: "Case", kind: "name", name: "case", sorts: false }, { label: "Result" }, { label: "Passed", kind: "number" },
        { label: "95 %", kind: "number quiet" }, { label: "Before", kind: "number quiet" }, { label: "Tokens", kind: "number quiet" },
        { label: "Seconds", kind: "number quiet" }, { label: "Why", kind: "wide quiet" },
      ],
      onSelect: (id) => { if (!this.answers.hidden) this.open(id); },
      onOpen: (id) => this.open(id),
    });
    this.heading = h("h3", {});
    this.asked = h("p", { class: "question" });
    this.sides = h("div", { class: "sides" });
    this.answers = h("section", { class: "answers", "aria-label": "Answers", hidden: true },
      h("div", { class: "carrel-tools" }, this.heading, h("span", { class: "carrel-gap" }), this.button("Close", () => this.closeAnswers(), "small")),
      h("div", { class: "carrel-scroll" }, this.asked, this.sides));
    this.body.append(
      h("div", { class: "carrel-tools" }, this.runButton, this.resumeButton, this.shown, this.baseline,
        h("span", { class: "carrel-gap" }), this.corner()),
      this.form, this.progress.element, this.said, this.grid.element, this.answers);
    this.answers.addEventListener("keydown", (event) => { if (event.key === "Escape") this.closeAnswers(); }, { signal: this.signal });
    this.key("r", "Run a set", () => this.openForm());
    this.key("x", "Stop the run", () => { if (this.state.progress) this.ask("cancel", { id: this.state.progress.id }); });
  }

  makeForm() {
    const { h } = this;
    this.agent = h("select", { onchange: () => this.drawVersions() });
    this.version = h("select", {});
    const form = h("form", { class: "carrel-form", hidden: true, onsubmit: (event) => { event.preventDefault(); this.run(); } },
      ...this.labelled("agent", "Agent", this.agent),
      ...this.labelled("version", "Version", this.version),
      ...this.labelled("file", "File of test cases", h("input", { required: true, autocomplete: "off", spellcheck: "false" })),
      ...this.labelled("repeat", "Attempts per case", h("input", { type: "number", required: true, min: 1, max: 1000, value: 1, title: "6 or more can show significance" })),
      h("div", { class: "actions" }, h("button", { class: "carrel-button primary" }, "Run"), this.button("Cancel", () => this.closeForm())));
    form.addEventListener("keydown", (event) => { if (event.key === "Escape") this.closeForm(); }, { signal: this.signal });
    return form;
  }

  draw(state) {
    const before = this.state?.shown;
    this.state = state;
    this.runButton.disabled = Boolean(state.progress);
    this.resumeButton.hidden = !state.resumable || Boolean(state.progress);
    this.options(this.shown, state.runs, state.shown, "No run");
    this.options(this.baseline, state.runs.filter((run) => run.id !== state.shown), state.baseline, "Compare with…");
    this.shown.hidden = state.runs.length === 0;
    this.baseline.hidden = state.runs.length < 2;
    this.progress.draw(state.progress ? [state.progress] : []);
    keyed(this.said, state.said.map((words, id) => ({ id, words })), () => this.h("div"), (node, one) => say(node, one.words));
    this.said.hidden = state.said.length === 0;
    if (before !== state.shown) this.answers.hidden = true;
    this.grid.draw(state.rows, null, state.empty, state.layout);
    this.root.setAttribute("aria-busy", String(state.loading));
  }

  /** Fills a choice of runs; the first option stands for none. */
  options(select, runs, chosen, none) {
    keyed(select, [{ id: "", words: none }, ...runs], () => this.h("option"), (node, run) => { node.value = run.id; say(node, run.words); });
    fill(select, chosen ?? "");
  }

  choose(baseline = null) {
    if (this.shown.value) this.ask("show", { run: this.shown.value, baseline: baseline || null });
    else fill(this.shown, this.state.shown ?? "");
  }

  // running

  openForm() {
    if (this.state.progress) return;
    const { agents, file } = this.state;
    if (!agents.length) {
      this.tell("There is no agent yet: make one in Agents.");
      return;
    }
    keyed(this.agent, agents, () => this.h("option"), (node, one) => { node.value = one.id; say(node, one.name); });
    this.drawVersions();
    const field = this.form.elements.file;
    if (!field.value) field.value = file;
    this.form.hidden = false;
    this.agent.focus();
  }

  drawVersions() {
    const agent = this.state.agents.find((one) => one.id === this.agent.value);
    const versions = (agent?.versions ?? []).map((number) => ({ id: number, words: number === agent.active ? `v${number} · active` : `v${number}` }));
    keyed(this.version, versions, () => this.h("option"), (node, one) => { node.value = one.id; say(node, one.words); });
    if (agent) this.version.value = String(agent.active);
  }

  closeForm() {
    this.form.hidden = true;
    this.root.focus();
  }

  async run() {
    const { agent, version, file, repeat } = this.form.elements;
    const begun = await this.ask("run", { agent: agent.value, version: Number(version.value), file: file.value, repeat: Number(repeat.value) });
    if (begun !== undefined) this.closeForm();
  }

  // answers

  async open(id) {
    if (id === null) return;
    const found = await this.ask("answers", { case: id });
    if (found === undefined || this.grid.cursor !== id) return;
    const { h } = this;
    say(this.heading, found.case);
    say(this.asked, found.question);
    this.sides.replaceChildren(...found.sides.map((side) => h("div", { class: "side" }, h("h4", {}, side.title),
      ...(side.attempts.length ? side.attempts.map((one) => this.attempt(one)) : [h("p", { "data-role": "muted" }, "Not asked.")]))));
    this.answers.hidden = false;
  }

  attempt(one) {
    const { h } = this;
    const answer = h("div", { class: "carrel-text" });
    if (one.error) answer.append(h("p", { "data-role": "failed" }, one.error));
    else answer.innerHTML = one.html;
    return h("article", {}, one.title ? h("small", {}, one.title) : null, answer,
      h("ul", {}, ...one.checks.map((check) => h("li", { "data-role": check.passed ? "ready" : "failed" }, `${check.passed ? "✓" : "✗"} ${check.words}`))),
      h("small", {}, one.figures));
  }

  closeAnswers() {
    this.answers.hidden = true;
    this.grid.focus();
  }
}

export default { render: (host) => new EvalsView(host).start() };
