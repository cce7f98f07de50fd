/** A source beside the chat: its page with the passage framed, and its words. */
class SourcePane {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.element = view.h("aside", { class: "carrel-pane details", "aria-label": "Source", hidden: true });
    this.url = null;
    view.signal.addEventListener("abort", () => this.release());
  }

  release() {
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = null;
  }

  hide() {
    this.element.hidden = true;
    this.release();
  }

  /** @param {number} turn @param {any} source */
  async show(turn, source) {
    const { view } = this;
    const { h } = view;
    const picture = h("div", { class: "carrel-source-page", tabindex: "0", role: "group", "aria-label": "Page" }, "Loading …");
    this.shown = picture;
    this.release();
    const next = view.state.turns[turn].sources;
    const after = next[(next.findIndex((one) => one.id === source.id) + 1) % next.length];
    this.element.replaceChildren(
      h("div", { class: "carrel-tools" }, h("h4", {}, source.title), h("span", { class: "carrel-gap" }),
        next.length > 1 ? view.button("Next", () => this.show(turn, after), "small") : null,
        h("button", { type: "button", class: "carrel-button small", "aria-label": "Close", onclick: () => this.hide() }, "×")),
      picture,
      h("div", { class: "carrel-quote" }, h("blockquote", {}, ...marked(h, source.snippet)),
        view.button("Full page", async () => {
          if ((await view.ask("open", { turn, source: source.id })) !== undefined) view.goto("Document");
        }),
        view.button("Copy", () => view.copy(source.snippet), "small")));
    this.element.hidden = false;
    let bytes;
    let problem;
    try {
      bytes = await view.intent("page", { turn, source: source.id });
    } catch (refused) {
      problem = refused;
    }
    if (this.shown !== picture || view.signal.aborted) return;
    if (!(bytes instanceof ArrayBuffer || ArrayBuffer.isView(bytes))) {
      // The passage is there: a missing picture is no failure of the chat.
      if (problem) say(picture, problem.detail);
      else picture.hidden = true;
      return;
    }
    this.url = pictureUrl(bytes);
    const frame = source.box && h("div", { class: "carrel-frame" });
    const image = h("img", { alt: source.title, src: this.url, onload: () => {
      if (frame) picture.scrollTop = frame.offsetTop - picture.clientHeight / 3;
    } });
    if (frame) ["left", "top", "width", "height"].forEach((side, n) => { frame.style[side] = `${source.box[n]}%`; });
    picture.replaceChildren(h("div", { class: "carrel-sheet" }, image, frame));
  }
}
