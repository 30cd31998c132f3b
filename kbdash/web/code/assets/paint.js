// Syntax colours without markup (CSS Custom Highlight API): the browser paints ranges of plain text nodes, so the text
// is never changed, selections survive, and a browser without it shows the same text uncoloured.

const CAN_PAINT = typeof Highlight === "function" && CSS.highlights !== undefined;
const ABOVE_TOKENS = { changed: 1, found: 2, current: 3 };
const PAINT_WAIT_MS = 80;
const TOKENS_PER_LINE = 400; // a line with more is data, not code to read

function highlight(kind) {
  const name = `kbdash-${kind}`;
  if (!CSS.highlights.has(name)) {
    const made = new Highlight();
    made.priority = ABOVE_TOKENS[kind] ?? 0;
    CSS.highlights.set(name, made);
  }
  return CSS.highlights.get(name);
}

/** Painted ranges that are removed together. */
class Paint {
  #painted = [];

  add(kind, node, start, end) {
    if (!CAN_PAINT || node === null || start >= end) return;
    const range = new StaticRange({ startContainer: node, startOffset: start, endContainer: node, endOffset: end });
    highlight(kind).add(range);
    this.#painted.push([kind, range]);
  }

  clear() {
    for (const [kind, range] of this.#painted) highlight(kind).delete(range);
    this.#painted = [];
  }
}

/** Colour the tokens of one line, which is shown as one text node. */
function paintTokens(paint, tokens, at, node) {
  let count = 0;
  tokens.line(at, (kind, start, end) => {
    count += 1;
    if (count <= TOKENS_PER_LINE) paint.add(kind, node, start, end);
  });
}

/** Paints blocks of a scrolling box when they come into view, and removes the paint when they leave it.
 *
 * Text appears at once, colour follows when scrolling slows down: the browser processes all ranges again
 * whenever one is added, which must not happen in every frame.
 */
class VisiblePaint {
  #painted = new Map();
  #visible = new Set();

  constructor(box, paintBlock) {
    this.paintBlock = paintBlock;
    this.observer = new IntersectionObserver((entries) => this.#seen(entries), { root: box, rootMargin: "100px 0px" });
  }

  observe(element, number) {
    element.dataset.block = number;
    this.observer.observe(element);
  }

  /** Repaint what is in view, because its colours have changed. */
  refresh() {
    this.#clear();
    this.#settle();
  }

  close() {
    clearTimeout(this.waiting);
    this.waiting = undefined;
    this.observer.disconnect();
    this.#visible.clear();
    this.#clear();
  }

  #seen(entries) {
    for (const { target, isIntersecting } of entries)
      this.#visible[isIntersecting ? "add" : "delete"](Number(target.dataset.block));
    this.waiting ??= setTimeout(() => this.#settle(), PAINT_WAIT_MS);
  }

  #settle() {
    this.waiting = undefined;
    for (const [number, paint] of this.#painted) {
      if (!this.#visible.has(number)) {
        paint.clear();
        this.#painted.delete(number);
      }
    }
    for (const number of this.#visible) {
      if (!this.#painted.has(number)) {
        const paint = new Paint();
        this.#painted.set(number, paint);
        this.paintBlock(number, paint);
      }
    }
  }

  #clear() {
    for (const paint of this.#painted.values()) paint.clear();
    this.#painted.clear();
  }
}
