/** Of the narrowest column, and how much a key widens one; in characters. */
const LEAST_WIDTH = 3;
const WIDER = 2;

/** Pixels: of a panel below which a wide cell stands under its row, and that names shall have. */
const STACKED = 760;
const NAME_ROOM = 200;

/** What the columns share, by kind; the others are as wide as their words. */
const SHARES = { name: "minmax(90px, 1fr)", wide: "minmax(220px, 1.2fr)", summary: "minmax(60px, .7fr)" };

/** @param {Element} node @returns its width in pixels */
function widthOf(node) {
  return node.getBoundingClientRect().width;
}

/** @param {number} index of a column @returns the style of its cells */
function placed(index) {
  return `display: var(--column-${index})`;
}

/**
 * A table with one row in the tab order: arrows move, Enter opens, Space marks. A column with a
 * name is sorted by a click on its head and widened by dragging its edge; the kernel keeps both.
 *
 * A row is `{ id, cells, marked? }`, a cell words or a badge; a column is
 * `{ label, kind?, name?, sorts? }` with the kinds "name", "number", "quiet", "summary" and "wide".
 * In a narrow panel columns are left out until the names are whole: first those that say the same
 * in every row, never one with badges.
 */
class Grid {
  /**
   * @param {View} view
   * @param {{ label: string, columns: { label: string, kind?: string, name?: string, sorts?: boolean }[], marks?: boolean,
   *           onSelect?: (id: string) => Promise<any> | void, onOpen?: (id: string) => void,
   *           onMark?: (id: string) => void }} options
   */
  constructor(view, options) {
    this.view = view;
    this.options = options;
    this.cursor = null;
    this.choosing = null; // the newest choice made here, until the kernel knows of it
    this.rows = [];
    this.widths = {};
    this.dragged = false;
    const h = view.h;
    this.sort = null;
    this.heads = options.columns.map((column, index) => this.createHead(column, index));
    const labels = [...this.heads];
    if (options.marks) labels.unshift(h("th", { role: "columnheader", scope: "col", class: "mark" }, h("span", { class: "carrel-unseen" }, "Marked")));
    this.head = h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...labels));
    this.body = h("tbody", { role: "rowgroup", onkeydown: (event) => this.pressed(event) });
    this.empty = h("div", { class: "carrel-empty", hidden: true });
    this.table = h("table", {
      role: "grid", "aria-label": options.label, "aria-multiselectable": options.marks ? "true" : "false",
    }, this.head, this.body);
    this.element = h("div", { class: "carrel-grid" }, this.table, this.empty);
    this.table.style.setProperty("--first", options.marks ? "2" : "1");
    let room = 0;
    const watched = new ResizeObserver(() => {
      if (room !== (room = this.element.offsetWidth)) this.layOut();
    });
    watched.observe(this.element);
    view.signal.addEventListener("abort", () => watched.disconnect());
    view.explain("↑ ↓", "Move", "Enter", options.onOpen ? "Open" : "", "Space", options.marks ? "Mark" : "");
    if (options.columns.some((column) => column.name)) view.explain("Shift+← →", "Width of the column, on its head");
  }

  createHead({ label, kind, name, sorts = true }, index) {
    const { h } = this.view;
    const attributes = { role: "columnheader", scope: "col", class: kind ?? "", style: placed(index) };
    if (!name) return h("th", attributes, label);
    const words = sorts
      ? h("button", { type: "button", class: "carrel-sort", onclick: () => this.view.ask("sort", { column: name }) }, label)
      : h("span", { class: "carrel-sort" }, label);
    const edge = h("span", { class: "carrel-edge", "aria-hidden": "true", title: "Drag to widen" });
    const head = h("th", { ...attributes, onkeydown: (event) => {
      const by = { ArrowLeft: -WIDER, ArrowRight: WIDER }[event.key];
      if (!event.shiftKey || !by) return;
      event.preventDefault();
      this.widen(name, widthOf(head) / widthOf(edge) + by, true);
    } }, words, edge);
    edge.addEventListener("pointerdown", (event) => this.drag(event, name, head, edge), { signal: this.view.signal });
    return head;
  }

  /** Follows the pointer; the edge is a character wide, the unit of the widths. */
  drag(event, name, head, edge) {
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
    const [from, width, unit] = [event.clientX, widthOf(head), widthOf(edge)];
    edge.onpointermove = ({ clientX }) => {
      this.dragged = true;
      this.widen(name, (width + clientX - from) / unit, false);
    };
    edge.onpointerup = edge.onpointercancel = () => {
      edge.onpointermove = edge.onpointerup = edge.onpointercancel = null;
      if (this.dragged) this.widen(name, this.widths[name], true);
      this.dragged = false;
    };
  }

  /** @param {string} name @param {number} width in characters @param {boolean} kept */
  widen(name, width, kept) {
    this.widths = { ...this.widths, [name]: Math.max(LEAST_WIDTH, Math.round(width)) };
    this.layOut();
    if (kept) this.view.ask("widen", { column: name, width: this.widths[name] });
  }

  layOut() {
    if (!this.element.offsetWidth || this.table.hidden) return;
    this.table.classList.toggle("stacked", this.element.offsetWidth < STACKED);
    const out = new Set();
    this.place(out);
    for (const [index, constant] of this.spare()) {
      if (!this.isCrowded(constant)) break;
      this.place(out.add(index));
    }
  }

  /** Gives the columns their widths. @param {Set<number>} out those that are not shown */
  place(out) {
    const { style } = this.table;
    const widths = this.options.marks ? ["30px"] : [];
    this.options.columns.forEach(({ kind = "", name }, index) => {
      const width = name && this.widths[name];
      style.setProperty(`--column-${index}`, out.has(index) ? "none" : "block");
      const below = kind.startsWith("wide") && this.table.classList.contains("stacked");
      if (!out.has(index) && !below) widths.push(width ? `${width}ch` : SHARES[kind.split(" ")[0]] ?? "max-content");
    });
    style.gridTemplateColumns = widths.join(" ");
  }

  /** @returns {[number, boolean][]} the columns that can be left out, and whether each is the same in all rows */
  spare() {
    const words = (cell) => cell?.text ?? cell ?? "";
    const rank = ({ kind = "" }) => ["summary", "quiet", "number"].findIndex((one) => kind.split(" ").includes(one)) + 1 || 4;
    return this.options.columns
      .map((column, index) => {
        const cells = this.rows.map((row) => row.cells[index]);
        const constant = cells.every((cell) => words(cell) === words(cells[0]));
        const kept = /^(name|wide)/.test(column.kind ?? "") || (column.name && (this.widths[column.name] || this.sort?.column === column.name))
          || (!constant && cells.some((cell) => cell?.role));
        return { index, constant, kept, rank: constant ? 0 : rank(column) };
      })
      .filter((one) => !one.kept)
      .sort((one, other) => one.rank - other.rank || other.index - one.index)
      .map(({ index, constant }) => [index, constant]);
  }

  /** Whether names are cut; where a column differs from row to row, whether they are short, too. */
  isCrowded(constant) {
    if (this.table.scrollWidth > this.element.clientWidth) return true;
    const names = [...this.body.querySelectorAll("td.name")];
    const cut = names.some((node) => node.scrollWidth > node.clientWidth);
    return cut && (constant || names[0].clientWidth < NAME_ROOM);
  }

  drawHeads(sort) {
    this.sort = sort;
    this.options.columns.forEach(({ label, name, sorts = true }, index) => {
      if (!name || !sorts) return;
      const head = this.heads[index];
      const chosen = sort?.column === name;
      head.setAttribute("aria-sort", chosen ? (sort.descending ? "descending" : "ascending") : "none");
      say(head.firstElementChild, chosen ? `${label} ${sort.descending ? "↓" : "↑"}` : label);
    });
  }

  /**
   * @param {any[]} rows @param {string | null} selected @param {string} empty what to say without rows
   * @param {{ sort: { column: string, descending: boolean } | null, widths: Record<string, number> }} layout
   */
  draw(rows, selected, empty, layout = { sort: null, widths: {} }) {
    const order = JSON.stringify(layout.sort);
    const reordered = order !== this.order && this.order !== undefined;
    this.order = order;
    this.rows = rows;
    const known = (id) => rows.some((row) => row.id === id);
    // A state that was sent before the kernel heard of a click does not take it back.
    const chosen = this.choosing ? this.choosing.id : selected;
    const moved = chosen !== this.cursor && known(chosen);
    if (moved) this.cursor = chosen;
    else if (!known(this.cursor)) this.cursor = rows[0]?.id ?? null;
    keyed(this.body, rows, (row) => this.create(row), (node, row) => this.update(node, row, chosen));
    this.drawHeads(layout.sort);
    if (!this.dragged) this.widths = layout.widths;
    this.table.hidden = rows.length === 0;
    this.layOut();
    // A row that was chosen elsewhere, or that moved with the order, comes into view.
    if (moved || reordered) this.reveal();
    this.empty.hidden = rows.length > 0;
    say(this.empty, empty);
  }

  create(row) {
    const h = this.view.h;
    const cells = this.options.columns.map(({ kind = "" }, index) =>
      h("td", { role: "gridcell", class: kind, style: placed(index) }));
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
    for (const node of this.body.children) {
      node.tabIndex = node.carrelKey === id ? 0 : -1;
      node.classList.toggle("chosen", node.carrelKey === id);
      if (node.carrelKey === id && focus) node.focus();
    }
    this.choose(id);
  }

  async choose(id) {
    const choice = { id };
    this.choosing = choice;
    await this.options.onSelect?.(id);
    if (this.choosing === choice) this.choosing = null;
  }

  reveal() {
    const row = [...this.body.children].find((node) => node.carrelKey === this.cursor);
    reveal(this.element, row, { above: this.head.offsetHeight });
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
