// Clicks and pictures of a chart: a click on a point opens its code, and a saved picture names its source.
// Streamlit's own selection would enable dragging, which blocks scrolling on a phone, so clicks come from Plotly
// itself. On a touch screen the first tap shows the hover text, and a button or a second tap opens the code. Plotly
// hears a tap by its touch events; the mouse events that browsers send after it would count as a second tap, and the
// mouse would leave again at once, with the hover text.

const HEAD = 26; // pixels of the title in a saved picture
const LINE = 16; // and of each line of its source
const LETTER = 6.4;
const links = new WeakMap();

class Link {
  constructor(root) {
    this.open = root.querySelector(".open");
    this.said = root.querySelector(".said");
    for (const button of root.querySelectorAll("[data-format]")) button.onclick = () => this.#save(button.dataset.format);
    this.open.onclick = () => this.tell("point", this.chosen);
    this.watch = new MutationObserver(() => this.#attach());
    this.away = new AbortController();
    const { signal } = this.away;
    document.addEventListener("pointerdown", (event) => this.#press(event), { capture: true, signal });
    // The browser scrolls: Plotly would take the end of it for a tap.
    document.addEventListener("pointercancel", () => { this.swiped = true; }, { capture: true, signal });
    this.heard = {
      plotly_click: (event) => this.#click(event),
      plotly_beforehover: (event) => !this.#scrolls(event),
      plotly_unhover: () => { if (this.tapped) this.#choose(undefined); },
    };
  }

  update(data, tell) {
    this.data = data;
    this.tell = tell;
    const box = document.querySelector(`.st-key-${CSS.escape(data.box)}`);
    if (box !== this.box) {
      this.watch.disconnect();
      this.box = box;
      if (box) this.watch.observe(box, { childList: true, subtree: true });
    }
    this.#attach();
  }

  close() {
    this.watch.disconnect();
    this.away.abort();
    this.#detach();
  }

  /** Streamlit may draw the chart later than this component, and redraw it. */
  #attach() {
    const graph = this.box?.querySelector(".js-plotly-plot");
    if (!graph?.on || graph === this.graph) return;
    this.#detach();
    this.graph = graph;
    for (const [name, hear] of Object.entries(this.heard)) graph.on(name, hear);
    graph.addEventListener("touchend", noMouse, { passive: false });
    graph.dataset.clickable = ""; // from now on a click or a tap is heard
  }

  #detach() {
    this.graph?.removeEventListener("touchend", noMouse);
    delete this.graph?.dataset.clickable;
    for (const [name, hear] of Object.entries(this.heard)) this.graph?.removeListener?.(name, hear);
  }

  #press({ pointerType, target }) {
    this.swiped = false;
    this.tapped = pointerType === "touch" && this.graph?.contains(target);
  }

  #scrolls(event) {
    return this.swiped && "changedTouches" in event;
  }

  #choose(name) {
    this.chosen = name;
    this.open.hidden = !name;
  }

  #click({ points, event }) {
    if (!this.data.opens || this.#scrolls(event)) return;
    const point = points.find((one) => one.customdata !== undefined && one.customdata !== null);
    const told = point && [].concat(point.customdata).slice(0, 2).map(String);
    const name = told?.[0] ? told.join(" ") : undefined;
    const first = this.tapped && this.chosen !== name;
    if (this.tapped) this.#choose(name);
    if (name && !first) this.tell("point", name);
  }

  /** Plotly draws pictures from `layout`, so the title and the source are added to it only for that moment. */
  #save(format) {
    const graph = this.graph;
    const camera = graph?.querySelector(".modebar-btn");
    if (!camera) return;
    const { layout } = graph;
    const { title, layout: dressed } = this.#dressed(graph);
    graph._context.toImageButtonOptions = { ...graph._context.toImageButtonOptions, format, height: dressed.height };
    graph.layout = dressed;
    try {
      camera.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    } finally {
      graph.layout = layout;
    }
    this.said.textContent = `Picture of ${title} saved as ${format.toUpperCase()}`;
  }

  #dressed(graph) {
    const { layout } = graph;
    const { margin, height } = layout;
    const lines = broken(this.data.source, (graph.clientWidth - 24) / LETTER);
    const above = HEAD + 6;
    const below = LINE * lines.length + 10;
    const source = {
      text: lines.join("<br>"), x: 0, y: 0, xref: "paper", yref: "paper", xanchor: "left", yanchor: "top", align: "left",
      showarrow: false, yshift: -margin.b, font: { size: 11, color: this.data.muted },
    };
    return {
      title: this.data.title,
      layout: {
        ...layout,
        height: height + above + below,
        margin: { ...margin, t: margin.t + above, b: margin.b + below },
        title: {
          text: broken(this.data.title, (graph.clientWidth - 24) / 8)[0], x: 0, xref: "container", xanchor: "left", y: 1,
          yref: "container", yanchor: "top", pad: { l: 12, t: 10 }, font: { size: 15 },
        },
        annotations: [...(layout.annotations ?? []), source],
      },
    };
  }
}

/** No mouse events after this touch; the end of a scroll has none, and cannot be cancelled. */
function noMouse(event) {
  if (event.cancelable && event.target.closest(".drag")) event.preventDefault();
}

function broken(text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length > width && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

export default function ({ parentElement, data, setTriggerValue }) {
  if (!links.has(parentElement)) links.set(parentElement, new Link(parentElement));
  const link = links.get(parentElement);
  link.update(data, setTriggerValue);
  return () => {
    links.delete(parentElement);
    link.close();
  };
}
