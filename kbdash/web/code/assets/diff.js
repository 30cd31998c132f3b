// Two texts and what changed between them. The server sends both texts and runs of lines: [kind, left, right, count],
// where left and right are the numbers of the first line on each side.

const MANY_CHANGES = 12; // from this many on, the table of changes starts open
const MOST_LISTED = 500;
const MOST_LISTED_LETTERS = 300;
const ROOM_FOR_TWO = 700; // pixels; on a narrower page two columns are unreadable, so one is shown
const SIGNS = { same: " ", removed: "−", added: "+" };
const preferences = { wrap: true }; // kept while the tab is open
const diffs = new WeakMap();

class DiffView {
  constructor(root) {
    for (const name of ["diff", "sums", "back", "next", "count", "wrap", "hunks", "box", "text"])
      this[name] = root.querySelector(`.${name}`);
    this.opened = new Set();
    this.back.onclick = () => this.#step(-1);
    this.next.onclick = () => this.#step(1);
    this.wrap.onchange = () => this.#setWrap(this.wrap.checked);
    this.#setWrap(preferences.wrap);
  }

  update(data) {
    const before = this.data;
    this.data = data;
    if (before?.before.text !== data.before.text || before?.after.text !== data.after.text) this.#read();
    this.#draw();
  }

  close() {
    this.painter?.close();
  }

  #read() {
    const { before, after } = this.data;
    this.lines = [linesOf(before.text), linesOf(after.text)];
    this.tokens = [before, after].map(({ language, embedded }, side) => new Tokens(this.lines[side], language, embedded));
    this.opened.clear();
    this.current = -1;
  }

  #draw() {
    this.painter?.close();
    const two = this.data.mode === "split" && this.box.clientWidth >= ROOM_FOR_TWO;
    this.digits = String(Math.max(this.lines[0].length, this.lines[1].length)).length;
    this.cells = [];
    this.changes = [];
    this.rows = this.#groups().flatMap((group) => (two ? this.#splitRows(group) : this.#unifiedRows(group)));
    this.painter = new VisiblePaint(this.box, (number, paint) => this.#paint(number, paint));
    this.text.style.setProperty("--gutter-columns", two ? this.digits + 4 : 2 * this.digits + 5);
    this.text.style.setProperty("--columns", Math.max(...this.lines.map(widest)));
    this.diff.classList.toggle("wrapped", preferences.wrap || two);
    this.wrap.disabled = two;
    const top = this.box.scrollTop;
    this.text.replaceChildren(...inBlocks(this.rows, this.painter));
    this.box.scrollTop = top;
    this.#list();
  }

  /** Runs that belong together: removed and added lines of one change, or one run of unchanged or folded lines. */
  #groups() {
    const groups = [];
    for (const run of this.data.runs) {
      const [kind] = run;
      const last = groups[groups.length - 1];
      if ((kind === "removed" || kind === "added") && last?.changed) last.runs.push(run);
      else groups.push({ changed: kind === "removed" || kind === "added", runs: [run] });
    }
    return groups;
  }

  #unifiedRows(group) {
    if (!group.changed) return this.#unchanged(group.runs[0], (left, right) => this.#row(this.#cell("same", left, right)));
    const cells = sides(group).flatMap(({ kind, numbers }) =>
      numbers.map((number) => (kind === "removed" ? this.#cell(kind, number, null) : this.#cell(kind, null, number))),
    );
    const removed = cells.filter(({ kind }) => kind === "removed");
    const added = cells.filter(({ kind }) => kind === "added");
    pairUp(removed, added);
    const rows = cells.map((cell) => this.#row(cell));
    this.#noteChange(removed, added, rows[0]);
    return rows;
  }

  #splitRows(group) {
    if (!group.changed)
      return this.#unchanged(group.runs[0], (left, right) => this.#row(this.#half("same", 0, left), this.#half("same", 1, right)));
    const [removed, added] = sides(group).map(({ kind, numbers }, side) => numbers.map((number) => this.#half(kind, side, number)));
    pairUp(removed, added);
    const rows = Array.from({ length: Math.max(removed.length, added.length) }, (_, at) =>
      this.#row(removed[at] ?? blank(), added[at] ?? blank()),
    );
    this.#noteChange(removed, added, rows[0]);
    return rows;
  }

  #unchanged([kind, left, right, count], rowOf) {
    if (kind === "fold" && !this.opened.has(left)) return [this.#fold(left, count)];
    return Array.from({ length: count }, (_, at) => rowOf(left + at, right + at));
  }

  /** A line of the single column, with its numbers on both sides. */
  #cell(kind, left, right) {
    const side = right === null ? 0 : 1;
    const margin = `${this.#pad(left)} ${this.#pad(right)} ${SIGNS[kind]}`;
    return this.#made(kind, side, right ?? left, margin);
  }

  /** A line of one of the two columns. */
  #half(kind, side, number) {
    return this.#made(kind, side, number, `${this.#pad(number)} ${SIGNS[kind]}`);
  }

  #made(kind, side, number, margin) {
    const text = this.lines[side][number - 1];
    return { kind, side, number, text, element: lineElement(text, margin, kind) };
  }

  #pad(number) {
    return String(number ?? "").padStart(this.digits);
  }

  #row(...cells) {
    this.cells.push(cells);
    if (cells.length === 1) return cells[0].element;
    const pair = document.createElement("div");
    pair.className = "pair";
    pair.append(...cells.map(({ element }) => element));
    return pair;
  }

  #fold(left, count) {
    const fold = document.createElement("button");
    fold.type = "button";
    fold.className = "fold";
    fold.textContent = `… ${count.toLocaleString("en")} unchanged lines`;
    fold.onclick = () => {
      this.opened.add(left);
      this.#draw();
    };
    this.cells.push([]);
    return fold;
  }

  #noteChange(removed, added, row) {
    this.changes.push({ removed, added, row });
  }

  #paint(number, paint) {
    const last = Math.min((number + 1) * BLOCK, this.cells.length);
    for (const { side, number: line, element, changed } of this.cells.slice(number * BLOCK, last).flat()) {
      if (side === undefined) continue;
      paintTokens(paint, this.tokens[side], line - 1, element.firstChild);
      if (changed !== undefined) paint.add("changed", element.firstChild, ...changed);
    }
  }

  #list() {
    const { length } = this.changes;
    const sum = (side) => this.changes.reduce((total, change) => total + change[side].length, 0).toLocaleString("en");
    this.sums.textContent = length === 0 ? "No line differs." : `−${sum("removed")} +${sum("added")} lines`;
    this.back.disabled = this.next.disabled = length === 0;
    this.#count();
    this.hunks.hidden = length < 2;
    if (this.listed === this.data) return;
    this.listed = this.data;
    const more = length > MOST_LISTED ? `, the first ${MOST_LISTED}` : "";
    this.hunks.querySelector("summary").textContent = `Table of ${length.toLocaleString("en")} changes${more}`;
    this.hunks.open = length > MANY_CHANGES;
    this.hunks.querySelector("tbody").replaceChildren(...this.changes.slice(0, MOST_LISTED).map((change, at) => this.#entry(change, at)));
  }

  #entry({ removed, added }, at) {
    const row = document.createElement("tr");
    const jump = document.createElement("button");
    jump.type = "button";
    jump.textContent = range(removed);
    jump.onclick = () => this.#go(at);
    jump.setAttribute("aria-label", `Show change ${at + 1}`);
    const first = [...removed, ...added].find(({ text }) => text.trim() !== "") ?? removed[0] ?? added[0];
    for (const content of [jump, range(added), String(removed.length), String(added.length), first.text.trim().slice(0, MOST_LISTED_LETTERS)]) {
      const cell = document.createElement("td");
      cell.append(content);
      row.append(cell);
    }
    return row;
  }

  #step(by) {
    const { length } = this.changes;
    if (length > 0) this.#go(this.current < 0 && by < 0 ? length - 1 : (this.current + by + length) % length);
  }

  #go(at) {
    this.current = at;
    this.#count();
    bringInto(this.box, this.changes[at].row);
  }

  #count() {
    const { length } = this.changes;
    this.count.textContent = length === 0 ? "" : this.current < 0 ? (length === 1 ? "1 change" : `${length} changes`) : `${this.current + 1} of ${length}`;
  }

  #setWrap(on) {
    preferences.wrap = this.wrap.checked = on;
    this.diff.classList.toggle("wrapped", on);
  }
}

