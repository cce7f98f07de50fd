const THUMBNAIL = 112;
const AT_ONCE = 2;

/** Ways to a page: the table of contents as a list, and small pictures of all pages. */
class PageWays {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const { h } = view;
    this.contents = h("div", { class: "carrel-contents", role: "group", "aria-label": "Contents", hidden: true });
    this.thumbnails = h("div", { class: "carrel-thumbnails", role: "group", "aria-label": "Thumbnails", hidden: true });
    this.seen = new Set();
    this.drawing = 0;
    this.sight = new IntersectionObserver((changed) => {
      for (const { target, isIntersecting } of changed) this.seen[isIntersecting ? "add" : "delete"](target);
      this.drawSeen();
    }, { root: this.thumbnails });
    view.signal.addEventListener("abort", () => this.close());
    this.thumbnails.addEventListener("keydown", (event) => this.move(event));
  }

  /** Hides both; returns whether one was shown. */
  close() {
    const shown = !this.contents.hidden || !this.thumbnails.hidden;
    this.contents.hidden = this.thumbnails.hidden = true;
    this.sight.disconnect();
    this.seen.clear();
    for (const picture of this.thumbnails.querySelectorAll("img[src]")) URL.revokeObjectURL(picture.src);
    this.thumbnails.replaceChildren();
    return shown;
  }

  go(page) {
    this.close();
    this.view.go(page);
    this.view.root.focus();
  }

  /** Shows the bookmarks, else the headings of the pages read, or hides them. */
  async showContents() {
    if (!this.contents.hidden) { this.close(); return; }
    const found = await this.view.ask("contents");
    if (!found) return;
    if (!found.entries.length) { this.view.tell(ADVICE.NO_CONTENTS); return; }
    const { h } = this.view;
    this.close();
    this.contents.replaceChildren(...found.entries.map(({ level, title, page }) => {
      const node = h("button", { type: "button", onclick: () => this.go(page) }, title, h("span", { class: "carrel-range" }, (page + 1).toLocaleString("en")));
      node.style.paddingLeft = `${level * 14}px`;
      return node;
    }));
    this.contents.hidden = false;
    const here = this.contents.children[found.at];
    here.setAttribute("aria-current", "true");
    here.focus();
  }

  /** Shows the pages as small pictures, drawn as they come into view, or hides them. */
  showThumbnails() {
    if (!this.thumbnails.hidden) { this.close(); return; }
    const { state, h } = this.view;
    if (!state.has_picture) { this.view.tell(state.no_picture ?? ADVICE.NOT_COUNTED); return; }
    this.close();
    this.thumbnails.replaceChildren(...Array.from({ length: state.page_count }, (_, page) => {
      const words = `Page ${(page + 1).toLocaleString("en")}`;
      const tile = h("button", { type: "button", "aria-label": words, "data-page": page, onclick: () => this.go(page) },
        h("img", { alt: "", draggable: "false" }), h("span", {}, (page + 1).toLocaleString("en")));
      if (page === state.page) tile.setAttribute("aria-current", "page");
      return tile;
    }));
    this.thumbnails.hidden = false;
    for (const tile of this.thumbnails.children) this.sight.observe(tile);
    this.thumbnails.children[state.page]?.focus();
  }

  /** Draws what is in view, a few at a time: what was scrolled away meanwhile is not asked for. */
  async drawSeen() {
    const tile = [...this.seen].find((one) => !one.drawn);
    if (!tile || this.drawing >= AT_ONCE) return;
    tile.drawn = true;
    this.drawing += 1;
    const page = Number(tile.dataset.page);
    const png = await this.view.ask("picture", { page, width: Math.ceil(THUMBNAIL * devicePixelRatio) });
    this.drawing -= 1;
    if (png && tile.isConnected) tile.firstElementChild.src = pictureUrl(png);
    this.drawSeen();
  }

  /** Arrows, Home and End go over the grid. */
  move(event) {
    const tiles = [...this.thumbnails.children];
    const at = tiles.indexOf(document.activeElement);
    const top = tiles[0]?.offsetTop;
    const across = Math.max(tiles.filter((tile) => tile.offsetTop === top).length, 1);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - across, ArrowDown: at + across, Home: 0, End: tiles.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    tiles[to]?.focus();
  }
}
