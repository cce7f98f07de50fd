/** Chats side by side: one field asks all of them. */
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
    this.body.append(this.chats, h("form", { class: "carrel-compose", onsubmit: (event) => { event.preventDefault(); this.send(); } },
      this.input, this.retryButton, this.sendButton, this.stopButton, this.corner()));
    this.opened = new Set();
  }

  draw(state) {
    this.state = state;
    for (const chat of state.chats) if (!this.opened.has(chat.id)) this.open(chat);
    this.input.placeholder = state.chats.length > 1 ? "Ask all of them the same" : "Ask something";
    this.stopButton.hidden = !state.busy;
    this.sendButton.hidden = state.busy;
    this.retryButton.hidden = state.busy || !state.begun;
  }

  async open(chat) {
    this.opened.add(chat.id);
    const place = this.h("div", { class: "carrel-nest" });
    this.chats.append(place);
    const widget = await this.host.getWidget(chat.panel);
    if (!this.signal.aborted) await widget.render({ el: place, signal: this.signal });
  }

  async send() {
    const text = this.input.value.trim();
    if (!text || this.state.busy) return;
    const sent = await this.ask("send", { text });
    if (sent !== undefined && this.input.value.trim() === text) this.input.value = "";
  }
}

export default { render: (host) => new CompareView(host).start() };
