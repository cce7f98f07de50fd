/** Chats side by side: one field asks all of them, and their answers are judged. */
class CompareView extends View {
  constructor(host) {
    super(host, "Compare");
    const { h } = this;
    this.host = host.host;
    this.chats = h("div", { class: "carrel-beside" });
    this.input = h("textarea", {
      rows: 2, "aria-label": "Message to all",
      onkeydown: (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.altKey || event.isComposing) return;
        event.preventDefault();
        this.send();
      },
    });
    this.retryButton = this.button("Retry", () => this.ask("retry"));
    this.sendButton = h("button", { class: "carrel-button primary" }, "Send");
    this.stopButton = this.button("■ Stop", () => this.ask("stop"), "danger");
    this.explain("Enter", "Send to all", "Shift+Enter", "New line");
    this.buildJudging();
    this.body.append(this.chats, this.differences, this.counted, this.judging,
      h("form", { class: "carrel-compose", onsubmit: (event) => { event.preventDefault(); this.send(); } },
        this.input, this.retryButton, this.sendButton, this.stopButton, this.corner()));
    this.opened = new Map();
  }

  /** The vote, what differs, and how the sides are asked. */
  buildJudging() {
    const { h } = this;
    this.votes = h("span", { class: "votes", role: "group", "aria-label": "Best answer" });
    this.note = h("input", { "aria-label": "Note about these answers", placeholder: "Note", size: 12,
      onchange: () => this.ask("note", { text: this.note.value }) });
    this.blind = this.button("Blind", () => this.ask("blind", { on: !this.state.blind }), "small");
    this.seed = this.button("Same seed", () => this.ask("seed", { on: !this.state.seed }), "small");
    this.agentsButton = this.button("Agents differ", () => this.differ("agents_differ"), "small");
    this.answersButton = this.button("Answers differ", () => this.differ("answers_differ"), "small");
    this.votesButton = this.button("All votes", () => this.countVotes(), "small");
    this.pair = [0, 1].map((place) => h("select", { "aria-label": place ? "Changed side" : "Side", onchange: () => this.differ(this.asked) }));
    this.onward = h("select", { "aria-label": "Go on with", onchange: () => this.goOn() });
    this.judged = h("span", { class: "carrel-range", role: "status" });
    this.judging = h("div", { class: "carrel-tools carrel-judging", hidden: true },
      this.votes, this.note, this.blind, this.seed, this.agentsButton, this.answersButton, this.votesButton, this.onward, this.judged);
    this.changes = new Changes(this);
    this.heading = h("h3", {});
    this.differences = h("div", { class: "carrel-differences", hidden: true },
      h("div", { class: "carrel-tools" }, this.heading, ...this.pair, h("span", { class: "carrel-gap" }), this.changes.toggle,
        this.button("Close", () => { this.differences.hidden = true; }, "small")),
      this.changes.element);
    this.tallied = h("tbody", {});
    this.counted = h("section", { class: "carrel-differences", "aria-label": "Votes of all comparisons", hidden: true },
      h("div", { class: "carrel-tools" }, h("h3", {}, "Votes of all comparisons"), h("span", { class: "carrel-gap" }),
        this.button("Close", () => { this.counted.hidden = true; }, "small")),
      h("div", { class: "carrel-text" }, h("table", {}, this.tallied)));
  }

  draw(state) {
    this.state = state;
    for (const chat of state.chats) if (!this.opened.has(chat.id)) this.open(chat);
    for (const chat of state.chats) {
      const node = this.opened.get(chat.id);
      node.hidden = chat.place === null;
      node.style.order = String(chat.place ?? 0);
    }
    this.input.placeholder = state.compared ? "Ask all of them the same" : "Ask something";
    this.stopButton.hidden = !state.busy;
    this.sendButton.hidden = state.busy;
    this.retryButton.hidden = state.busy || !state.begun;
    this.drawJudging(state);
  }

  drawJudging(state) {
    this.judging.hidden = !state.compared;
    if (!state.compared) this.differences.hidden = this.counted.hidden = true;
    const sides = state.names.map((name, place) => ({ id: place, words: name }));
    keyed(this.votes, [...sides, { id: "tie", words: "Tie" }],
      (one) => this.button(one.words, () => this.ask("vote", { place: one.id === "tie" ? null : one.id }), "small"),
      (node, one) => {
        say(node, one.id === "tie" ? "Tie" : `▲ ${one.words}`);
        node.title = one.id === "tie" ? "None is better" : `Vote for ${one.words}`;
        node.disabled = !state.answered;
      });
    this.note.disabled = !state.answered;
    for (const [button, on] of [[this.blind, state.blind], [this.seed, state.seed]]) button.setAttribute("aria-pressed", String(on));
    this.agentsButton.disabled = this.votesButton.disabled = this.onward.disabled = state.hidden;
    this.answersButton.disabled = !state.answered;
    for (const choice of [...this.pair, this.onward]) {
      const first = choice === this.onward ? [{ id: "", words: "Go on with…" }] : [];
      keyed(choice, [...first, ...sides], () => this.h("option"), (node, one) => { node.value = one.id; say(node, one.words); });
    }
    for (const choice of this.pair) choice.hidden = sides.length < 3;
    say(this.judged, state.judged);
  }

  async open(chat) {
    const place = this.h("div", { class: "carrel-nest" });
    this.opened.set(chat.id, place);
    this.chats.append(place);
    const widget = await this.host.getWidget(chat.panel);
    if (!this.signal.aborted) await widget.render({ el: place, signal: this.signal });
  }

  async differ(name) {
    if (!name) return;
    if (this.asked === undefined) this.pair[1].value = "1";
    this.asked = name;
    const found = await this.ask(name, { old: Number(this.pair[0].value), new: Number(this.pair[1].value) });
    if (found === undefined) return;
    say(this.heading, found.title);
    this.changes.draw(found.rows);
    this.counted.hidden = true;
    this.differences.hidden = false;
  }

  async countVotes() {
    const found = await this.ask("votes");
    if (found === undefined) return;
    const row = (tag, cells) => this.h("tr", {}, ...cells.map((cell) => this.h(tag, {}, cell)));
    this.tallied.replaceChildren(row("th", found.head), ...found.rows.map((cells) => row("td", cells)));
    this.differences.hidden = true;
    this.counted.hidden = false;
  }

  goOn() {
    const place = this.onward.value;
    this.onward.value = "";
    this.onward.blur();
    if (place !== "") this.ask("go_on", { place: Number(place) });
  }

  async send() {
    const text = this.input.value.trim();
    if (!text || this.state.busy) return;
    const sent = await this.ask("send", { text });
    if (sent === undefined) return;
    this.note.value = "";
    if (this.input.value.trim() === text) this.input.value = "";
  }
}

export default { render: (host) => new CompareView(host).start() };
