/** The form of how a document is read: pages, tables, scores, headers, pictures, a schema. */
class ReadingForm {
  /** @param {View} view @param {(options: object) => void} read */
  constructor(view, read) {
    this.view = view;
    const { h } = view;
    this.fields = {
      model: this.choice({ "": "the service's choice" }),
      pages: h("input", { type: "text", placeholder: "all; such as 1-3, 7" }),
      tables: this.choice({ text: "in the text", markdown: "apart, as Markdown", html: "apart, as HTML" }),
      scores: this.choice({ word: "of every word", page: "of pages", none: "none" }),
      headers: h("input", { type: "checkbox" }),
      pictures: h("input", { type: "checkbox" }),
      schema: h("textarea", { placeholder: "optional", spellcheck: "false" }),
    };
    const labels = {
      model: "Read by", pages: "Pages", tables: "Tables", scores: "Scores", headers: "Headers and footers apart",
      pictures: "Pictures with the answer", schema: "JSON schema",
    };
    this.hint = h("p", { class: "carrel-range" });
    this.element = h("div", { class: "carrel-form", role: "group", "aria-label": "How to read", hidden: true });
    for (const [name, field] of Object.entries(this.fields)) {
      field.id = `${view.id}-${name}`;
      this.element.append(h("label", { for: field.id }, labels[name]), field);
    }
    this.element.append(h("div", { class: "actions" },
      view.button("Run OCR", () => { this.toggle(false); read(this.values()); }, "primary"),
      view.button("Cancel", () => this.toggle(false)), this.hint));
  }

  choice(words) {
    const { h } = this.view;
    return h("select", {}, ...Object.entries(words).map(([value, text]) => h("option", { value }, text)));
  }

  /** @param {boolean} shown @param {object | undefined} options @param {string | undefined} billed @param {string[]} models */
  toggle(shown, options = undefined, billed = "", models = []) {
    this.element.hidden = !shown;
    if (!shown) {
      this.view.root.focus();
      return;
    }
    this.chooseFrom(models, options.model);
    for (const [name, field] of Object.entries(this.fields)) {
      if (field.type === "checkbox") field.checked = options[name];
      else field.value = options[name];
    }
    say(this.hint, billed || ADVICE.ALREADY_READ);
    this.fields.pages.focus();
  }

  /** Offers the models that read, where there are several. @param {string[]} models @param {string} chosen */
  chooseFrom(models, chosen) {
    const { h } = this.view;
    const names = [...new Set([...models, chosen])].filter(Boolean);
    const field = this.fields.model;
    field.replaceChildren(field.options[0], ...names.map((value) => h("option", { value }, value)));
    for (const shown of [field, field.previousSibling]) shown.hidden = names.length < 2;
  }

  values() {
    return Object.fromEntries(Object.entries(this.fields).map(([name, field]) =>
      [name, field.type === "checkbox" ? field.checked : field.value]));
  }
}
