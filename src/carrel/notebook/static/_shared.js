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

/** How often a view in sight asks for what other programs may have changed. */
const FRESH_MS = 5000;

/** Where keys are typed, not pressed. */
const FIELDS = "input:not([type=checkbox]), textarea, select";

/** @type {Problem} */
const NO_KERNEL = { title: "The kernel is gone.", detail: "It was restarted or ended.", advice: "Run the cell again." };

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
    /** @type {[string, string][]} */
    this.explained = [];
    this.refusal = null;
    this.refused = false;
    this.dismissed = "";
    const h = this.h;
    this.silence = h("div", { class: "carrel-banner", role: "alert", hidden: true },
      "The kernel is busy or was restarted. When it is free again this goes away; if not, run the cell again.");
    this.trouble = h("div", { class: "carrel-problem", role: "alert", hidden: true });
    this.connection = h("div", { class: "carrel-status connection", role: "status" });
    this.undo = h("div", { class: "carrel-undo", role: "status", hidden: true });
    this.left = h("div", { class: "carrel-undo", role: "status", hidden: true });
    this.body = h("div", { class: "carrel-body" });
    this.question = h("div", { class: "carrel-question", role: "alertdialog", "aria-label": "Confirm", hidden: true });
    this.status = h("div", { class: "carrel-status", role: "status", "aria-live": "polite" });
    this.help = h("div", { class: "carrel-help", role: "dialog", "aria-label": "Shortcuts", hidden: true });
    this.anywhere = new Anywhere(this);
    this.key("?", "Shortcuts", () => this.toggleHelp());
    // While a live panel is here, the static page that is saved beside it is not shown.
    const still = model.get("still");
    const hiding = still && h("style", {},
      `.jp-OutputArea-child:has(.carrel-still-${still}), .carrel-still-${still} { display: none; }`);
    this.on("still", (content) => this.keepStill(content));
    this.root = h("section", {
      class: `carrel carrel-${name.toLowerCase()}`,
      "aria-label": name,
      "data-lm-suppress-shortcuts": "true",
      tabindex: "-1",
      onkeydown: (event) => this.pressed(event),
    }, this.silence, this.trouble, this.left, this.undo, this.body, this.help, this.anywhere.element, this.question, this.status, this.connection);
    const skip = this.button("Skip the buttons", () => this.content()?.focus(), "carrel-skip");
    this.root.prepend(skip);
    this.root.addEventListener("carrel:gone", (event) => {
      this.root.classList.add("gone");
      if (event.target !== this.root) this.refuse(NO_KERNEL);
    }, { signal });
    this.root.addEventListener("carrel:arrive", () => this.arrive(), { signal });
    el.append(this.root);
    if (hiding) this.root.append(hiding);
    this.listen("msg:custom", (content, buffers) => this.received(content, buffers ?? []));
    this.listen("change:height", () => this.resize());
    this.resize();
  }

  /** Draws the state now and whenever it changes, then tells the kernel that a view is here. */
  start() {
    const draw = () => {
      const state = this.model.get("state");
      if (this.connection.textContent && !state.connection) this.recovered(state);
      this.showProblem();
      this.showDeletion(state.deletion);
      this.showLeft(state.left ?? [], state.resumable);
      say(this.connection, state.connection);
      this.keepFocus(() => this.draw(state));
    };
    this.listen("change:state", draw);
    draw();
    const { signal } = this;
    signal.addEventListener("abort", () => {
      for (const request of this.requests.values()) clearTimeout(request.timer);
      clearTimeout(this.telling);
      this.goodbye();
      this.root.remove();
    });
    window.addEventListener("pagehide", () => this.goodbye(), { signal });
    // A host that knows that the kernel was restarted says so before anyone types.
    this.listen("comm_live_update", () => this.hello());
    window.addEventListener("pageshow", (event) => { if (event.persisted) this.hello(); }, { signal });
    this.listenPastTheHost().then(() => { if (!signal.aborted) this.hello(); });
  }

  /**
   * Hands the kernel's messages to the model without anywidget's wait for this module, which runs
   * by now: where it took longer than two seconds, 0.11 drops every message. Without such a wait
   * this changes nothing.
   */
  async listenPastTheHost() {
    try {
      const model = await this.model.widget_manager.get_model(this.model.get("still"));
      model.comm.on_msg(Object.getPrototypeOf(model.constructor.prototype)._handle_comm_msg.bind(model));
    } catch {
      // A host with other models: it is heard as it speaks.
    }
  }

  hello() {
    this.request({ kind: "hello" }).catch((problem) => this.refuse(problem));
  }

  /** Draws; a control that goes meanwhile leaves the focus to the panel, not to the page. @param {() => void} draw */
  keepFocus(draw) {
    const held = this.root.contains(document.activeElement) ? /** @type {any} */ (document.activeElement) : this.root;
    draw();
    if (held !== this.root && (held.disabled || !held.checkVisibility())) this.root.focus({ preventScroll: true });
  }

  goodbye() {
    try {
      this.model.send({ kind: "goodbye", view: this.id });
    } catch {
      // The kernel went first.
    }
  }

  /**
   * Makes the button that loads anew, and does the same by itself: when the panel comes into
   * sight and every few seconds while it is. The next time comes after the answer to the last.
   */
  keepFresh() {
    const { signal } = this;
    let seen = false;
    let asked = false;
    const look = async () => {
      if (asked || !seen || document.hidden || this.model.get("state").connection) return;
      asked = true;
      try {
        await this.request({ kind: "intent", name: "refresh", args: {} }, Infinity);
      } catch (problem) {
        // Every other failure is in the state.
        if (problem === NO_KERNEL) {
          clearInterval(timer);
          this.refuse(problem);
        }
      }
      asked = false;
    };
    const sight = new IntersectionObserver(([entry]) => {
      const before = seen;
      seen = entry.isIntersecting;
      if (seen && !before) look();
    });
    sight.observe(this.root);
    const timer = setInterval(look, FRESH_MS);
    document.addEventListener("visibilitychange", look, { signal });
    signal.addEventListener("abort", () => { sight.disconnect(); clearInterval(timer); });
    return this.corner();
  }

  /** Search, refresh and the list of shortcuts, the same in every panel. */
  corner() {
    return this.h("span", { class: "carrel-corner" }, this.sign("⌕", "Search libraries and chats", () => this.anywhere.open()),
      this.sign("↻", "Refresh", () => this.ask("refresh")), this.sign("?", "Shortcuts", () => this.toggleHelp()));
  }

  /** Takes the focus when another place has led here. */
  arrive() {
    this.root.focus({ preventScroll: true });
  }

  /** The part below the buttons that keys work in: the rows, the list, the text or the field. */
  content() {
    return this.shownOf("[role=row][tabindex='0']", ".carrel-text[tabindex='0']", "textarea", "[role=option][tabindex='0']");
  }

  /** The first of these selectors' elements that is shown. @param {string[]} selectors */
  shownOf(...selectors) {
    return selectors.map((selector) => this.body.querySelector(selector)).find((node) => node?.checkVisibility());
  }

  toggleHelp() {
    const { h } = this;
    this.help.hidden = !this.help.hidden;
    if (this.help.hidden) {
      this.root.focus();
      return;
    }
    const close = this.button("Close", () => this.toggleHelp());
    this.help.replaceChildren(h("h4", {}, "Shortcuts"),
      h("dl", {}, ...this.explained.flatMap(([key, words]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)])), close);
    close.focus();
  }

  /** The connection is back: no failure of the time without it stands. */
  recovered(state) {
    this.refusal = null;
    this.dismissed = JSON.stringify(state.problem);
  }

  /** Puts the static page into the open notebook, where the host lets a view reach it. */
  keepStill({ mark, html }) {
    for (const { outputs } of this.model.widget_manager?.context?.model?.cells ?? []) {
      for (let index = 0; index < (outputs?.length ?? 0); index++) {
        const output = outputs.get(index).toJSON();
        const held = [output.data?.["text/html"] ?? ""].flat().join("");
        if (held.includes(mark) && held !== html) outputs.set(index, { ...output, data: { "text/html": html } });
      }
    }
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
    try {
      const result = await this.intent(name, args);
      this.showProblem();
      return result;
    } catch (problem) {
      this.refuse(problem);
      return undefined;
    }
  }

  /** Sends an intent. Resolves with the kernel's result, rejects with the problem. */
  intent(name, args) {
    const of = this.bound?.has(name) ? { of: this.state.session } : {};
    return this.request({ kind: "intent", name, args, ...of });
  }

  /** Shows why something was not done. @param {Problem} problem */
  refuse(problem) {
    if (problem === NO_KERNEL) {
      this.root.dispatchEvent(new CustomEvent("carrel:gone", { bubbles: true }));
      if (this.root.parentElement.closest(".carrel")) return; // said once, by the panel around it
    }
    this.refusal = problem;
    this.dismissed = "";
    this.showProblem();
  }

  /** @param {object} content @param {number} patience milliseconds until a silent kernel is told of */
  request(content, patience = SILENCE_MS) {
    const rid = `${this.id}-${++this.count}`;
    return new Promise((resolve, reject) => {
      const timer = patience < Infinity ? setTimeout(() => { this.silence.hidden = false; }, patience) : undefined;
      this.requests.set(rid, { resolve, reject, timer });
      try {
        this.model.send({ ...content, rid, view: this.id });
      } catch {
        // A kernel that was restarted no longer knows the panel.
        clearTimeout(timer);
        this.requests.delete(rid);
        reject(NO_KERNEL);
      }
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
      else request.reject(content.problem ?? NO_KERNEL);
      return;
    }
    this.handlers.get(content.kind)?.(content, buffers);
  }

  /** The last refusal, else the state's own problem. */
  showProblem() {
    const state = this.model.get("state");
    /** @type {Problem | null} */
    const problem = this.refusal ?? state.problem;
    // A list that loads once more has no result yet, neither good nor bad.
    if (!problem && state.loading && !this.refused) return;
    this.refused = Boolean(this.refusal);
    const key = JSON.stringify(problem ?? null);
    if (key !== this.dismissed) this.dismissed = "";
    this.trouble.hidden = !problem || key === this.dismissed;
    if (this.trouble.hidden || key === this.told) return;
    this.told = key;
    const dismiss = this.sign("×", "Dismiss", () => {
      this.dismissed = key;
      if (this.refusal) this.refusal = null;
      this.trouble.hidden = true;
      this.root.focus();
    });
    this.trouble.replaceChildren(
      this.h("span", {}, this.h("strong", {}, problem.title), " ", problem.detail, problem.advice ? ` ${problem.advice}` : ""),
      dismiss);
  }

  /** Offers to undo the last deletion, until it is dismissed. */
  showDeletion(deletion) {
    const number = deletion?.number ?? 0;
    if (number === this.undoes) return;
    this.undoes = number;
    this.undo.hidden = !deletion;
    if (!deletion) return;
    const dismiss = this.sign("×", "Dismiss", () => { this.undo.hidden = true; this.root.focus(); });
    this.undo.replaceChildren(
      this.h("span", {}, `Deleted ${deletion.what}.`), this.button("Undo", () => this.ask("undo"), "small"), dismiss);
  }

  /** Offers to resume what an earlier kernel or start left. @param {string[]} left @param {boolean} resumable */
  showLeft(left, resumable) {
    const words = left.join(" · ");
    this.left.hidden = !words;
    if (!words || words === this.left.firstElementChild?.textContent) return;
    const drop = () => this.confirm(`Drop it? ${words}. What was sent stays.`, "Drop", () => this.ask("drop"));
    this.left.replaceChildren(
      this.h("span", {}, words), resumable ? this.button("Resume", () => this.ask("resume"), "small") : "",
      this.button("Drop", drop, "small"));
  }

  /**
   * Asks in the panel before something is deleted or costs something.
   *
   * @param {{ verb: string, words: string, action: () => void }} [other] another way to do it
   * @param {string} kind of the button
   */
  confirm(text, verb, action, other, kind = "danger") {
    const before = document.activeElement;
    const close = () => {
      this.question.hidden = true;
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      else this.root.focus();
    };
    const cancel = this.button("Cancel", close);
    this.question.replaceChildren(
      this.h("span", {}, text),
      this.button(verb, () => { close(); action(); }, kind),
      ...(other ? [this.button(other.verb, () => { close(); other.action(); }), this.h("small", {}, other.words)] : []),
      cancel);
    this.question.hidden = false;
    cancel.focus();
  }

  /** @param {string} label @param {() => void} action @param {string} kind */
  button(label, action, kind = "") {
    return this.h("button", { type: "button", class: `carrel-button ${kind}`, onclick: action }, label);
  }

  /** A small button with a sign, and with words for those who hear or point. */
  sign(label, words, action) {
    const button = this.button(label, action, "small");
    button.setAttribute("aria-label", words);
    button.title = words;
    return button;
  }

  /** A field of a form after its label. @param {string} name @param {string} label @param {any} node */
  labelled(name, label, node) {
    node.name = name;
    node.id = `${this.id}-${name}`;
    return [this.h("label", { for: node.id }, label), node];
  }

  /** @param {string | undefined} text */
  async copy(text) {
    if (typeof text !== "string") return;
    try {
      await navigator.clipboard.writeText(text);
      this.tell("Copied.");
    } catch {
      this.tell("This page may not use the clipboard. Select the text and copy it.");
    }
  }

  /** Saves what came from the kernel as a file. @param {BlobPart | undefined} data @param {string} name */
  keepFile(data, name) {
    if (data === undefined || data === null || this.signal.aborted) return;
    const url = URL.createObjectURL(new Blob([data]));
    this.h("a", { href: url, download: name }).click();
    URL.revokeObjectURL(url);
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
    if (this.root.dispatchEvent(event)) this.tell(`Opened. Run ${tab === "Chat" ? "bench" : `bench.${tab.toLowerCase()}`} in a cell to see it.`);
  }

  /**
   * A key that works anywhere in the panel but in a field.
   *
   * @param {string} name @param {string} words in the list of shortcuts @param {() => void} action
   */
  key(name, words, action) {
    this.shortcuts.set(name, action);
    this.explain(name, words);
  }

  /** Lists keys in the shortcuts, as pairs of a key and its words; those without words are left out. */
  explain(...pairs) {
    for (let at = 0; at < pairs.length; at += 2) {
      const [key, words] = [pairs[at], pairs[at + 1]];
      if (words && !this.explained.some(([known]) => known === key)) this.explained.push([key, words]);
    }
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.matches(FIELDS);
    const chord = event.ctrlKey || event.metaKey;
    // Else a key pressed on a row acts on the notebook (`b` inserts a cell), and JupyterLab refuses
    // line breaks in fields. Its attribute that suppresses shortcuts does not reach below the root.
    if (typing || !chord) event.stopPropagation();
    const asked = [this.question, this.help, this.anywhere.element].find((one) => !one.hidden);
    if (event.key === "Escape" && asked) {
      asked.querySelector("button:last-child")?.click();
      event.preventDefault();
    }
    // The first Escape empties a search field, as the browser does, the next leaves the field.
    if (event.key === "Escape" && typing && !asked && !(target.type === "search" && target.value)) this.root.focus();
    const name = chord ? `Ctrl+${event.key}` : event.key;
    if ((typing && name !== SEARCH_KEY) || event.altKey || event.defaultPrevented) return;
    const action = this.shortcuts.get(name);
    if (action) {
      event.preventDefault();
      event.stopPropagation();
      action();
    } else if (!chord && event.key.trim().length === 1) this.tell(this.idle(event.key));
  }

  /** Says that a key does nothing here, and which one does. @param {string} key */
  idle(key) {
    const other = key === key.toLowerCase() ? key.toUpperCase() : key.toLowerCase();
    const [, words] = this.explained.find(([known]) => known === other) ?? [];
    return `Nothing on ${key} here. ${words ? `${other}: ${words}` : "? lists the keys."}`;
  }
}

