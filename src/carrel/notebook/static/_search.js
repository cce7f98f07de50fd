/** The key of the search in every panel, in its fields too. */
const SEARCH_KEY = "Ctrl+f";

/** The search over all libraries and chats, over a panel. */
class Anywhere {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.searched = "";
    const { h } = view;
    this.field = h("input", {
      type: "search", "aria-label": "Search libraries and chats", placeholder: "what to look for in all libraries and chats",
      oninput: () => {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.look(), TYPING_PAUSE_MS);
      },
    });
    this.groups = h("div", { class: "carrel-found" });
    this.said = h("p", { class: "carrel-range", role: "status" });
    this.element = h("div", {
      class: "carrel-help carrel-anywhere", role: "dialog", "aria-label": "Search libraries and chats", hidden: true,
      onkeydown: (event) => this.pressed(event),
    }, h("h4", {}, "Search libraries and chats"), this.field, this.groups, this.said, view.button("Close", () => this.close()));
    view.key(SEARCH_KEY, "Search libraries and chats", () => this.open());
    view.signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  open() {
    this.element.hidden = false;
    this.field.select();
    this.field.focus();
  }

  close() {
    this.element.hidden = true;
    this.view.root.focus();
  }

  async look() {
    clearTimeout(this.timer);
    const query = this.field.value.trim();
    if (query === this.searched) return;
    this.searched = query;
    say(this.said, query && "Searching …");
    let found;
    try {
      found = await this.view.intent("look_for", { query });
    } catch (problem) {
      found = { groups: [], said: `✕ ${problem.title}. ${problem.detail}` };
      this.searched = "";
    }
    // A newer search has ended this one.
    if (!found || query !== this.field.value.trim()) return;
    say(this.said, found.said);
    const { h } = this.view;
    this.groups.replaceChildren(...found.groups.flatMap(({ title, hits }) => [
      h("h4", {}, title),
      ...hits.map((hit) => h("button", { type: "button", onclick: () => this.choose(query, hit.id) },
        h("strong", {}, hit.place), h("span", {}, ...marked(h, hit.passage)))),
    ]));
  }

  /** @param {string} query @param {number} number */
  async choose(query, number) {
    const place = await this.view.ask("open_found", { query, number });
    this.close();
    if (place) this.view.goto(place);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const stops = [this.field, ...this.groups.querySelectorAll("button")];
    const at = stops.indexOf(/** @type {any} */ (document.activeElement));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && at >= 0) stops[at + step]?.focus();
    else if (event.key === "Enter" && at === 0) {
      if (this.field.value.trim() === this.searched) stops[1]?.click();
      else this.look();
    } else return;
    event.preventDefault();
  }
}
