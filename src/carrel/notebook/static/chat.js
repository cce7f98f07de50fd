/** The Chat panel: sessions, a transcript that streams, what an answer drew from. */
class ChatView extends View {
  constructor(host) {
    super(host, "Chat");
    const { h } = this;
    this.sessions = new ChoiceList(this, "Sessions", (id) => this.ask("resume", { session: id }));
    this.agents = h("select", { "aria-label": "Agent" });
    this.newButton = this.button("New", () => this.begin());
    this.side = h("div", { class: "carrel-pane list" }, this.sessions.element,
      h("div", { class: "carrel-tools" }, this.agents, this.newButton));
    this.agents.style.flex = "1";
    this.title = h("h3", {});
    this.tokens = h("span", { class: "carrel-range" });
    this.log = h("div", { class: "carrel-log", tabindex: "0", "aria-label": "Transcript", onscroll: () => this.scrolled() });
    this.empty = h("div", { class: "carrel-empty" });
    this.input = h("textarea", {
      rows: 2, "aria-label": "Message", placeholder: "Ask something",
      onkeydown: (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.altKey || event.isComposing) return;
        event.preventDefault();
        this.send();
      },
    });
    this.retryButton = this.button("Retry", () => this.ask("retry"));
    this.sendButton = h("button", { class: "carrel-button primary" }, "Send");
    this.stopButton = this.button("■ Stop", () => this.ask("stop"), "danger");
    this.form = h("form", { class: "carrel-compose", onsubmit: (event) => { event.preventDefault(); this.send(); } },
      this.input, this.retryButton, this.sendButton, this.stopButton);
    this.source = h("aside", { class: "carrel-pane details", "aria-label": "Source", hidden: true });
    this.body.append(h("div", { class: "carrel-panes" }, this.side,
      h("div", { class: "carrel-pane" },
        h("div", { class: "carrel-tools" }, this.title, h("span", { class: "carrel-gap" }), this.tokens),
        this.empty, this.log, this.form),
      this.source));
    this.key("n", () => this.begin());
    this.following = true;
    this.on("delta", (delta) => this.grow(delta));
  }

  draw(state) {
    this.state = state;
    this.side.hidden = state.single;
    this.sessions.draw(state.sessions, state.session);
    this.drawAgents(state.agents);
    say(this.title, state.title);
    say(this.tokens, state.tokens);
    say(this.empty, state.empty);
    this.empty.hidden = state.turns.length > 0;
    this.log.hidden = state.turns.length === 0;
    if (state.session !== this.session) {
      this.session = state.session;
      this.log.replaceChildren();
      this.source.hidden = true;
    }
    keyed(this.log, state.turns, (turn) => this.makeTurn(turn), (node, turn) => this.updateTurn(node, turn));
    this.stopButton.hidden = !state.busy;
    this.sendButton.hidden = state.busy;
    this.retryButton.hidden = state.busy || state.turns.length === 0;
    this.input.disabled = this.sendButton.disabled = state.session === null;
    say(this.status, state.phase);
    this.root.setAttribute("aria-busy", String(state.busy));
    this.follow();
  }

  drawAgents(agents) {
    keyed(this.agents, agents, () => this.h("option"), (node, agent) => {
      node.value = agent.id;
      say(node, agent.name);
    });
    this.newButton.disabled = this.agents.disabled = agents.length === 0;
  }

  makeTurn(turn) {
    const { h } = this;
    return h("article", { class: `carrel-turn ${turn.role}` },
      h("header", {}, h("strong", {}), h("span", { class: "figures" })),
      h("div", { class: "carrel-text" }), h("p", { class: "note" }), h("div", { class: "sources" }));
  }

  updateTurn(node, turn) {
    const [header, text, note, sources] = node.children;
    say(header.children[0], turn.speaker);
    say(header.children[1], turn.figures);
    // The text of an answer under way comes in deltas; when it is retried the old one goes first.
    const writing = turn.blocks === null;
    if (!writing) this.putBlocks(text, 0, turn.blocks);
    else if (!node.carrelWriting) text.replaceChildren();
    node.carrelWriting = writing;
    say(note, turn.note);
    note.hidden = turn.note === "";
    sources.hidden = turn.sources.length === 0;
    keyed(sources, turn.sources, (source) => this.h("button", { type: "button", class: "carrel-button small", onclick: () => this.showSource(source) }),
      (button, source) => say(button, source.label));
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
      node.carrelHtml = html;
      node.innerHTML = html; // made by the kernel's one Markdown renderer, raw HTML off
    });
  }

  grow({ session, turn, from, blocks }) {
    const node = [...this.log.children].find((child) => child.carrelKey === turn);
    if (!node || session !== this.session) return;
    this.putBlocks(node.children[1], from, blocks);
    this.follow();
  }

  showSource(source) {
    const { h } = this;
    this.source.replaceChildren(
      h("div", { class: "carrel-tools" }, h("h4", {}, source.title), h("span", { class: "carrel-gap" }),
        this.button("×", () => { this.source.hidden = true; }, "small")),
      h("div", { class: "carrel-scroll" }, h("blockquote", {}, ...marked(h, source.snippet)),
        this.button("Full page", async () => {
          if ((await this.ask("open", { library: source.library, document: source.document, name: source.name, page: source.page })) !== undefined) this.goto("Document");
        })));
    this.source.hidden = false;
  }

  scrolled() {
    this.following = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
  }

  /** Keeps the end in sight unless the reader has scrolled away from it. */
  follow() {
    if (this.following) this.log.scrollTop = this.log.scrollHeight;
  }

  begin() {
    if (this.agents.value) this.ask("begin", { agent: this.agents.value });
  }

  async send() {
    const text = this.input.value.trim();
    if (!text || this.state.busy || this.state.session === null) return;
    this.following = true;
    const sent = await this.ask("send", { text });
    if (sent !== undefined && this.input.value.trim() === text) this.input.value = "";
  }
}

export default { render: (host) => new ChatView(host).start() };
