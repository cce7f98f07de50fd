/** The Activity panel: everything that takes a while. */
class ActivityView extends View {
  constructor(host) {
    super(host, "Activity");
    this.grid = new Grid(this, {
      label: "Activity",
      columns: [
        { label: "What", name: "kind" }, { label: "Name", kind: "name", name: "name" }, { label: "Status", name: "status" },
        { label: "Progress", kind: "number", name: "progress" }, { label: "Rate", kind: "number rate", name: "rate" },
        { label: "Time", kind: "quiet", name: "left" }, { label: "Note", kind: "wide quiet" },
      ],
      onSelect: () => this.drawTools(),
    });
    const act = (label, intent) => this.button(label, () => this.ask(intent, { id: this.grid.cursor }));
    this.stopButton = act("■ Stop", "cancel");
    this.retryButton = act("Retry", "retry");
    this.saveButton = act("Save answers", "save");
    this.dismissButton = act("Dismiss", "dismiss");
    this.dismissAllButton = this.button("Dismiss all", () => this.ask("dismiss_all"));
    this.body.append(
      this.h("div", { class: "carrel-tools" }, this.stopButton, this.retryButton, this.saveButton, this.dismissButton, this.dismissAllButton,
        this.h("span", { class: "carrel-gap" }), this.corner()),
      this.grid.element);
    this.key("x", "Stop", () => this.stopButton.click());
    this.key("d", "Dismiss", () => this.dismissButton.click());
  }

  draw(state) {
    this.grid.draw(state.rows, null, state.empty, state.layout);
    this.drawTools();
  }

  drawTools() {
    const row = this.grid.rows.find((one) => one.id === this.grid.cursor);
    this.stopButton.disabled = !row?.running;
    this.retryButton.disabled = !row?.retryable;
    this.saveButton.hidden = !row?.saves;
    this.dismissButton.disabled = !row || row.running;
    this.dismissAllButton.disabled = !this.grid.rows.some((one) => !one.running);
  }
}

export default { render: (host) => new ActivityView(host).start() };
