// A source text with line numbers, colours, find, and line ranges that become part of the link.

const MAX_HITS = 10_000;
const WAIT_MS = 700; // debounce: after the last key, before a search goes into the link
const SIGN_FROM = 0.6; // the share of the margin that belongs to the number; the rest is the sign of the origin
const LINES = /^\s*(\d{1,8})(?:\s*[-–]\s*(\d{1,8}))?\s*$/;
const preferences = { wrap: false }; // kept while the tab is open, over all texts
const viewers = new WeakMap();

class Viewer {
  constructor(root) {
    for (const name of ["viewer", "find", "count", "back", "next", "pick", "link", "clear", "wrap", "copy", "box", "text", "said"])
      this[name] = root.querySelector(`.${name}`);
    this.data = null;
    this.rows = [];
    this.blocks = [];
    this.hits = [];
    this.current = -1;
    this.picked = null;
    this.currentPaint = new Paint();
    this.#listen();
    this.#setWrap(preferences.wrap);
  }

  /** Show what the server sent, except what did not change or only echoes our own message. */
  update(data, tell) {
    const before = this.data;
    this.data = data;
    this.tell = tell;
    const fresh = before === null || before.text !== data.text;
    if (fresh) this.#draw();
    if (fresh || JSON.stringify(before.origins) !== JSON.stringify(data.origins)) this.#showOrigins(data.origins);
    if (fresh || (before.find !== data.find && data.find !== this.told)) this.#showFind(data.find);
    const moved = fresh || String(before.line) !== String(data.line);
    if (moved && (fresh || String(data.line) !== String(this.picked))) this.#showLines(data.line, fresh);
  }

  close() {
    clearTimeout(this.waiting);
    this.#forget();
  }

  #listen() {
    this.box.addEventListener("click", (event) => this.#clicked(event));
    this.find.addEventListener("input", () => this.#searched());
    this.find.addEventListener("keydown", (event) => this.#findKey(event));
    this.back.onclick = () => this.#step(-1);
    this.next.onclick = () => this.#step(1);
    this.pick.addEventListener("keydown", (event) => event.key === "Enter" && this.#typedLines());
    this.pick.addEventListener("blur", () => this.#typedLines());
    this.clear.onclick = () => this.#pickLines(null);
    this.link.onclick = async () => answer(this.link, this.said, (await toClipboard(this.#linkToLines())) ? "Copied" : "Not allowed");
    this.copy.onclick = async () => answer(this.copy, this.said, (await toClipboard(this.data.text)) ? "Copied" : "Not allowed");
    this.wrap.onchange = () => this.#setWrap(this.wrap.checked);
  }

  #draw() {
    this.#forget();
    const { text, language, embedded } = this.data;
    this.lines = linesOf(text);
    this.tokens = new Tokens(this.lines, language, embedded);
    this.rows = this.lines.map((line, at) => lineElement(line, at + 1));
    this.painter = new VisiblePaint(this.box, (number, paint) => this.#paint(number, paint));
    this.blocks = inBlocks(this.rows, this.painter);
    this.text.style.setProperty("--gutter-columns", String(this.rows.length).length + 2.5);
    this.text.style.setProperty("--columns", widest(this.lines));
    this.text.replaceChildren(...this.blocks);
    this.box.scrollTo(0, 0);
    this.box.setAttribute("aria-label", this.data.label);
  }

  /** A sign in the margin of each line: who wrote it first. */
  #showOrigins(origins) {
    this.viewer.classList.toggle("origins", origins !== null);
    this.rows.forEach((row, at) => {
      const kind = origins?.kinds[at];
      const place = origins?.places[at] ?? -1;
      if (kind === undefined) {
        delete row.dataset.origin;
        delete row.dataset.sign;
      } else {
        row.dataset.origin = kind;
        row.dataset.sign = origins.signs[kind];
      }
      row.title = place < 0 ? "" : origins.notes[place];
    });
  }

  /** Where the line of a row appeared first; undefined if it is new or trivial, or origins are off. */
  #originOf(row) {
    return this.data.origins?.links[this.data.origins.places[Number(row.dataset.n) - 1]];
  }

  #forget() {
    this.painter?.close();
    this.currentPaint.clear();
    this.blocks = [];
    this.picked = null;
  }

  #paint(number, paint) {
    const last = Math.min((number + 1) * BLOCK, this.rows.length);
    for (let at = number * BLOCK; at < last; at += 1) paintTokens(paint, this.tokens, at, this.rows[at].firstChild);
    for (let at = this.#firstHit(number * BLOCK); at < this.hits.length && this.hits[at].line < last; at += 1) {
      const { line, start, end } = this.hits[at];
      paint.add("found", this.rows[line].firstChild, start, end);
    }
  }

  /** The first hit on this line or after it. */
  #firstHit(line) {
    let low = 0;
    let high = this.hits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.hits[middle].line < line) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #showFind(text) {
    this.find.value = this.told = text;
    this.#search(this.picked === null && this.data.line === null);
  }

  #searched() {
    this.#search(true);
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.#tellFind(), WAIT_MS);
  }

