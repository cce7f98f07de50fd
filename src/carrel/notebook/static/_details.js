/** The details at the right: `i` hides and shows them; in a narrow panel they cover the list. */
class Details {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const { h } = view;
    this.element = h("div", { class: "carrel-pane details foldable", "aria-label": "Details" });
    this.button = view.button("Details", () => this.toggle(), "carrel-for-narrow");
    this.close = view.sign("×", "Close the details", () => this.toggle());
    this.close.classList.add("carrel-for-narrow");
    view.key("i", "Details", () => this.toggle());
  }

  toggle() {
    const shown = !this.element.checkVisibility();
    this.element.dataset.shown = String(shown);
    if (shown) this.close.focus();
    else if (this.button.checkVisibility()) this.button.focus();
    else this.view.root.focus();
  }
}
