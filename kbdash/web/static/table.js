// Our table. User text becomes a text node or an attribute's value, never markup.
// A plain click on a link is sent to the server and stays in the session; every other click is left to the browser.

const CARDS = 600; // pixels: on narrower pages, rows are cards
const TICKS = 2;
const NAME = 40; // letters of a name before it is cut
const NUMBERS = new Set(["rank", "whole", "number", "time", "share", "ratio"]);
const SVG = "http://www.w3.org/2000/svg";
const tables = new WeakMap();

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === "" || value === false) continue;
    if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** A link inside the app: a real one; a plain click sends `data-to`. */
function linkTo(root, to, ...children) {
  return element("a", { href: root + to, "data-to": to }, ...children);
}

/** A best-so-far line in steps; 1 is the top of the scale, 0 the best. */
function sparkline(values, label) {
  const across = 100 / (values.length - 1);
  const steps = values.map((value, at) => {
    const y = (2 + 16 * (1 - value)).toFixed(1);
    return at ? `H${(at * across).toFixed(1)}V${y}` : `M0 ${y}`;
  });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 20");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", steps.join(""));
  svg.append(path);
  return svg;
}

/** Which columns lead a card, and which cell names its row. */
function rolesOf(columns) {
  const names = columns.findIndex(({ kind }) => kind === "name");
  return { head: Math.max(names, 0), lead: columns.findIndex(({ kind }) => kind === "time") };
}

function contentOf(column, row, root) {
  if (column.kind === "trend") {
    const values = column.trends[row];
    return values.length > 1 ? [sparkline(values, column.head)] : [];
  }
  if (column.kind === "links") return column.choices[row].map(([word, to]) => (to ? linkTo(root, to, word) : word));
  const text = column.texts[row];
  const note = column.notes[row];
  if (column.kind === "code") {
    const line = element("code", { dir: "ltr" }, ...column.pieces[row].map(([piece, hit]) => (hit ? element("mark", {}, piece) : piece)));
    return [column.links[row] ? linkTo(root, column.links[row], line) : line];
  }
  let shown = column.kind === "name" || column.kind === "text" ? element("bdi", {}, text) : text;
  const most = column.width ?? (column.kind === "name" ? NAME : 0);
  if (most) shown = element("span", { class: "cut", style: `--most: ${most}` }, shown);
  // The whole of a cut text is shown on hover, focus and tap, like a note.
  const whole = most && text.length > most ? text : "";
  const link = column.links[row];
  if (link) shown = linkTo(root, link, shown);
  else if (note || whole) shown = element("span", { class: note && "noted", tabindex: 0 }, shown);
  if (note || whole) shown.setAttribute("data-tip", note || whole);
  const mark = column.marks[row];
  return mark ? [element("button", { type: "button", class: "mark", "data-tip": mark, "aria-label": `Flagged: ${mark}` }), shown] : [shown];
}

/** One cell; in a card it shows its head, unless its text is the head. */
function cellOf(column, at, row, roles, root) {
  const head = at === roles.head;
  const text = column.texts[row];
  const classes = [
    column.kind,
    NUMBERS.has(column.kind) && "number",
    at === roles.lead && "lead",
    (text === "" || text === "–") && "empty",
    column.aside && "aside",
  ];
  const cell = element(
    head ? "th" : "td",
    {
      class: classes.filter(Boolean).join(" "), scope: head && "row", role: head ? "rowheader" : "cell",
      "data-head": column.kind !== "links" && text !== column.head && column.head,
      "data-unit": at === roles.lead && ` ${column.head.match(/\((.*)\)$/)?.[1] ?? ""}`,
    },
    ...contentOf(column, row, root),
  );
  if (column.parts) cell.style.setProperty("--part", column.parts[row]);
  return cell;
}

