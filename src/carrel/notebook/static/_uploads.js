/** Files whose rules hold in their folder and below, as in a sync; the later win. */
const RULE_FILES = [".gitignore", ".carrelignore"];

/** Unreadable files that are named. */
const NAMED = 3;

/**
 * Files on their way to the kernel, which pulls them in ranges: nothing is held whole, and a
 * message stays far below the websocket's limit. `offer` sends what was chosen as the intent.
 */
class Uploads {
  /** @param {View} view @param {(offers: { key: string, name: string, size: number }[]) => void} offer */
  constructor(view, offer) {
    this.view = view;
    this.offer = offer;
    this.files = new Map();
    this.count = 0;
    const h = view.h;
    this.input = h("input", {
      type: "file", multiple: true, hidden: true, "aria-label": "Files to upload",
      onchange: () => {
        const chosen = [...this.input.files];
        // Choosing the same file again must be a change again.
        this.input.value = "";
        this.add(chosen);
      },
    });
    this.button = h("button", { type: "button", class: "carrel-button primary", onclick: () => this.input.click() }, "Upload…");
    view.key("u", "Upload", () => this.input.click());
    view.on("read", (content) => this.read(content));
    view.on("forget", (content) => this.files.delete(content.key));
    this.acceptDrops(view.root);
  }

  /** @param {HTMLElement} zone */
  acceptDrops(zone) {
    const { signal } = this.view;
    const over = (on) => (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.stopPropagation();
      zone.classList.toggle("dropping", on);
    };
    zone.addEventListener("dragover", over(true), { signal });
    zone.addEventListener("dragleave", over(false), { signal });
    zone.addEventListener("drop", (event) => {
      over(false)(event);
      // To be asked for now: the items are gone once the event is over.
      const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry?.());
      const files = [...(event.dataTransfer?.files ?? [])];
      if (entries.some((entry) => entry?.isDirectory)) this.addTrees(entries);
      else this.add(files);
    }, { signal });
  }

  /** Adds dropped folders' files, named by their paths below the folder. @param {any[]} entries */
  async addTrees(entries) {
    const files = [];
    const failed = [];
    for (const entry of entries.filter(Boolean)) {
      try {
        if (entry.isDirectory) await this.gather(entry, "", [], files, failed);
        else files.push([await fileOf(entry), entry.name]);
      } catch (error) {
        failed.push(`${entry.name}: ${error.message ?? error}`);
      }
    }
    if (files.length) this.add(files.map(([file]) => file), files.map(([, name]) => name));
    else if (!failed.length) this.view.tell("There is no file in this folder that a sync would take.");
    if (failed.length) this.tellUnread(failed, files.length);
  }

  /** @param {string[]} failed names and reasons @param {number} taken how many files could be read */
  tellUnread(failed, taken) {
    const more = failed.length > NAMED ? ` · and ${failed.length - NAMED} more` : "";
    this.view.refuse({
      title: failed.length === 1 ? "1 file was left out." : `${failed.length} files were left out.`,
      detail: `The browser cannot read ${failed.slice(0, NAMED).join(" · ")}${more}.`,
      advice: taken ? `The other ${taken === 1 ? "one goes" : `${taken} go`} up.` : "Check who may read them.",
    });
  }

  /**
   * Collects a folder's files with their paths. The kernel says which of them to take, by the
   * rules that hold here: `[folder, text]` of each rule file, the topmost first.
   *
   * @param {any} folder @param {string} path @param {[string, string][]} rules @param {[File, string][]} found
   * @param {string[]} failed names and reasons of those that the browser cannot read
   */
  async gather(folder, path, rules, found, failed) {
    const reader = folder.createReader();
    const entries = new Map();
    // A reader gives its entries a hundred at a time, and none at the end.
    for (let batch; (batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))).length;) {
      for (const entry of batch) entries.set(entry.name, entry);
    }
    const here = [...rules];
    for (const name of RULE_FILES) {
      if (entries.get(name)?.isFile) here.push([path, await (await fileOf(entries.get(name))).text()]);
    }
    const names = (kind) => [...entries.values()].filter((entry) => entry[kind]).map((entry) => entry.name);
    const wanted = await this.view.ask("sift", { folder: path, files: names("isFile"), folders: names("isDirectory"), rules: here });
    if (!wanted) throw new Error("the kernel did not say what to take");
    const below = path ? `${path}/` : "";
    for (const name of wanted.files) {
      try {
        found.push([await fileOf(entries.get(name)), below + name]);
      } catch (error) {
        failed.push(`${below}${name}: ${error.message ?? error}`);
      }
    }
    for (const name of wanted.folders) {
      try {
        await this.gather(entries.get(name), below + name, here, found, failed);
      } catch (error) {
        failed.push(`${below}${name}: ${error.message ?? error}`);
      }
    }
  }

  /** @param {File[]} files @param {string[]} names what they are called, if not by their own names */
  add(files, names = files.map((file) => file.name)) {
    if (!files.length) return;
    const offers = files.map((file, index) => {
      const key = `${this.view.id}-${++this.count}`;
      this.files.set(key, file);
      return { view: this.view.id, key, name: names[index], size: file.size };
    });
    this.offer(offers);
  }

  /** Answers the kernel's request for one range of a file. */
  async read({ key, offset, length }) {
    const answer = { kind: "chunk", view: this.view.id, key, offset };
    const file = this.files.get(key);
    try {
      if (!file) throw new Error("the page no longer has this file");
      const bytes = await file.slice(offset, offset + length).arrayBuffer();
      if (!this.view.signal.aborted) this.view.model.send(answer, undefined, [bytes]);
    } catch (error) {
      this.view.model.send({ ...answer, error: String(error.message ?? error) });
    }
  }
}

/** @param {any} entry @returns {Promise<File>} */
function fileOf(entry) {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}
