/** The whole workbench: six places as tabs, each a panel of its own, under one header. */
class WorkbenchView extends View {
  constructor(host) {
    super(host, "Workbench");
    const { h } = this;
    this.host = host.host;
    this.tabs = h("div", { class: "carrel-tabs", role: "tablist", "aria-label": "Places", onkeydown: (event) => this.moved(event) });
    this.badge = h("span", { class: "carrel-connection", role: "status" });
    this.places = h("div", { class: "carrel-places" });
    this.body.append(h("header", { class: "carrel-top" }, this.tabs, h("span", { class: "carrel-gap" }), this.badge), this.places);
    this.root.addEventListener("carrel:show", (event) => {
      event.preventDefault();
      this.goTo(event.detail);
    }, { signal: this.signal });
    this.explain("← →", "Next place, on the tabs", "1 … 6", "Place");
    // Before the panel inside takes the key.
    this.root.addEventListener("keydown", (event) => this.leap(event), { capture: true, signal: this.signal });
    this.opened = new Map();
    this.rendered = new Map();
  }

  draw(state) {
    this.state = state;
    const { h } = this;
    keyed(this.tabs, state.tabs, (tab) => h("button", {
      type: "button", role: "tab", id: `${this.id}-${tab.id}`, "aria-controls": `${this.id}-place-${tab.id}`,
      onclick: () => this.show(tab.id),
    }), (node, tab) => say(node, tab.label));
    sayBadge(this.badge, state.badge);
    say(this.status, state.status);
    this.show(this.current ?? state.tabs[0].id);
  }

  /** @param {string} id */
  show(id) {
    this.current = id;
    for (const tab of this.tabs.children) {
      const chosen = tab.carrelKey === id;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    if (!this.opened.has(id)) this.rendered.set(id, this.open(id));
    for (const [name, place] of this.opened) place.hidden = name !== id;
  }

  /** Shows a place and gives it the focus: that of the place before would be lost. @param {string} id */
  async goTo(id) {
    this.show(id);
    await this.rendered.get(id);
    if (this.current !== id) return;
    const place = this.opened.get(id);
    const panel = place.querySelector(".carrel");
    if (panel) panel.dispatchEvent(new Event("carrel:arrive"));
    else place.focus({ preventScroll: true });
  }

  async open(id) {
    const place = this.h("div", { class: "carrel-nest", role: "tabpanel", tabindex: "-1", id: `${this.id}-place-${id}`, "aria-labelledby": `${this.id}-${id}` });
    this.opened.set(id, place);
    this.places.append(place);
    const tab = this.state.tabs.find((one) => one.id === id);
    const widget = await this.host.getWidget(tab.panel);
    if (!this.signal.aborted) await widget.render({ el: place, signal: this.signal });
  }

  /** Digits go to the places, from anywhere but a field. @param {KeyboardEvent} event */
  leap(event) {
    const tab = this.state.tabs[Number(event.key) - 1];
    if (!tab || event.ctrlKey || event.metaKey || event.altKey || event.target.matches(FIELDS)) return;
    event.preventDefault();
    event.stopPropagation();
    this.goTo(tab.id);
  }

  /** @param {KeyboardEvent} event */
  moved(event) {
    const ids = this.state.tabs.map((tab) => tab.id);
    const index = ids.indexOf(this.current);
    const target = {
      ArrowRight: (index + 1) % ids.length, ArrowLeft: (index + ids.length - 1) % ids.length, Home: 0, End: ids.length - 1,
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.show(ids[target]);
    this.tabs.children[target].focus();
  }
}

export default { render: (host) => new WorkbenchView(host).start() };