/** A text field that asks the kernel a moment after the last key; ↓ goes to the list. */
function searchField(view, label, send) {
  let timer;
  const field = view.h("input", {
    type: "search", class: "carrel-search", placeholder: label, "aria-label": label,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => send(field.value), 250);
    },
    onkeydown: (event) => {
      if (event.key === "ArrowDown") {
        const first = view.shownOf("[role=row][tabindex='0']", "[role=option][tabindex='0']");
        if (first) event.preventDefault();
        first?.focus();
      }
      if (event.key !== "Enter") return;
      clearTimeout(timer);
      send(field.value);
    },
  });
  view.signal.addEventListener("abort", () => clearTimeout(timer));
  view.key("/", label, () => field.focus());
  return field;
}

/**
 * Brings a node into view in its pane alone: the notebook around it stays.
 *
 * @param {Element} pane @param {Element | null | undefined} node
 * @param {{ start?: boolean, margin?: number, above?: number }} options `above` is covered at the top
 */
function reveal(pane, node, { start = false, margin = 0, above = 0 } = {}) {
  if (!node) return;
  const [outer, inner] = [pane.getBoundingClientRect(), node.getBoundingClientRect()];
  const shift = (low, high, from, to) => {
    if (start || high - low > to - from || low < from) return low - from - margin;
    return high > to ? high - to + margin : 0;
  };
  pane.scrollBy(
    shift(inner.left, inner.right, outer.left, outer.right), shift(inner.top, inner.bottom, outer.top + above, outer.bottom));
}

/** The address of a PNG that came from the kernel, until it is revoked. @param {BlobPart} png */
function pictureUrl(png) {
  return URL.createObjectURL(new Blob([png], { type: "image/png" }));
}

/** Sets a field from the state unless the person is typing in it. */
function fill(field, value) {
  if (document.activeElement !== field && field.value !== value) field.value = value;
}

/** Text with what stands between « and » marked. */
function marked(h, text) {
  return text.split(/(«[^»]*»)/).map((part) => (part.startsWith("«") ? h("mark", {}, part.slice(1, -1)) : part));
}
