/** Among those who may answer, the draft that is tried. */
const DRAFT = "draft";

/** Intents that are meant for the chat in view: another view, or code, may open another one. */
const OF_THE_CHAT = new Set([
  "send", "retry", "edit", "variant", "text", "attach", "attach_known", "detach", "page", "open", "choose", "model", "parameters", "permit", "take_case",
]);

/**
 * Makes an element's content that of another, keeping the nodes that only grew: a selection in
 * them, and the focus, survive.
 *
 * @param {Node} node @param {Node} other taken apart
 */
function become(node, other) {
  const [old, now] = [[...node.childNodes], [...other.childNodes]];
  now.forEach((next, index) => {
    const before = old[index];
    if (!before) node.append(next);
    else if (before.nodeName !== next.nodeName || !sameTag(before, next)) before.replaceWith(next);
    else if (!(before instanceof Text)) become(before, next);
    else if (next.data.startsWith(before.data)) before.appendData(next.data.slice(before.data.length));
    else before.data = next.data;
  });
  for (const gone of old.slice(now.length)) gone.remove();
}

/** Whether two nodes of one name have the same attributes. */
function sameTag(one, other) {
  return !(one instanceof Element) || one.cloneNode().isEqualNode(other.cloneNode());
}

/** The Chat panel: sessions, a transcript that streams, what an answer drew from. */
class ChatView extends View {
  constructor(host) {
    super(host, "Chat");
    this.bound = OF_THE_CHAT;
    const { h } = this;
    this.buildSide();
    this.title = h("h3", {});
    this.tokens = h("span", { class: "carrel-range" });
    this.who = h("select", { "aria-label": "Answered by", onchange: () => this.choose() });
    this.modelChoice = h("select", { "aria-label": "Model of the next answers", onchange: () => this.chooseModel() });
    this.log = h("div", { class: "carrel-log", tabindex: "0", "aria-label": "Transcript", onscroll: () => this.scrolled() });
    this.empty = h("div", { class: "carrel-empty" });
    this.composer = new Composer(this, (text) => this.send(text));
    this.uploads = new Uploads(this, (files) => this.ask("attach", { files }));
    this.uploads.button.className = "carrel-button";
    say(this.uploads.button, "Attach…");
    this.cancelButton = this.button("Cancel", () => this.edit(null));
    this.retryButton = this.button("Retry", () => this.ask("retry"));
    this.sendButton = h("button", { class: "carrel-button primary" }, "Send");
    this.stopButton = this.button("■ Stop", () => this.ask("stop"), "danger");
    this.form = h("form", { class: "carrel-compose", onsubmit: (event) => { event.preventDefault(); this.composer.submit(); } },
      this.composer.element, this.uploads.input, this.uploads.button, this.cancelButton, this.retryButton, this.sendButton, this.stopButton);
    // What is waited for changes every second; only that it begins and ends is read out.
    this.phase = h("div", { class: "carrel-status" });
    this.news = h("div", { class: "carrel-news carrel-unseen", role: "status", "aria-live": "polite", "aria-atomic": "true" });
    this.permission = h("div", { class: "carrel-question", role: "alertdialog", hidden: true });
    this.source = new SourcePane(this);
    this.tools = h("div", { class: "carrel-more", hidden: true });
    this.buildTools();
    this.body.append(h("div", { class: "carrel-panes" }, this.side,
      h("div", { class: "carrel-pane carrel-talk" },
        h("div", { class: "carrel-tools" }, this.title, h("span", { class: "carrel-gap" }), this.tokens, this.who, this.modelChoice,
          this.button("More", () => { this.tools.hidden = !this.tools.hidden; }, "small"), this.keepFresh()),
        this.tools, this.empty, this.log, this.phase, this.permission, this.form, this.news),
      this.source.element));
    this.key("n", "New chat", () => this.begin());
    this.key("e", "Edit the last question", () => { if (this.state.asks) this.edit(this.state.turns.findLast((turn) => turn.role === "user")?.id ?? null); });
    this.key("T", "Test case of the last answer", () => this.takeCase(this.state.turns.at(-1)));
    const sized = new ResizeObserver(() => { this.seek(); this.follow(); });
    sized.observe(this.log);
    this.signal.addEventListener("abort", () => sized.disconnect());
    this.explain("Enter", "Send", "Shift+Enter", "New line", "↑", "Earlier question", "@", "Name a file or document");
    this.following = true;
    this.on("delta", (delta) => this.grow(delta));
    this.on("typed", ({ text }) => { this.composer.input.value = text; });
  }

