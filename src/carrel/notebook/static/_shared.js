/**
 * What every panel's view is made of. This text is joined in front of each panel's own module:
 * a module that arrives over the kernel's connection cannot import its neighbours.
 *
 * @typedef {{ title: string, detail: string, advice: string | null }} Problem
 * @typedef {{ get(name: string): any, on(name: string, fn: Function): void,
 *             off(name: string, fn: Function): void,
 *             send(content: object, callbacks?: object, buffers?: ArrayBuffer[]): void }} Model
 */

/** The kernel answers an intent within milliseconds; after this long something is wrong. */
const SILENCE_MS = 5000;

/** How long a line that tells what happened stays. */
const TELL_MS = 8000;

/**
 * A maker of elements whose listeners end with the view.
 *
 * `on…` attributes are listeners, booleans are flags, everything else is an attribute; children
 * are elements or text, and text is never read as markup.
 *
 * @param {AbortSignal} signal
 */
function elements(signal) {
  return (/** @type {string} */ tag, /** @type {Record<string, any>} */ attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value, { signal });
      else if (typeof value === "boolean") node.toggleAttribute(name, value);
      else if (value !== null && value !== undefined) node.setAttribute(name, String(value));
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
}

/**
 * Makes `parent` hold one child for each item, in order, keeping the element of an item that
 * stays, so that focus and scrolling survive.
 *
 * @template {{ id: string | number }} T
 * @param {Element} parent
 * @param {T[]} items
 * @param {(item: T) => Element} create
 * @param {(node: any, item: T) => void} update
 */
