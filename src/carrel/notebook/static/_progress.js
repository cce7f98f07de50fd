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
