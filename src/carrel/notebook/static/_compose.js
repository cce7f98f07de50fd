const ASK = "Ask something. @ names a file, arrow up brings back what was asked.";

/**
 * Where a question is written: earlier ones come back with the arrows, names after an @ are
 * offered, and what goes along stands above. `send(text)` gives whether the text was taken.
 */
class Composer {
  /** @param {View} view @param {(text: string) => Promise<boolean>} send */
  constructor(view, send) {
    this.view = view;
    this.send = send;
    this.history = [];
    this.back = 0;
    this.unsent = "";
    this.aside = "";
    this.offered = [];
    this.at = 0;
    const { h } = view;
    this.purpose = h("div", { class: "carrel-purpose", hidden: true });
    this.chips = h("div", { class: "carrel-chips", "aria-label": "Attached", hidden: true });
    this.names = h("ul", { class: "carrel-list carrel-names", role: "listbox", "aria-label": "Names", hidden: true });
    this.input = h("textarea", {
      rows: 2, "aria-label": "Message", placeholder: ASK,
      oninput: () => this.look(), onkeydown: (event) => this.pressed(event), onblur: () => this.offer([]),
    });
    this.element = h("div", { class: "carrel-field" }, this.purpose, this.chips, this.names, this.input);
  }

  draw(state) {
    this.history = state.history;
    const purpose = state.editing !== null ? "Edit question" : state.prompt;
    say(this.purpose, purpose);
    this.purpose.hidden = purpose === "";
    this.input.placeholder = state.prompt && state.editing === null ? ADVICE.RESULT_WANTED : ASK;
    const waiting = state.uploading ? [{ id: "", name: `${state.uploading} uploading …` }] : [];
    keyed(this.chips, [...state.attached, ...waiting], (one) => one.id
      ? this.view.button("", () => this.view.ask("detach", { id: one.id }), "small")
      : this.view.h("span", {}), (node, one) => {
      say(node, one.id ? `${one.name} ×` : one.name);
      if (one.id) node.setAttribute("aria-label", `Take away ${one.name}`);
    });
    this.chips.hidden = state.attached.length + waiting.length === 0;
    this.input.disabled = state.session === null;
  }

  /** @param {string} text */
  put(text) {
    this.input.value = text;
    this.input.focus();
    this.input.setSelectionRange(text.length, text.length);
  }

  /** Holds a question that is to be changed, in place of what is typed. @param {string} text */
  takeUp(text) {
    this.aside ||= this.input.value;
    this.put(text);
  }

  /** Holds again what was typed before a question was taken up. */
  putBack() {
    this.input.value = this.aside;
    this.aside = "";
  }

  async submit() {
    const text = this.input.value.trim();
    this.offer([]);
    if (!text) return;
    this.back = 0;
    if (await this.send(text) && this.input.value.trim() === text) this.putBack();
  }

  /** What is typed of a name before the caret, with where it begins. */
  typed() {
    const before = this.input.value.slice(0, this.input.selectionStart);
    const found = before.match(/(?:^|\s)@"?([^\s"]*)$/);
    return found && { text: found[1], begin: before.lastIndexOf("@") };
  }

  async look() {
    const typed = this.typed();
    if (!typed) {
      this.offer([]);
      return;
    }
    const names = await this.view.ask("names", { text: typed.text });
    if (this.typed()?.text === typed.text) this.offer(names ?? []);
  }

  offer(names) {
    this.offered = names;
    this.names.hidden = names.length === 0;
    this.point(0);
  }

  point(at) {
    this.at = at;
    keyed(this.names, this.offered, (one) => this.view.h("li", {
      role: "option",
      // Before the field loses the focus, which takes the names away.
      onmousedown: (event) => { event.preventDefault(); this.pick(one); },
    }, this.view.h("span", { class: "name" }), this.view.h("span", { class: "note" })), (node, one) => {
      say(node.children[0], one.name);
      say(node.children[1], one.kind);
      node.setAttribute("aria-selected", String(one === this.offered[this.at]));
    });
  }

  pick(one) {
    const typed = this.typed();
    if (typed) this.input.setRangeText(`${one.mention} `, typed.begin, this.input.selectionStart, "end");
    this.offer([]);
    this.view.ask("attach_known", { kind: one.kind, id: one.id, name: one.name, library: one.library });
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.isComposing) return;
    if (this.offered.length) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) this.point((this.at + step + this.offered.length) % this.offered.length);
      else if (event.key === "Enter" || event.key === "Tab") this.pick(this.offered[this.at]);
      else if (event.key === "Escape") this.offer([]);
      else return;
      event.preventDefault();
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.submit();
    } else if (this.recalled(event.key)) {
      event.preventDefault();
    }
  }

  /** Shows the question asked before, or after, where the key means that and there is one. */
  recalled(key) {
    const { value, selectionStart } = this.input;
    const up = key === "ArrowUp" && !value.slice(0, selectionStart).includes("\n");
    const down = key === "ArrowDown" && !value.slice(selectionStart).includes("\n");
    const back = this.back + (up ? 1 : down ? -1 : 0);
    if (back === this.back || back < 0 || back > this.history.length) return false;
    if (this.back === 0) this.unsent = value;
    this.back = back;
    this.put(back === 0 ? this.unsent : this.history[this.history.length - back]);
    return true;
  }
}