class Table {
  constructor(parent) {
    this.parts = Object.fromEntries(
      ["frame", "bar", "chosen", "compare", "clear", "box", "more", "drawn", "next", "tip", "said"].map((name) => [name, parent.querySelector(`.${name}`)]),
    );
    for (const tag of ["table", "caption", "thead", "tbody"]) this.parts[tag] = parent.querySelector(tag);
    this.ticked = new Map();
    this.ending = new AbortController();
    this.#listen(this.ending);
    this.sizes = new ResizeObserver(() => this.#fit());
    this.sizes.observe(this.parts.frame);
  }

  update(data, tell) {
    this.tell = tell;
    const same = this.data && ["table", "order", "root"].every((name) => data[name] === this.data[name]);
    const heads = JSON.stringify(data.heads);
    if (same && heads === this.heads) return;
    if (!this.data || data.table !== this.data.table) this.table = JSON.parse(data.table);
    Object.assign(this, { data, heads, count: data.most });
    this.#draw();
  }

  close() {
    this.sizes.disconnect();
    this.ending.abort();
  }

  #draw() {
    const { caption, thead, tbody } = this.parts;
    const focused = thead.querySelector("a:focus")?.closest("th").dataset.name;
    caption.textContent = this.table.caption;
    this.roles = rolesOf(this.table.columns);
    const cells = this.table.columns.map((column) => this.#headOf(column));
    if (this.table.refs.length) cells.unshift(element("th", { class: "tick", scope: "col", role: "columnheader" }, element("span", { class: "said" }, "Compare")));
    thead.replaceChildren(element("tr", { role: "row" }, ...cells));
    this.parts.frame.classList.toggle("even", this.table.columns.some(({ share }) => share));
    tbody.replaceChildren();
    this.#rows(0);
    if (focused) thead.querySelector(`th[data-name="${CSS.escape(focused)}"] > a`)?.focus();
    this.#hide();
    this.#choose();
    this.#fit();
  }

  #headOf(column) {
    const { order } = this.data;
    const to = column.sort && this.data.heads[column.sort];
    const sorted = column.sort && order.replace(/^-/, "") === column.sort;
    const plain = () => element(column.help ? "button" : "span", { type: column.help && "button" }, column.head);
    const word = to ? linkTo(this.data.root, to, column.head) : plain();
    if (column.help) word.setAttribute("data-tip", column.help);
    return element(
      "th",
      {
        scope: "col", role: "columnheader", class: [column.kind, NUMBERS.has(column.kind) && "number", column.aside && "aside"].filter(Boolean).join(" "), "data-name": column.name,
        "aria-sort": sorted && (order.startsWith("-") ? "descending" : "ascending"),
        style: column.share && `width: ${column.share}%`,
      },
      word,
    );
  }

  /** Draw the rows from `start` up to as many as are to be seen. */
  #rows(start) {
    const { more, drawn, tbody } = this.parts;
    const end = Math.min(this.count, this.table.rows);
    for (let row = start; row < end; row += 1) tbody.append(this.#rowOf(row));
    more.hidden = end >= this.table.rows;
    drawn.textContent = `${end.toLocaleString("en")} of ${this.table.rows.toLocaleString("en")} rows.`;
  }

  #rowOf(row) {
    const { columns, refs, emphasis } = this.table;
    const cells = columns.map((column, at) => cellOf(column, at, row, this.roles, this.data.root));
    if (refs.length) cells.unshift(this.#tickOf(row));
    return element("tr", { role: "row", tabindex: -1, class: emphasis[row] }, ...cells);
  }

  #tickOf(row) {
    const ref = this.table.refs[row];
    const cell = element("td", { class: "tick", role: "cell" });
    if (ref) {
      const name = this.#nameOf(row);
      const box = element("input", { type: "checkbox", "aria-label": `Compare ${name}`, "data-ref": ref });
      box.checked = this.ticked.has(ref);
      box.addEventListener("change", () => this.#tick(ref, name, box.checked));
      cell.append(box);
    }
    return cell;
  }

