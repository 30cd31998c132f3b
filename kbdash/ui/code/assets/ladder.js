// The steps of a climb as a table, newest on top, and beside it the same steps as a falling line. What is under the
// pointer, or has the focus, lights up in both.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { left: 64, right: 14, top: 16, bottom: 24 };
const ladders = new WeakMap();

class Ladder {
  constructor(root) {
    this.svg = root.querySelector("svg");
    this.body = root.querySelector("tbody");
    this.sizes = new ResizeObserver(() => this.data && this.#chart());
    this.sizes.observe(this.svg);
  }

  update(data, tell) {
    this.data = data;
    this.tell = tell;
    this.rows = new Map(data.rows.map((row) => [row.step, this.#row(row)]));
    this.body.replaceChildren(...this.rows.values());
    this.#chart();
  }

  close() {
    this.sizes.disconnect();
  }

  #row(row) {
    const line = document.createElement("tr");
    const cells = [["", row.step], ["time", row.time], ["gain", row.gain], ["more", row.waited], ["more", row.attempts], ["", row.changed], ["more", row.at]];
    for (const [name, text] of cells) {
      const cell = document.createElement("td");
      cell.className = name;
      cell.textContent = text;
      if (name === "gain") cell.append(bar(row.share));
      line.append(cell);
    }
    const links = document.createElement("td");
    if (row.diff !== null) links.append(this.#link("Diff", row.diff, "diff", row.step));
    links.append(this.#link("Code", row.code, "code", row.step));
    line.append(links);
    for (const [event, on] of [["mouseenter", true], ["mouseleave", false], ["focusin", true], ["focusout", false]])
      line.addEventListener(event, () => this.#light(row.step, on));
    return line;
  }

  /** A real link, which may be opened in another tab; a plain click stays in this session. */
  #link(text, href, kind, step) {
    const link = document.createElement("a");
    link.href = href;
    link.textContent = text;
    link.setAttribute("aria-label", `${text} of step ${step}`);
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      this.tell("open", `${kind}:${step}`);
    });
    return link;
  }

  #light(step, on) {
    this.rows.get(step)?.classList.toggle("lit", on);
    this.dots.get(step)?.classList.toggle("lit", on);
    const point = this.data.points.find((one) => one.step === step);
    if (!on || point === undefined) {
      this.flag.textContent = "";
      return;
    }
    const [x, y] = this.#at(point);
    const right = x > this.width / 2;
    place(this.flag, { x: right ? x - 8 : x + 8, y: y - 8, "text-anchor": right ? "end" : "start" });
    this.flag.textContent = point.label;
  }

  #at({ x, y }) {
    return [
      MARGIN.left + x * (this.width - MARGIN.left - MARGIN.right),
      MARGIN.top + y * (this.height - MARGIN.top - MARGIN.bottom),
    ];
  }

  #chart() {
    this.width = this.svg.clientWidth;
    this.height = this.svg.clientHeight;
    if (this.width === 0) return;
    this.svg.setAttribute("aria-label", this.data.label);
    this.flag = shape("text", { class: "flag" });
    this.dots = new Map();
    const dots = this.data.points.map((point) => this.#dot(point));
    this.svg.replaceChildren(...this.#axes(), shape("path", { class: "way", d: this.#way() }), ...dots, this.flag);
  }

  #axes() {
    const lines = this.data.ticks.flatMap(({ y, label }) => {
      const [, height] = this.#at({ x: 0, y });
      const text = shape("text", { class: "tick", x: MARGIN.left - 8, y: height + 4, "text-anchor": "end" });
      text.textContent = label;
      return [shape("line", { class: "axis", x1: MARGIN.left, x2: this.width - MARGIN.right, y1: height, y2: height }), text];
    });
    const ends = [["start", 0, this.data.from], ["end", 1, this.data.to]].map(([anchor, x, label]) => {
      const text = shape("text", { class: "tick", x: this.#at({ x, y: 0 })[0], y: this.height - 4, "text-anchor": anchor });
      text.textContent = label;
      return text;
    });
    return [...lines, ...ends];
  }

  /** A best is held until the next one: across, then down. */
  #way() {
    const [first, ...rest] = this.data.points.map((point) => this.#at(point));
    const end = this.#at({ x: 1, y: 0 })[0];
    return `M${first[0]} ${first[1]}${rest.map(([x, y]) => `H${x}V${y}`).join("")}H${end}`;
  }

  #dot(point) {
    const [cx, cy] = this.#at(point);
    const dot = shape("circle", { class: this.rows.has(point.step) ? "dot listed" : "dot", cx, cy, r: this.data.points.length > 60 ? 3 : 5 });
    dot.addEventListener("mouseenter", () => this.#light(point.step, true));
    dot.addEventListener("mouseleave", () => this.#light(point.step, false));
    dot.addEventListener("click", () => this.tell("open", `${point.step === 1 ? "code" : "diff"}:${point.step}`));
    this.dots.set(point.step, dot);
    return dot;
  }
}

function bar(share) {
  const bar = document.createElement("i");
  bar.style.width = `${Math.round(share * 100)}%`;
  return bar;
}

function shape(kind, attributes) {
  return place(document.createElementNS(SVG, kind), attributes);
}

function place(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export default function ({ parentElement, data, setTriggerValue }) {
  if (!ladders.has(parentElement)) ladders.set(parentElement, new Ladder(parentElement));
  const ladder = ladders.get(parentElement);
  ladder.update(data, setTriggerValue);
  return () => {
    ladders.delete(parentElement);
    ladder.close();
  };
}
