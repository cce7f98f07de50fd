/** A list of which one is chosen: arrows move and choose. Items are `{ id, name, note }`. */
class ChoiceList {
  /** @param {View} view @param {string} label @param {(id: string | number) => void} choose */
  constructor(view, label, choose) {
    this.view = view;
    this.choose = choose;
    this.items = [];
    this.element = view.h("ul", {
      class: "carrel-list", role: "listbox", "aria-label": label, onkeydown: (event) => this.pressed(event),
    });
  }

  draw(items, selected) {
    this.items = items;
    this.selected = selected;
    const reachable = items.some((item) => item.id === selected) ? selected : items[0]?.id;
    const { h } = this.view;
    keyed(this.element, items, (item) => h("li", { role: "option", onclick: () => this.choose(item.id) },
      h("span", { class: "name" }), h("span", { class: "note" })), (node, item) => {
      node.tabIndex = item.id === reachable ? 0 : -1;
      node.setAttribute("aria-selected", String(item.id === selected));
      say(node.children[0], item.name);
      sayBadge(node.children[1], item.note);
    });
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const nodes = [...this.element.children];
    const index = nodes.indexOf(/** @type {Element} */ (event.target));
    if (index < 0) return;
    const last = nodes.length - 1;
    const target = {
      ArrowDown: Math.min(index + 1, last), ArrowUp: Math.max(index - 1, 0), Home: 0, End: last, Enter: index,
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    nodes[target].focus();
    this.choose(this.items[target].id);
  }
}
