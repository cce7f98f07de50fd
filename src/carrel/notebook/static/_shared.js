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

/** Text with what stands between « and » marked. */
function marked(h, text) {
  return text.split(/(«[^»]*»)/).map((part) => (part.startsWith("«") ? h("mark", {}, part.slice(1, -1)) : part));
}
