// The browser's end of a widget, without a kernel: what the view sends is kept, what the
// kernel would send is played by `kernel(…)`.
class FakeModel {
  constructor(state) {
    this.values = { state, height: 480 };
    this.listeners = [];
    this.sent = [];
  }
  get(name) { return this.values[name]; }
  on(event, fn) { this.listeners.push([event, fn]); }
  off(event, fn) { this.listeners = this.listeners.filter(([name, known]) => name !== event || known !== fn); }
  send(content, callbacks, buffers) { this.sent.push({ ...content, bytes: buffers?.[0]?.byteLength }); }
  emit(event, ...values) { for (const [name, fn] of [...this.listeners]) if (name === event) fn(...values); }
}

window.mount = async (module, style, state) => {
  const sheet = document.createElement("style");
  sheet.textContent = style;
  document.head.append(sheet);
  const address = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
  window.model = new FakeModel(state);
  window.controller = new AbortController();
  window.children = [];
  const host = {
    getWidget: async (ref) => ({ render: async ({ el }) => { window.children.push(ref); el.textContent = `panel ${ref}`; } }),
  };
  const { default: widget } = await import(address);
  await widget.render({ model, el: document.querySelector("#place"), signal: controller.signal, host });
};

window.kernel = {
  state(change) {
    model.values.state = { ...model.values.state, ...change };
    model.emit("change:state");
  },
  message(content, buffers) { model.emit("msg:custom", content, buffers); },
  answer(name, answer) {
    const asked = model.sent.findLast((one) => one.name === name);
    model.emit("msg:custom", { kind: "done", result: null, ...answer, rid: asked.rid, to: asked.view });
  },
};