function keyed(parent, items, create, update) {
  const kept = new Map([...parent.children].map((node) => [node.carrelKey, node]));
  let next = parent.firstElementChild;
  for (const item of items) {
    let node = kept.get(item.id);
    kept.delete(item.id);
    if (!node) {
      node = create(item);
      node.carrelKey = item.id;
    }
    update(node, item);
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
  for (const node of kept.values()) node.remove();
}

/** @param {Element} node @param {string} text */
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Shows words, or a badge's words in the colour of its role; colour is never the only sign.
 *
 * @param {HTMLElement} node @param {string | { text: string, role: string } | null} words
 */
function sayBadge(node, words) {
  const badge = words !== null && typeof words === "object" ? words : { text: words ?? "", role: "" };
  say(node, badge.text);
  node.dataset.role = badge.role;
}

/** The view of one panel: its root, its line to the kernel, its messages and keys. */
class View {
  /**
   * @param {{ model: Model, el: HTMLElement, signal: AbortSignal }} host
   * @param {string} name the panel's name, as a person reads it
   */
  constructor({ model, el, signal }, name) {
    this.model = model;
    this.signal = signal;
    this.id = Math.random().toString(36).slice(2);
    this.h = elements(signal);
    this.requests = new Map();
    this.count = 0;
    this.handlers = new Map();
    this.shortcuts = new Map();
    this.refusal = null;
    const h = this.h;
    this.silence = h("div", { class: "carrel-banner", role: "alert", hidden: true },
      "The kernel is busy or was restarted. When it is free again this goes away; if not, run the cell again.");
    this.trouble = h("div", { class: "carrel-problem", role: "alert", hidden: true });
    this.connection = h("div", { class: "carrel-status connection", role: "status" });
    this.body = h("div", { class: "carrel-body" });
    this.question = h("div", { class: "carrel-question", role: "alertdialog", "aria-label": "Confirm", hidden: true });
    this.status = h("div", { class: "carrel-status", role: "status", "aria-live": "polite" });
    this.root = h("section", {
      class: `carrel carrel-${name.toLowerCase()}`,
      "aria-label": name,
      "data-lm-suppress-shortcuts": "true",
      tabindex: "-1",
      onkeydown: (event) => this.pressed(event),
    }, this.silence, this.trouble, this.body, this.question, this.status, this.connection);
    el.append(this.root);
    this.listen("msg:custom", (content, buffers) => this.received(content, buffers ?? []));
    this.listen("change:height", () => this.resize());
    this.resize();
  }

  /** Draws the state now and whenever it changes, then tells the kernel that a view is here. */
  start() {
    const draw = () => {
      const state = this.model.get("state");
      this.showProblem();
      say(this.connection, state.connection);
      this.draw(state);
    };
    this.listen("change:state", draw);
    draw();
    this.signal.addEventListener("abort", () => {
      for (const request of this.requests.values()) clearTimeout(request.timer);
      clearTimeout(this.telling);
      this.model.send({ kind: "goodbye", view: this.id });
      this.root.remove();
    });
    window.addEventListener("pagehide", () => this.model.send({ kind: "goodbye", view: this.id }), { signal: this.signal });
    this.request({ kind: "hello" }).catch(() => {});
  }

  /** @param {string} event @param {Function} fn */
  listen(event, fn) {
    this.model.on(event, fn);
    this.signal.addEventListener("abort", () => this.model.off(event, fn));
  }

  resize() {
    this.root.style.setProperty("--carrel-height", `${this.model.get("height")}px`);
  }

  /** Calls `fn(content, buffers)` for each message of that kind. @param {string} kind @param {Function} fn */
  on(kind, fn) {
    this.handlers.set(kind, fn);
  }

  /**
   * Sends an intent. Resolves with the kernel's result; a refusal is shown and resolves undefined.
   *
   * @param {string} name @param {object} args
   */
  async ask(name, args = {}) {
    this.refusal = null;
    let result;
    try {
      result = await this.request({ kind: "intent", name, args });
    } catch (problem) {
      this.refusal = problem;
    }
    this.showProblem();
    return result;
  }

  /** @param {object} content */
  request(content) {
    const rid = `${this.id}-${++this.count}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => { this.silence.hidden = false; }, SILENCE_MS);
      this.requests.set(rid, { resolve, reject, timer });
      this.model.send({ ...content, rid, view: this.id });
    });
  }

  received(content, buffers) {
    if (content.to && content.to !== this.id) return;
    const request = this.requests.get(content.rid);
    if (request) {
      clearTimeout(request.timer);
      this.silence.hidden = true;
      if (content.kind === "ack") return;
      this.requests.delete(content.rid);
      if (content.kind === "done") request.resolve(buffers[0] ?? content.result);
      else request.reject(content.problem);
      return;
    }
    this.handlers.get(content.kind)?.(content, buffers);
  }

  /** The last refusal, else the state's own problem. */
  showProblem() {
    /** @type {Problem | null} */
    const problem = this.refusal ?? this.model.get("state").problem;
    this.trouble.hidden = !problem;
    if (!problem) return;
    this.trouble.replaceChildren(
      this.h("strong", {}, problem.title), " ", problem.detail, problem.advice ? ` ${problem.advice}` : "");
  }

  /** Asks in the panel before something that cannot be undone. */
  confirm(text, verb, action) {
    const before = document.activeElement;
    const close = () => {
      this.question.hidden = true;
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      else this.root.focus();
    };
    const cancel = this.button("Cancel", close);
    this.question.replaceChildren(
      this.h("span", {}, text),
      this.button(verb, () => { close(); action(); }, "danger"),
      cancel);
    this.question.hidden = false;
    cancel.focus();
  }

  /** @param {string} label @param {() => void} action @param {string} kind */
  button(label, action, kind = "") {
    return this.h("button", { type: "button", class: `carrel-button ${kind}`, onclick: action }, label);
  }

  /** Tells for a while what has just happened. @param {string} text */
  tell(text) {
    say(this.status, text);
    clearTimeout(this.telling);
    this.telling = setTimeout(() => say(this.status, ""), TELL_MS);
  }

  /** Shows another place: in the workbench its tab, elsewhere the line of code that opens it. */
  goto(tab) {
    const event = new CustomEvent("carrel:show", { bubbles: true, cancelable: true, detail: tab });
    if (this.root.dispatchEvent(event)) this.tell(`Opened. Run bench.${tab.toLowerCase()} in a cell to see it.`);
  }

  /** A key that works anywhere in the panel but in a field. @param {string} name @param {() => void} action */
  key(name, action) {
    this.shortcuts.set(name, action);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.matches("input:not([type=checkbox]), textarea, select");
    const chord = event.ctrlKey || event.metaKey;
    // Else a key pressed on a row acts on the notebook (`b` inserts a cell), and JupyterLab refuses
    // line breaks in fields. Its attribute that suppresses shortcuts does not reach below the root.
    if (typing || !chord) event.stopPropagation();
    if (event.key === "Escape" && !this.question.hidden) {
      this.question.querySelector("button:last-child")?.click();
      event.preventDefault();
    }
    if (typing || chord || event.altKey || event.defaultPrevented) return;
    const action = this.shortcuts.get(event.key);
    if (action) {
      event.preventDefault();
      action();
    }
  }
}

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

/** A text field that asks the kernel a moment after the last key. */
function searchField(view, label, send) {
  let timer;
  const field = view.h("input", {
    type: "search", class: "carrel-search", placeholder: label, "aria-label": label,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => send(field.value), 250);
    },
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      clearTimeout(timer);
      send(field.value);
    },
  });
  view.signal.addEventListener("abort", () => clearTimeout(timer));
  view.key("/", () => field.focus());
  return field;
}

/** Sets a field from the state unless the person is typing in it. */
function fill(field, value) {
  if (document.activeElement !== field && field.value !== value) field.value = value;
}

/**
 * Files on their way to the kernel, which pulls them in ranges: nothing is held whole, and a
 * message stays far below the websocket's limit. `offer` sends what was chosen as the intent.
 */
class Uploads {
  /** @param {View} view @param {(offers: { key: string, name: string, size: number }[]) => void} offer */
  constructor(view, offer) {
    this.view = view;
    this.offer = offer;
    this.files = new Map();
    this.count = 0;
    const h = view.h;
    this.input = h("input", {
      type: "file", multiple: true, hidden: true, "aria-label": "Files to upload",
      onchange: () => {
        const chosen = [...this.input.files];
        // Choosing the same file again must be a change again.
        this.input.value = "";
        this.add(chosen);
      },
    });
    this.button = h("button", { type: "button", class: "carrel-button primary", onclick: () => this.input.click() }, "Upload…");
    view.key("u", () => this.input.click());
    view.on("read", (content) => this.read(content));
    view.on("forget", (content) => this.files.delete(content.key));
    this.acceptDrops(view.root);
  }

  /** @param {HTMLElement} zone */
  acceptDrops(zone) {
    const { signal } = this.view;
    const over = (on) => (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.stopPropagation();
      zone.classList.toggle("dropping", on);
    };
    zone.addEventListener("dragover", over(true), { signal });
    zone.addEventListener("dragleave", over(false), { signal });
    zone.addEventListener("drop", (event) => {
      over(false)(event);
      // To be asked for now: the items are gone once the event is over.
      const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry?.());
      const files = [...(event.dataTransfer?.files ?? [])];
      if (entries.some((entry) => entry?.isDirectory)) this.addTrees(entries);
      else this.add(files);
    }, { signal });
  }

  /** Adds dropped folders' files, named by their paths below the folder. @param {any[]} entries */
  async addTrees(entries) {
    const files = [];
    try {
      for (const entry of entries) if (entry) await gather(entry, "", files);
    } catch (error) {
      this.view.tell(`The folder cannot be read: ${error.message ?? error}`);
      return;
    }
    if (files.length) this.add(files.map(([file]) => file), files.map(([, name]) => name));
    else this.view.tell("There is no file in this folder.");
  }

  /** @param {File[]} files @param {string[]} names what they are called, if not by their own names */
  add(files, names = files.map((file) => file.name)) {
    if (!files.length) return;
    const offers = files.map((file, index) => {
      const key = `${this.view.id}-${++this.count}`;
      this.files.set(key, file);
      return { view: this.view.id, key, name: names[index], size: file.size };
    });
    this.offer(offers);
  }

  /** Answers the kernel's request for one range of a file. */
  async read({ key, offset, length }) {
    const answer = { kind: "chunk", view: this.view.id, key, offset };
    const file = this.files.get(key);
    try {
      if (!file) throw new Error("the page no longer has this file");
      const bytes = await file.slice(offset, offset + length).arrayBuffer();
      if (!this.view.signal.aborted) this.view.model.send(answer, undefined, [bytes]);
    } catch (error) {
      this.view.model.send({ ...answer, error: String(error.message ?? error) });
    }
  }
}

/** Collects the files of a dropped entry with their paths. @param {any} entry @param {string} path */
async function gather(entry, path, files) {
  if (entry.isFile) {
    files.push([await new Promise((resolve, reject) => entry.file(resolve, reject)), path || entry.name]);
    return;
  }
  const reader = entry.createReader();
  // A reader gives its entries a hundred at a time, and none at the end.
  for (let batch; (batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))).length;) {
    for (const child of batch) await gather(child, path ? `${path}/${child.name}` : child.name, files);
  }
}

/** The rows of work under way, with a bar and a way to stop each. */
class Progress {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.element = view.h("ul", { class: "carrel-progress", "aria-label": "Under way" });
  }

  /** @param {{ id: string, name: string, words: string, percent: number | null, running: boolean }[]} items */
  draw(items) {
    const { h } = this.view;
    this.element.hidden = items.length === 0;
    keyed(this.element, items, (item) => {
      const stop = this.view.button("Stop", () => this.view.ask("cancel", { id: item.id }), "small");
      stop.setAttribute("aria-label", `Stop ${item.name}`);
      return h("li", {}, h("span", { class: "name" }), h("progress", { max: 100, "aria-label": item.name }), h("span", { class: "words" }), stop);
    }, (node, item) => {
      const [name, bar, words, stop] = node.children;
      say(name, item.name);
      say(words, item.words);
      bar.hidden = !item.running;
      stop.hidden = !item.running && item.id !== "more";
      say(stop, item.id === "more" ? "Stop all" : "Stop");
      if (item.percent === null) bar.removeAttribute("value");
      else bar.value = item.percent;
    });
  }
}

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

/** Text with what stands between « and » marked. */
function marked(h, text) {
  return text.split(/(«[^»]*»)/).map((part) => (part.startsWith("«") ? h("mark", {}, part.slice(1, -1)) : part));
}