  #nameOf(row) {
    const { head, lead } = this.roles;
    return [head, lead].filter((at) => at >= 0).map((at) => this.table.columns[at].texts[row]).join(", ");
  }

  /** Two rows can be ticked; a third replaces the first. */
  #tick(ref, name, on) {
    if (on) this.ticked.set(ref, name);
    else this.ticked.delete(ref);
    while (this.ticked.size > TICKS) this.ticked.delete(this.ticked.keys().next().value);
    this.#choose();
  }

  #choose() {
    const { bar, chosen, compare, said, tbody } = this.parts;
    for (const box of tbody.querySelectorAll("input[data-ref]")) box.checked = this.ticked.has(box.dataset.ref);
    const refs = [...this.ticked.keys()];
    bar.hidden = !refs.length;
    chosen.textContent = [...this.ticked.values()].join(" and ") + (refs.length < TICKS ? ": tick another to compare." : "");
    compare.hidden = refs.length < TICKS;
    if (refs.length) said.textContent = `${refs.length} of ${TICKS} chosen for comparing`;
    if (refs.length < TICKS) return;
    compare.dataset.to = `/compare?${new URLSearchParams({ a: refs[0], b: refs[1] })}`;
    compare.href = this.data.root + compare.dataset.to;
  }

  /** Cards on a phone; a table that is too wide has its own scroll bar, any other scrolls with the page. */
  #fit() {
    const { frame, box, table } = this.parts;
    if (!frame.clientWidth) return;
    frame.classList.toggle("cards", frame.clientWidth < CARDS);
    box.classList.remove("wide");
    const wide = frame.clientWidth >= CARDS && table.scrollWidth > frame.clientWidth + 1;
    box.classList.toggle("wide", wide);
    const above = document.querySelector('[data-testid="stHeader"]');
    frame.style.setProperty("--above", `${above?.offsetHeight ?? 0}px`);
  }

  #listen({ signal }) {
    const { frame, clear, next } = this.parts;
    frame.addEventListener("click", (event) => this.#click(event), { signal });
    for (const name of ["pointerover", "focusin"]) frame.addEventListener(name, (event) => this.#point(event), { signal });
    frame.addEventListener("focusout", () => this.#hide(), { signal });
    frame.addEventListener("pointerout", (event) => event.pointerType === "mouse" && this.#hide(), { signal });
    clear.addEventListener("click", () => { this.ticked.clear(); this.#choose(); }, { signal });
    next.addEventListener("click", () => this.#more(), { signal });
    document.addEventListener("keydown", (event) => this.#key(event), { signal });
    document.addEventListener("scroll", () => this.#hide(), { signal, capture: true });
  }

  #more() {
    const start = this.count;
    this.count += this.data.most;
    this.#rows(start);
    this.#fit();
    this.parts.tbody.rows[start]?.focus();
  }

  #click(event) {
    const about = event.target.closest("[data-tip]");
    if (about && about.tagName !== "A") this.#show(about, about.dataset.tip);
    const link = event.target.closest("a[data-to]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.tell("follow", link.dataset.to);
  }

  #point(event) {
    const about = event.target.closest("[data-tip]");
    if (about) {
      this.#show(about, about.dataset.tip);
      return;
    }
    const cut = event.target.closest(".cut") ?? event.target.querySelector?.(":scope > .cut");
    if (cut && cut.scrollWidth > cut.clientWidth) this.#show(cut, cut.textContent);
  }

  #show(target, text) {
    const { tip } = this.parts;
    tip.textContent = text;
    if (!tip.matches(":popover-open")) tip.showPopover?.();
    const place = target.getBoundingClientRect();
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, place.left), Math.max(8, window.innerWidth - width - 8));
    const below = place.bottom + 6;
    tip.style.left = `${left}px`;
    tip.style.top = `${below + height > window.innerHeight ? place.top - height - 6 : below}px`;
  }

  #hide() {
    if (this.parts.tip.matches(":popover-open")) this.parts.tip.hidePopover();
  }

  /** j and k go from row to row, Enter opens the row; ignored while the reader types. */
  #key(event) {
    if (event.key === "Escape") this.#hide();
    const target = event.composedPath()[0];
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return;
    const { tbody } = this.parts;
    const row = tbody.contains(target) ? target.closest("tr") : null;
    if (event.key === "Enter" && row && target === row) {
      (row.querySelector('a[data-to^="/submission"]') ?? row.querySelector("a"))?.click();
      return;
    }
    const step = { j: 1, k: -1 }[event.key];
    if (!step || (!row && !this.#isNext(target))) return;
    const other = row ? (step > 0 ? row.nextElementSibling : row.previousElementSibling) : tbody.rows[0];
    event.preventDefault();
    other?.focus();
    other?.scrollIntoView({ block: "nearest" });
  }

  /** Whether this table takes the keys while none has the focus: the first visible one. */
  #isNext(target) {
    if (target.getRootNode() !== document && !this.parts.frame.contains(target)) return false;
    const { top, bottom, width } = this.parts.frame.getBoundingClientRect();
    return width > 0 && bottom > 0 && top < window.innerHeight;
  }
}

function isTyping(target) {
  if (!target?.closest) return false;
  return Boolean(target.closest('select, textarea, input:not([type="checkbox"]), [contenteditable="true"], [role="combobox"], [role="listbox"]'));
}

/** The settings of the first line, and the table as the text that follows. */
function read(bytes) {
  const text = new TextDecoder().decode(bytes);
  const end = text.indexOf("\n");
  return { ...JSON.parse(text.slice(0, end)), table: text.slice(end + 1) };
}

export default function ({ parentElement, data, setTriggerValue }) {
  let table = tables.get(parentElement);
  if (!table) {
    table = new Table(parentElement);
    tables.set(parentElement, table);
  }
  table.update(read(data), setTriggerValue);
  return () => {
    table.close();
    tables.delete(parentElement);
  };
}
