/** The doubtful words of the document, or all of a page, with their pictures, corrected in place. */
class Corrections {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const { h } = view;
    this.title = h("h4", {});
    this.list = h("div", { class: "carrel-words" });
    this.every = h("input", { type: "checkbox", onchange: () => this.open() });
    this.element = h("div", { class: "carrel-corrections", role: "group", "aria-label": "Words to correct", hidden: true },
      h("div", { class: "carrel-tools" }, this.title, h("span", { class: "carrel-gap" }),
        h("label", {}, this.every, " All words of this page"), view.button("Close", () => { this.close(); view.root.focus(); })),
      this.list);
    this.pictures = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => this.draw(one.target)));
    view.signal.addEventListener("abort", () => this.close());
  }

  async open() {
    const words = await this.view.ask("words", { every: this.every.checked });
    if (!words) return;
    if (!words.rows.length && !this.every.checked) {
      this.every.checked = true;
      this.open();
      return;
    }
    this.close();
    this.list.replaceChildren(...words.rows.map((word) => this.row(word)));
    say(this.title, words.title);
    this.element.hidden = false;
    this.list.querySelector("input")?.focus();
  }

  close() {
    // A field that is left saves its word.
    if (this.list.contains(document.activeElement)) document.activeElement.blur();
    this.element.hidden = true;
    this.pictures.disconnect();
    for (const picture of this.list.querySelectorAll("img")) URL.revokeObjectURL(picture.src);
    this.list.replaceChildren();
  }

  row(word) {
    const { h } = this.view;
    const field = h("input", {
      type: "text", value: word.corrected || word.word, "aria-label": `“${word.word}” on page ${word.page}`,
      onchange: () => this.save(word, field, row),
      onkeydown: (event) => { if (event.key === "Enter") this.following(row)?.focus(); },
    });
    const picture = h("img", { alt: "", draggable: "false" });
    picture.word = word.id;
    const row = h("div", { class: "carrel-word" }, picture, field,
      h("span", { class: "carrel-range" }, [`read “${word.word}”`, `page ${word.page}`, word.sure && `${word.sure} sure`].filter(Boolean).join(" · ")));
    row.classList.toggle("corrected", Boolean(word.corrected));
    this.pictures.observe(picture);
    return row;
  }

  following(row) {
    return row.nextElementSibling?.querySelector("input");
  }

  async save(word, field, row) {
    const title = await this.view.ask("correct", { id: word.id, words: field.value, every: this.every.checked });
    if (title === undefined) return;
    say(this.title, title);
    if (!field.value.trim()) field.value = word.word;
    row.classList.toggle("corrected", field.value.trim() !== word.word);
  }

  async draw(picture) {
    this.pictures.unobserve(picture);
    const width = Math.round(Math.max(picture.clientWidth, 320) * devicePixelRatio);
    const png = await this.view.ask("word_picture", { id: picture.word, width });
    if (png && picture.isConnected) picture.src = pictureUrl(png);
    else picture.hidden = true;
  }
}