/** The removed and the added line numbers of a change. */
function sides({ runs }) {
  return ["removed", "added"].map((kind) => ({
    kind,
    numbers: runs
      .filter(([of]) => of === kind)
      .flatMap(([, left, right, count]) => Array.from({ length: count }, (_, at) => (left ?? right) + at)),
  }));
}

/** Mark the part that differs in each pair of lines, unless nearly all of it differs. */
function pairUp(removed, added) {
  for (let at = 0; at < Math.min(removed.length, added.length); at += 1) {
    const [old, now] = [removed[at].text, added[at].text];
    const most = Math.min(old.length, now.length);
    let head = 0;
    while (head < most && old[head] === now[head]) head += 1;
    let tail = 0;
    while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
    if (old.slice(0, head).trim().length + tail < Math.max(old.length, now.length) / 3) continue;
    removed[at].changed = [head, old.length - tail];
    added[at].changed = [head, now.length - tail];
  }
}

function blank() {
  const element = document.createElement("div");
  element.className = "line blank";
  element.dataset.n = "";
  return { element };
}

function range(cells) {
  if (cells.length === 0) return "–";
  const [first, last] = [cells[0].number, cells[cells.length - 1].number];
  return first === last ? `${first}` : `${first}–${last}`;
}

export default function ({ parentElement, data }) {
  if (!diffs.has(parentElement)) diffs.set(parentElement, new DiffView(parentElement));
  const view = diffs.get(parentElement);
  view.update(data);
  return () => {
    diffs.delete(parentElement);
    view.close();
  };
}
