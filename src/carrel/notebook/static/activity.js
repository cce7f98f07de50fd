/** The Activity panel: everything that takes a while. */
class ActivityView extends View {
  constructor(host) {
    super(host, "Activity");
    this.grid = new Grid(this, {
      label: "Activity",
      columns: [
        { label: "What" }, { label: "Name", kind: "name" }, { label: "Status" },
        { label: "Progress", kind: "number" }, { label: "Rate", kind: "number" }, { label: "Time", kind: "quiet" }, { label: "Problem", kind: "wide quiet" },
      ],
    });
    this.stopButton = this.button("■ Stop", () => this.ask("cancel", { id: this.grid.cursor }));
    this.dismissButton = this.button("Dismiss", () => this.ask("dismiss", { id: this.grid.cursor }));
    this.body.append(this.h("div", { class: "carrel-tools" }, this.stopButton, this.dismissButton), this.grid.element);
  }

  draw(state) {
    this.grid.draw(state.rows, null, state.empty);
    this.stopButton.disabled = this.dismissButton.disabled = state.rows.length === 0;
  }
}

export default { render: (host) => new ActivityView(host).start() };
