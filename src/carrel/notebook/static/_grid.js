/**
 * A table with one row in the tab order: arrows move, Enter opens, Space marks.
 *
 * A row is `{ id, cells, marked? }`, a cell words or a badge; a column is `{ label, kind? }` with
 * the kinds "name", "number", "quiet" and "wide".
 */
class Grid {
  /**
   * @param {View} view
   * @param {{ label: string, columns: { label: string, kind?: string }[], marks?: boolean,
   *           onSelect?: (id: string) => void, onOpen?: (id: string) => void,
   *           onMark?: (id: string) => void }} options
   */
  constructor(view, options) {
    this.view = view;
    this.options = options;
    this.cursor = null;
    this.rows = [];
    const h = view.h;
    const labels = options.columns.map((column) =>
      h("th", { role: "columnheader", scope: "col", class: column.kind ?? "" }, column.label));
    if (options.marks) labels.unshift(h("th", { role: "columnheader", scope: "col", class: "mark", "aria-label": "Marked" }));
    this.head = h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...labels));
    this.body = h("tbody", { role: "rowgroup", onkeydown: (event) => this.pressed(event) });
    this.empty = h("div", { class: "carrel-empty", hidden: true });
    this.table = h("table", {
      role: "grid", "aria-label": options.label, "aria-multiselectable": options.marks ? "true" : "false",
    }, this.head, this.body);
    this.element = h("div", { class: "carrel-grid" }, this.table, this.empty);
  }

  /** @param {any[]} rows @param {string | null} selected @param {string} empty what to say without rows */
  draw(rows, selected, empty) {
    this.rows = rows;
    if (selected !== null && selected !== this.sent) this.cursor = selected;
    if (!rows.some((row) => row.id === this.cursor)) this.cursor = rows[0]?.id ?? null;
    keyed(this.body, rows, (row) => this.create(row), (node, row) => this.update(node, row, selected));
    this.table.hidden = rows.length === 0;
    this.empty.hidden = rows.length > 0;
    say(this.empty, empty);
  }

  create(row) {
    const h = this.view.h;
    const cells = this.options.columns.map((column) => h("td", { role: "gridcell", class: column.kind ?? "" }));
    if (this.options.marks) {
      const box = h("input", {
        type: "checkbox", tabindex: "-1",
        onclick: (event) => { event.stopPropagation(); this.options.onMark?.(row.id); },
      });
      cells.unshift(h("td", { role: "gridcell", class: "mark" }, box));
    }
    return h("tr", {
      role: "row",
      onclick: () => this.select(row.id, true),
      ondblclick: () => this.options.onOpen?.(row.id),
    }, ...cells);
  }

  update(node, row, selected) {
    const chosen = row.id === selected;
    node.tabIndex = row.id === this.cursor ? 0 : -1;
    node.classList.toggle("chosen", chosen);
    node.setAttribute("aria-selected", String(Boolean(this.options.marks ? row.marked : chosen)));
    let cells = [...node.children];
    if (this.options.marks) {
      const box = cells[0].firstElementChild;
      box.checked = Boolean(row.marked);
      box.setAttribute("aria-label", `Mark ${row.cells[0]}`);
      cells = cells.slice(1);
    }
    cells.forEach((cell, index) => {
      sayBadge(cell, row.cells[index]);
      if (this.options.columns[index].kind === "name") cell.title = row.cells[index];
    });
  }

  select(id, focus) {
    this.cursor = id;
    this.sent = id;
    for (const node of this.body.children) {
      node.tabIndex = node.carrelKey === id ? 0 : -1;
      node.classList.toggle("chosen", node.carrelKey === id);
      if (node.carrelKey === id && focus) node.focus();
    }
    this.options.onSelect?.(id);
  }

  focus() {
    this.body.querySelector("[tabindex='0']")?.focus();
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const index = this.rows.findIndex((row) => row.id === this.cursor);
    const last = this.rows.length - 1;
    const target = {
      ArrowDown: Math.min(index + 1, last), ArrowUp: Math.max(index - 1, 0),
      PageDown: Math.min(index + 10, last), PageUp: Math.max(index - 10, 0), Home: 0, End: last,
    }[event.key];
    if (target !== undefined) this.select(this.rows[target].id, true);
    else if (event.key === "Enter") this.options.onOpen?.(this.cursor);
    else if (event.key === " " && this.options.marks) this.options.onMark?.(this.cursor);
    else return;
    event.preventDefault();
  }
}
