/** The Activity panel: everything that takes a while. */
class ActivityView extends View {
  constructor(host) {
    super(host, "Activity");
    this.grid = new Grid(this, {
      label: "Activity", marks: true,
      columns: [
        { label: "What", name: "kind" }, { label: "Name", kind: "name", name: "name" }, { label: "Status", name: "status" },
        { label: "Progress", kind: "number", name: "progress" }, { label: "Rate", kind: "number rate", name: "rate" },
        { label: "Time", kind: "quiet", name: "left" }, { label: "Note", kind: "wide quiet" },
      ],
      onSelect: () => this.drawTools(),
      onMark: (id) => this.ask("mark", { id }),
    });
    const act = (label, intent) => this.button(label, () => this.ask(intent, { ids: this.chosen().map((row) => row.id) }));
    this.stopButton = this.button("■ Stop", () => this.stop());
    this.retryButton = act("Retry", "retry");
    this.saveButton = this.button("Save answers", () => this.ask("save", { id: this.grid.cursor }));
    this.dismissButton = act("Dismiss", "dismiss");
    this.dismissAllButton = this.button("Dismiss all", () => this.ask("dismiss_all"));
    this.counted = this.h("small", { class: "quiet" });
    this.body.append(
      this.h("div", { class: "carrel-tools" }, this.stopButton, this.retryButton, this.saveButton, this.dismissButton, this.dismissAllButton,
        this.h("span", { class: "carrel-gap" }), this.counted, this.corner()),
      this.grid.element);
    this.key("Ctrl+a", "Mark all", () => this.ask("mark_all"));
    this.key("x", "Stop", () => this.stopButton.click());
    this.key("d", "Dismiss", () => this.dismissButton.click());
  }

  draw(state) {
    say(this.counted, state.counted);
    this.grid.draw(state.rows, null, state.empty, state.layout);
    this.drawTools();
  }

  /** The marked rows, else the one under the cursor. */
  chosen() {
    const marked = this.grid.rows.filter((row) => row.marked);
    return marked.length ? marked : this.grid.rows.filter((row) => row.id === this.grid.cursor);
  }

  /** Stops what runs and drops what was interrupted; asks first about several. */
  stop() {
    const ids = this.chosen().filter((row) => row.running || row.interrupted).map((row) => row.id);
    const act = () => this.ask("cancel", { ids });
    if (ids.length > 1) this.confirm(`Stop ${ids.length} pieces of work?`, "Stop them", act);
    else act();
  }

  drawTools() {
    const row = this.grid.rows.find((one) => one.id === this.grid.cursor);
    const chosen = this.chosen();
    this.stopButton.disabled = !chosen.some((one) => one.running || one.interrupted);
    this.retryButton.disabled = !chosen.some((one) => one.retryable);
    this.saveButton.hidden = !row?.saves;
    this.dismissButton.disabled = !chosen.some((one) => !one.running && !one.interrupted);
    this.dismissAllButton.disabled = !this.grid.rows.some((one) => !one.running);
  }
}

export default { render: (host) => new ActivityView(host).start() };
