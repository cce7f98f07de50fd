/** How often a view looks for the text that a step waits for. */
const LOOK_MS = 100;

/** Keys that type nothing by themselves. */
const SILENT = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "Escape", "Tab"]);

/** A demo: the caption with the presenter's buttons, and below it the place that is shown. */
class DemoView extends View {
  constructor(host) {
    super(host, "Demo");
    const { h } = this;
    this.host = host.host;
    this.caption = h("p", { class: "carrel-caption", role: "status", "aria-live": "polite" });
    this.failure = h("p", { class: "carrel-failure", role: "alert", hidden: true });
    this.note = h("p", { class: "carrel-range", hidden: true });
    this.recordedTitle = h("h4", {});
    this.recordedText = h("div", { class: "carrel-recorded-text" });
    this.recorded = h("aside", { class: "carrel-recorded", hidden: true }, this.recordedTitle, this.recordedText);
    this.far = h("span", { class: "carrel-range" });
    const button = (key, label, action, kind) => {
      const made = this.button(label, action, kind);
      made.title = key;
      return made;
    };
    this.nextButton = button("F8", "Next", () => this.ask("next"), "primary");
    this.backButton = button("F7", "Back", () => this.ask("back"));
    this.pauseButton = button("F9", "Pause", () => this.ask("pause"));
    this.jump = h("select", { "aria-label": "Jump to a step", title: "F10", onchange: () => this.jumped() });
    this.endButton = this.button("End", () => this.confirm("End the demo? All that it made is removed.", "End", () => this.ask("end")));
    this.toolsButton = this.button("Tools", () => this.showTools(this.root.classList.contains("bare")));
    this.tabs = h("nav", { class: "carrel-tabs", "aria-label": "Places" });
    this.places = h("div", { class: "carrel-places" });
    this.body.append(
      h("header", { class: "carrel-stage-head" }, this.caption, this.failure, this.recorded, this.note,
        h("div", { class: "carrel-presenter" }, this.nextButton, this.backButton, this.pauseButton, this.jump,
          this.far, h("span", { class: "carrel-gap" }), this.toolsButton, this.endButton)),
      this.tabs, this.places);
    this.showTools(false);
    this.opened = new Map();
    this.presenter = { F8: this.nextButton, F7: this.backButton, F9: this.pauseButton };
    // Before the fields and panels inside, whose keys end there.
    this.root.addEventListener("keydown", (event) => this.presented(event), { capture: true, signal: this.signal });
    this.root.addEventListener("carrel:show", (event) => {
      event.preventDefault();
      this.ask("go", { place: event.detail.toLowerCase() });
    }, { signal: this.signal });
    this.explain("F8", "Next step", "F7", "Step back", "F9", "Pause", "F10", "Jump to a step");
    const looking = setInterval(() => this.look(), LOOK_MS);
    this.signal.addEventListener("abort", () => clearInterval(looking));
  }

  /** The tools of the places, to take over by hand. @param {boolean} shown */
  showTools(shown) {
    this.root.classList.toggle("bare", !shown);
    this.tabs.hidden = !shown;
    this.toolsButton.setAttribute("aria-pressed", String(shown));
  }

  draw(state) {
    const { h } = this;
    this.state = state;
    const away = state.phase === "away";
    say(this.caption, state.caption);
    say(this.failure, state.trouble);
    this.failure.hidden = state.trouble === "";
    say(this.note, state.note);
    this.note.hidden = state.note === "";
    say(this.recordedTitle, state.recorded_title);
    say(this.recordedText, state.recorded);
    this.recorded.hidden = state.phase !== "recorded";
    say(this.far, state.paused ? `${state.place_words} · Paused` : state.place_words);
    say(this.pauseButton, state.paused ? "Go on" : "Pause");
    this.nextButton.disabled = away || state.ended;
    this.backButton.disabled = this.jump.disabled = this.endButton.disabled = away;
    this.pauseButton.disabled = state.phase !== "playing";
    const steps = state.steps.map((words, at) => ({ id: at, words: `${at + 1}  ${words}` }));
    keyed(this.jump, [{ id: "", words: "Jump to…" }, ...steps], () => h("option"), (node, one) => {
      node.value = one.id;
      say(node, one.words);
    });
    keyed(this.tabs, state.panels, (one) => this.button("", () => this.ask("go", { place: one.id }), "small"), (node, one) => {
      say(node, one.label);
      node.setAttribute("aria-pressed", String(one.id === state.place));
    });
    if (state.place !== null && !this.opened.has(state.place)) this.open(state.panels.find((one) => one.id === state.place));
    for (const [name, place] of this.opened) place.hidden = name !== state.place;
    this.root.setAttribute("aria-busy", String(state.phase === "playing"));
  }

  async open({ id, panel }) {
    const place = this.h("div", { class: "carrel-nest" });
    this.opened.set(id, place);
    this.places.append(place);
    const widget = await this.host.getWidget(panel);
    if (!this.signal.aborted) await widget.render({ el: place, signal: this.signal });
  }

  jumped() {
    const step = this.jump.value;
    this.jump.value = "";
    this.jump.blur();
    this.root.focus();
    if (step !== "") this.ask("jump", { step: Number(step) });
  }

  /** The presenter's keys, and those that type a character of the demo. @param {KeyboardEvent} event */
  presented(event) {
    const button = this.presenter[event.key];
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !SILENT.has(event.key);
    if (button) { if (!button.disabled) button.click(); }
    else if (event.key === "F10") this.jump.focus();
    else if (this.state.awaits_key && plain && !event.target.closest("select, .carrel-question")) this.ask("key");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Tells the kernel once the text that a step waits for is in one line of the place. */
  look() {
    const text = this.state?.looks_for;
    if (!text) this.told_of = "";
    else if (text !== this.told_of && this.places.innerText.split("\n").some((line) => line.includes(text))) {
      this.told_of = text;
      this.ask("seen", { text });
    }
  }
}

export default { render: (host) => new DemoView(host).start() };