  #tellFind() {
    clearTimeout(this.waiting);
    if (this.find.value !== this.told) {
      this.told = this.find.value;
      this.tell("find", this.told);
    }
  }

  #search(move) {
    const text = this.find.value;
    this.hits = text === "" ? [] : hitsIn(this.lines, text);
    this.painter.refresh();
    const from = move ? this.#firstVisible() : 0;
    this.#setCurrent(this.hits.length === 0 ? -1 : this.#firstHit(from) % this.hits.length, move);
  }

  #firstVisible() {
    const top = this.box.getBoundingClientRect().top;
    const block = this.blocks.findIndex((element) => element.getBoundingClientRect().bottom > top);
    return Math.max(block, 0) * BLOCK;
  }

  #findKey(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      this.#tellFind();
      this.#step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape" && this.find.value !== "") {
      this.find.value = "";
      this.#searched();
    }
  }

  #step(by) {
    const { length } = this.hits;
    if (length > 0) this.#setCurrent((this.current + by + length) % length, true);
  }

  #setCurrent(number, move) {
    this.current = number;
    this.currentPaint.clear();
    const none = this.hits.length === 0;
    const most = this.hits.length === MAX_HITS ? "+" : "";
    this.count.textContent = this.find.value === "" ? "" : none ? "no hits" : `${number + 1} of ${this.hits.length}${most}`;
    this.back.disabled = this.next.disabled = none;
    if (number < 0) return;
    const { line, start, end } = this.hits[number];
    this.currentPaint.add("current", this.rows[line].firstChild, start, end);
    if (!move) return;
    bringInto(this.box, this.rows[line]);
    bringAside(this.box, this.rows[line], start, end);
  }

  #clicked(event) {
    const row = event.target.closest(".line");
    if (row === null || event.clientX > row.getBoundingClientRect().left + this.box.scrollLeft + this.#gutter(row)) return;
    const first = this.#originOf(row);
    if (first !== undefined && event.clientX > row.getBoundingClientRect().left + this.box.scrollLeft + this.#gutter(row) * SIGN_FROM) {
      this.tell("follow", first);
      return;
    }
    const line = Number(row.dataset.n);
    const anchor = event.shiftKey && this.picked !== null ? this.picked[0] : line;
    const same = this.picked !== null && !event.shiftKey && this.picked[0] === line && this.picked[1] === line;
    this.#pickLines(same ? null : [Math.min(anchor, line), Math.max(anchor, line)]);
  }

  #gutter(row) {
    return parseFloat(getComputedStyle(row).paddingLeft);
  }

  #typedLines() {
    const match = LINES.exec(this.pick.value);
    if (match === null) {
      this.#labelLines();
      return;
    }
    const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])];
    this.#pickLines([Math.min(first, last), Math.max(first, last)], true);
  }

  /** A choice of the reader: shown at once, then sent to the server. */
  #pickLines(lines, move = false) {
    const before = String(this.picked);
    this.#showLines(lines, false, move);
    if (String(this.picked) !== before) this.tell("line", this.picked === null ? "" : this.picked.join("-"));
  }

  #showLines(lines, fresh, move = true) {
    for (const row of this.#pickedRows()) row.classList.remove("picked");
    const most = this.rows.length;
    this.picked = lines === null || most === 0 ? null : lines.map((line) => Math.min(Math.max(line, 1), most));
    for (const row of this.#pickedRows()) row.classList.add("picked");
    this.#labelLines();
    if (this.picked !== null && move) {
      bringInto(this.box, this.rows[this.picked[0] - 1]);
      if (fresh) this.box.scrollIntoView({ block: "nearest" });
    }
  }

  #pickedRows() {
    return this.picked === null ? [] : this.rows.slice(this.picked[0] - 1, this.picked[1]);
  }

  #labelLines() {
    const some = this.picked !== null;
    this.pick.value = !some ? "" : this.picked[0] === this.picked[1] ? `${this.picked[0]}` : this.picked.join("-");
    this.link.hidden = this.clear.hidden = !some;
  }

  #linkToLines() {
    const query = new URLSearchParams(window.location.search);
    query.set("line", this.picked[0] === this.picked[1] ? this.picked[0] : this.picked.join("-"));
    return `${this.data.link}?${query}`;
  }

  #setWrap(on) {
    preferences.wrap = this.wrap.checked = on;
    this.viewer.classList.toggle("wrapped", on);
  }
}

function hitsIn(lines, text) {
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  const hits = [];
  for (let line = 0; line < lines.length; line += 1) {
    for (const match of lines[line].matchAll(pattern)) {
      hits.push({ line, start: match.index, end: match.index + match[0].length });
      if (hits.length === MAX_HITS) return hits;
    }
  }
  return hits;
}

export default function ({ parentElement, data, setTriggerValue }) {
  if (!viewers.has(parentElement)) viewers.set(parentElement, new Viewer(parentElement));
  const viewer = viewers.get(parentElement);
  viewer.update(data, setTriggerValue);
  return () => {
    viewers.delete(parentElement);
    viewer.close();
  };
}
