// Clicks and pictures of a chart: a click on a point opens its code, and a saved picture names its source.
// Streamlit's own selection would enable dragging, which blocks scrolling on a phone, so clicks come from Plotly
// itself. On a touch screen the first tap shows the hover text, and a button opens the code.

const HEAD = 26; // pixels of the title in a saved picture
const LINE = 16; // and of each line of its source
const LETTER = 6.4;
const AGAIN = 700; // milliseconds after which a tap counts as a new one
const links = new WeakMap();

class Link {
  constructor(root) {
    this.open = root.querySelector(".open");
    this.said = root.querySelector(".said");
    for (const button of root.querySelectorAll("[data-format]")) button.onclick = () => this.#save(button.dataset.format);
    this.open.onclick = () => this.tell("point", this.chosen);
    this.watch = new MutationObserver(() => this.#attach());
    this.pressed = (event) => { this.pointer = event.pointerType; };
    document.addEventListener("pointerdown", this.pressed, true);
    this.clicked = (event) => this.#click(event);
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
    document.removeEventListener("pointerdown", this.pressed, true);
    this.graph?.removeListener?.("plotly_click", this.clicked);
  }

  /** Streamlit may draw the chart later than this component, and redraw it. */
  #attach() {
    const graph = this.box?.querySelector(".js-plotly-plot");
    if (!graph?.on || graph === this.graph) return;
    this.graph?.removeListener?.("plotly_click", this.clicked);
    this.graph = graph;
    graph.on("plotly_click", this.clicked);
  }

  #click(event) {
    const point = event.points.find((one) => one.customdata !== undefined && one.customdata !== null);
    const told = point && [].concat(point.customdata).slice(0, 2).map(String);
    if (!this.data.opens || !told || !told[0]) return;
    const name = told.join(" ");
    if (this.pointer !== "touch") {
      this.tell("point", name);
      return;
    }
    // The browser sends a mouse click right after a tap; a real second tap comes later.
    const again = this.chosen === name && event.event.timeStamp - this.tapped > AGAIN;
    if (this.chosen !== name || again) this.tapped = event.event.timeStamp;
    this.chosen = name;
    this.open.hidden = false;
    if (again) this.tell("point", name);
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