  buildSide() {
    const { h } = this;
    this.sessions = new ChoiceList(this, "Chats", (id) => this.ask("resume", { session: id }));
    this.agents = h("select", { "aria-label": "Agent" });
    this.newButton = this.button("New", () => this.begin());
    this.deleteButton = this.button("Delete", () => this.confirm("Delete this chat?", "Delete",
      () => this.ask("delete", { session: this.state.session })), "small");
    this.side = h("div", { class: "carrel-pane list" },
      searchField(this, "Search chats", (text) => this.ask("search", { text })), this.sessions.element,
      h("div", { class: "carrel-tools" }, this.agents, this.newButton, this.deleteButton));
    this.agents.style.flex = "1 0 100%";
  }

  /** Parameters and export, which are seldom wanted. */
  buildTools() {
    const { h } = this;
    const labels = { model: "Model", temperature: "Temperature", top_p: "Top p", max_tokens: "Max answer tokens", seed: "Seed", stop: "Stop at", tools: "Tools of the settings" };
    this.fields = Object.fromEntries(Object.keys(labels).map((name) => [name, h("input", { size: 6, placeholder: name === "tools" ? "none" : "the agent's" })]));
    this.caseFile = h("input", { size: 24 });
    this.tools.append(
      h("form", { class: "carrel-parameters", "aria-label": "Parameters", onsubmit: (event) => {
        event.preventDefault();
        this.ask("parameters", { values: Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.value.trim()])) });
      } }, ...Object.entries(labels).map(([name, label]) => h("label", {}, `${label} `, this.fields[name])),
      h("button", { class: "carrel-button small" }, "Apply")),
      h("div", {}, this.button("Save Markdown", () => this.save("markdown", "md"), "small"), " ",
        this.button("Save JSON", () => this.save("json", "json"), "small")),
      h("label", {}, "Test cases in ", this.caseFile));
  }

  draw(state) {
    const before = this.state;
    this.state = state;
    this.side.hidden = state.single;
    // Called functions are answered here also where the questions come from around it.
    this.form.hidden = !state.asks && state.prompt === "";
    this.sessions.draw(state.sessions, state.session);
    this.drawAgents(state);
    say(this.title, state.title);
    // Beside each other, chats are told apart by it.
    this.root.setAttribute("aria-label", state.asks ? "Chat" : `Chat: ${state.title}`);
    say(this.tokens, [state.parameter_words, state.tokens].filter(Boolean).join(" · "));
    say(this.empty, state.empty);
    this.empty.hidden = state.turns.length > 0;
    this.log.hidden = state.turns.length === 0;
    if (state.session !== this.session) {
      this.session = state.session;
      this.log.replaceChildren();
      this.source.hide();
    }
    keyed(this.log, state.turns, (turn) => this.makeTurn(turn), (node, turn) => this.updateTurn(node, turn));
    this.composer.draw(state);
    this.greet();
    for (const [name, field] of Object.entries(this.fields)) {
      if (before?.session !== state.session) field.value = state.parameters[name];
      // What is typed and not yet applied stays.
      else if (before.parameters[name] !== state.parameters[name]) fill(field, state.parameters[name]);
    }
    if (before?.case_file !== state.case_file) this.caseFile.value = state.case_file;
    this.stopButton.hidden = !state.busy;
    this.sendButton.hidden = state.busy;
    this.cancelButton.hidden = state.editing === null;
    this.retryButton.hidden = state.busy || state.turns.length === 0 || state.editing !== null;
    this.sendButton.disabled = this.uploads.button.disabled = state.session === null;
    this.deleteButton.disabled = !state.sessions.some((one) => one.id === state.session);
    say(this.phase, state.phase);
    this.drawPermission(state.permission);
    this.announce(before, state);
    this.root.setAttribute("aria-busy", String(state.busy));
    if (state.found && String(state.found) !== String(before?.found)) this.sought = this.log.children[state.found[0]];
    this.seek();
    this.follow();
  }

  /** Scrolls to the turn that a search found, once the transcript is seen. */
  seek() {
    if (!this.sought || !this.log.clientHeight) return;
    this.following = false;
    reveal(this.log, this.sought, { start: true });
    this.sought = null;
  }

  /** Asks whether a tool of the settings may run. */
  drawPermission(permission) {
    this.permission.hidden = permission === null;
    if (permission?.key === this.asked) return;
    this.asked = permission?.key;
    if (permission === null) return;
    const { key, choices } = permission;
    const button = ([id, words]) => this.button(words, () => this.ask("permit", { key, permission: id }));
    this.permission.setAttribute("aria-label", permission.title);
    this.permission.replaceChildren(
      this.h("span", {}, this.h("strong", {}, permission.title), " ", this.h("code", {}, permission.runs), ` ${permission.about}`),
      ...choices.map(button));
    say(this.news, permission.title);
  }

  announce(before, state) {
    if (!before || before.busy === state.busy) return;
    const last = state.turns.at(-1);
    if (state.busy) say(this.news, `${state.title} is answering.`);
    else if (state.prompt) say(this.news, state.prompt);
    else say(this.news, `${last?.speaker ?? state.title} has answered. ${last?.note ?? ""}`.trim());
  }

  drawAgents(state) {
    const { agents } = state;
    keyed(this.agents, agents, () => this.h("option"), (node, agent) => {
      node.value = agent.id;
      say(node, agent.name);
    });
    this.newButton.disabled = this.agents.disabled = agents.length === 0;
    const draft = state.draft ? [{ id: DRAFT, words: state.title }] : [];
    const choices = [...draft, ...agents.flatMap((agent) => [
      { id: `${agent.id}|`, words: `${agent.name}, active (v${agent.version})` },
      ...agent.versions.map((number) => ({ id: `${agent.id}|${number}`, words: `${agent.name} v${number}` })),
    ])];
    keyed(this.who, choices, () => this.h("option"), (node, choice) => {
      node.value = choice.id;
      say(node, choice.words);
    });
    this.drawModels(state);
    this.who.hidden = state.session === null || agents.length === 0 || !state.asks;
    fill(this.who, state.draft ? DRAFT : `${state.agent}|${state.pinned ?? ""}`);
  }

  /** The agent's own model first, then the others; one that the service does not list stays. */
  drawModels({ session, model, models, parameters }) {
    const others = [...new Set([...models, parameters.model])].filter((one) => one && one !== model);
    const choices = [{ id: "", words: model }, ...others.map((id) => ({ id, words: id }))];
    keyed(this.modelChoice, choices, () => this.h("option"), (node, choice) => {
      node.value = choice.id;
      say(node, choice.words);
    });
    this.modelChoice.hidden = session === null || others.length === 0;
    fill(this.modelChoice, parameters.model === model ? "" : parameters.model);
  }

  makeTurn(turn) {
    const { h } = this;
    const step = (by) => () => {
      const [number, several] = this.state.turns[turn.id].variant;
      this.ask("variant", { turn: turn.id, number: ((number - 1 + by + several) % several) + 1 });
    };
    const variants = h("span", { class: "variants", role: "group", "aria-label": "Variants" },
      h("button", { type: "button", class: "carrel-button small", "aria-label": "Variant before", onclick: step(-1) }, "‹"),
      h("span", {}),
      h("button", { type: "button", class: "carrel-button small", "aria-label": "Next variant", onclick: step(1) }, "›"));
    const act = turn.role === "user"
      ? this.button("Edit", () => this.edit(turn.id), "small quiet")
      : this.button("Copy", async () => this.copy(await this.ask("text", { turn: turn.id })), "small quiet");
    const take = this.button("Test case…", () => this.takeCase(this.state.turns[turn.id]), "small quiet");
    return h("article", { class: `carrel-turn ${turn.role}` },
      h("header", {}, h("strong", {}), variants, h("span", { class: "figures" }), act, take),
      h("details", { class: "thinking" }, h("summary"), h("div", { class: "carrel-thinking" })),
      h("div", { class: "attached" }), h("div", { class: "carrel-text" }), h("div", { class: "calls" }),
      h("p", { class: "note" }), h("div", { class: "sources" }));
  }

  updateTurn(node, turn) {
    const [header, thinking, attached, text, calls, note, sources] = node.children;
    thinking.hidden = turn.thought === "";
    say(thinking.children[0], turn.thought);
    say(thinking.children[1], turn.thinking);
    const [speaker, variants, figures, act, take] = header.children;
    node.className = `carrel-turn ${turn.role}`;
    say(speaker, turn.speaker);
    say(figures, turn.figures);
    variants.hidden = turn.variant[1] < 2;
    say(variants.children[1], `${turn.variant[0]}/${turn.variant[1]}`);
    // The text of an answer under way comes in deltas; when it is retried the old one goes first.
    const writing = turn.blocks === null;
    variants.classList.toggle("still", writing || this.state.busy);
    const fixed = turn.role === "user" && (this.state.busy || !this.state.asks);
    act.hidden = writing || turn.role === "tool" || turn.blocks.length === 0 || fixed;
    take.hidden = act.hidden || turn.role !== "assistant";
    if (!writing) {
      this.putBlocks(text, 0, turn.blocks);
      this.finish(text, turn);
    } else if (!node.carrelWriting) text.replaceChildren();
    node.carrelWriting = writing;
    say(attached, turn.attached.map((name) => `▣ ${name}`).join("  "));
    attached.hidden = turn.attached.length === 0;
    keyed(calls, turn.calls.map((words, id) => ({ id, words })), () => this.h("code"), (code, call) => say(code, `▸ calls ${call.words}`));
    say(note, turn.note);
    note.hidden = turn.note === "";
    sources.hidden = turn.sources.length === 0;
    keyed(sources, [{ id: "title" }, ...turn.sources], (one) => one.id === "title"
      ? this.h("span", {})
      : this.h("button", { type: "button", class: "carrel-button small", onclick: () => this.showSource(turn.id, one.id) }),
    (child, one) => {
      say(child, one.id === "title" ? turn.sources_title : one.label);
      child.classList.toggle("cited", Boolean(one.cited));
    });
  }

  showSource(turn, id) {
    this.source.show(turn, this.state.turns[turn].sources.find((one) => one.id === id));
  }

  /** Replaces the blocks of a text from one on; those before stay as they are. */
  putBlocks(text, from, blocks) {
    while (text.children.length > from + blocks.length) text.lastElementChild.remove();
    blocks.forEach((html, index) => {
      let node = text.children[from + index];
      if (!node) {
        node = this.h("div");
        text.append(node);
      }
      if (node.carrelHtml === html) return;
      const linked = node.carrelDone !== undefined;
      node.carrelHtml = html;
      node.carrelDone = undefined;
      const made = this.h("div");
      made.innerHTML = html; // made by the kernel's one Markdown renderer, raw HTML off
      if (linked) node.replaceChildren(...made.childNodes);
      else become(node, made);
    });
  }

  /** Links the numbers of sources that are there, and gives each code block its Copy. */
  finish(text, turn) {
    const ids = turn.sources.map((source) => source.id).join();
    for (const block of text.children) {
      if (block.carrelDone === ids) continue;
      if (block.carrelDone !== undefined) block.innerHTML = block.carrelHtml;
      block.carrelDone = ids;
      if (ids) this.linkSources(block, turn);
      for (const pre of block.querySelectorAll("pre")) {
        const code = pre.textContent;
        pre.append(this.button("Copy", () => this.copy(code), "small copy"));
      }
    }
  }

  linkSources(block, turn) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("pre, code, a")) nodes.push(walker.currentNode);
    for (const node of nodes) {
      // From the end, and split in place: what is selected before it stays selected.
      for (const { 0: words, 1: number, index } of [...node.data.matchAll(/\[(\d+)\]/g)].reverse()) {
        const id = Number(number);
        const source = turn.sources.find((one) => one.id === id);
        if (!source) continue;
        node.splitText(index + words.length);
        node.splitText(index).replaceWith(
          this.h("button", { type: "button", class: "carrel-cite", title: source.title, onclick: () => this.showSource(turn.id, id) }, words));
      }
    }
  }

  grow({ session, turn, from, blocks }) {
    const node = [...this.log.children].find((child) => child.carrelKey === turn);
    if (!node || session !== this.session) return;
    this.putBlocks(node.querySelector(":scope > .carrel-text"), from, blocks);
    this.follow();
  }

  scrolled() {
    this.following = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
  }

  /** Keeps the end in sight unless the reader has scrolled away from it. */
  follow() {
    if (this.following) this.log.scrollTop = this.log.scrollHeight;
  }

  async begin() {
    if (this.agents.value && await this.ask("begin", { agent: this.agents.value }) !== undefined) this.arrive();
  }

  /** Gives the field the focus, as soon as the state has a chat. */
  arrive() {
    super.arrive();
    this.begun = true;
    this.greet();
  }

  greet() {
    if (!this.begun || this.composer.input.disabled) return;
    this.begun = false;
    this.composer.input.focus();
  }

  choose() {
    if (this.who.value === DRAFT) return;
    const [agent, version] = this.who.value.split("|");
    this.who.blur();
    this.ask("choose", { agent, version: version ? Number(version) : null });
  }

  chooseModel() {
    this.modelChoice.blur();
    this.ask("model", { model: this.modelChoice.value });
  }

  async edit(turn) {
    const text = await this.ask("edit", { turn });
    if (text === undefined) return;
    if (turn === null) this.composer.putBack();
    else this.composer.takeUp(text);
  }

  /** Makes a test case of an answer, in a set's file. */
  takeCase(turn) {
    if (turn?.role !== "assistant" || turn.blocks === null) return;
    const file = this.caseFile.value.trim() || this.state.case_file;
    const take = (good) => async () => {
      const name = await this.ask("take_case", { turn: turn.id, good, file });
      if (name !== undefined) this.tell(`Added to ${name}.`);
    };
    this.confirm(`Add this answer to ${file} as a test case?`, "Good answer", take(true),
      { verb: "Bad answer", words: "A good answer should be repeated, a bad one should not. More names another file.", action: take(false) }, "primary");
  }

  async save(form, ending) {
    this.keepFile(await this.ask("export", { form }), `chat.${ending}`);
  }

  /** @returns whether the text was taken */
  async send(text) {
    if (this.state.busy || this.state.session === null) return false;
    this.following = true;
    return (await this.ask("send", { text })) !== undefined;
  }
}

export default { render: (host) => new ChatView(host).start() };
