// What viewer and diff share: lines, their elements, scrolling.

const LINE_END = /\r\n|\n|\r/;
const TAB = 4;
const BLOCK = 40; // rows drawn, coloured and skipped together
const STACKED_MARKS = /(?<=\p{M}{8})\p{M}/gu;
const DOTTED_CIRCLE = "\u25cc";

/** The lines of a text without their ends; a line end at the end of the text does not start another line.
 *
 * Browsers take minutes to lay out a letter with thousands of combining marks. From the ninth on, each mark is shown
 * as a separate character, so columns in a line stay the same.
 */
function linesOf(text) {
  const lines = text.replace(STACKED_MARKS, (mark) => DOTTED_CIRCLE.repeat(mark.length)).split(LINE_END);
  if (lines.length > 0 && lines[lines.length - 1] === "") lines.pop();
  return lines;
}

/** How many columns the widest line takes; letters outside Latin and Greek may take two. */
function widest(lines) {
  let most = 0;
  for (const line of lines) {
    if (line.length * TAB < most) continue;
    let columns = 0;
    for (const letter of line) {
      if (letter === "\t") columns += TAB - (columns % TAB);
      else columns += letter.codePointAt(0) > 0x2e7f ? 2 : 1;
    }
    most = Math.max(most, columns);
  }
  return most;
}

/** One line of code with its margin. The text is always a text node. */
function lineElement(text, margin, kind = "") {
  const line = document.createElement("div");
  line.className = `line ${kind}`;
  line.dataset.n = margin;
  line.append(text === "" ? "\n" : text); // an empty row would be lost when text is copied
  return line;
}

/** Rows in blocks that the browser may skip while they are out of view, each reported to the painter. */
function inBlocks(rows, painter) {
  const blocks = [];
  for (let first = 0; first < rows.length; first += BLOCK) {
    const block = document.createElement("div");
    const some = rows.slice(first, first + BLOCK);
    block.className = "block";
    block.style.setProperty("--rows", some.length);
    block.append(...some);
    painter.observe(block, blocks.length);
    blocks.push(block);
  }
  return blocks;
}

/** Show the result of a click on the button, for a moment. */
function answer(button, said, text) {
  const label = (button.dataset.label ??= button.textContent);
  button.textContent = text;
  said.textContent = text;
  clearTimeout(button.answered);
  button.answered = setTimeout(() => {
    button.textContent = label;
    said.textContent = "";
  }, 2000);
}

/** Scroll a box so that a row is in its upper third, even while heights are estimates. */
function bringInto(box, row, tries = 4) {
  const distance = row.getBoundingClientRect().top - box.getBoundingClientRect().top - Math.round(box.clientHeight / 3);
  const before = box.scrollTop;
  box.scrollTop += distance;
  if (tries > 0 && Math.abs(distance) >= 2 && box.scrollTop !== before)
    requestAnimationFrame(() => bringInto(box, row, tries - 1));
  else row.scrollIntoView({ block: "nearest" }); // the box itself may extend below the window
}

/** Scroll a box sideways so that a part of a text node is visible beside the line numbers. */
function bringAside(box, row, start, end) {
  const stretch = document.createRange();
  stretch.setStart(row.firstChild, start);
  stretch.setEnd(row.firstChild, end);
  const [seen, here] = [stretch.getBoundingClientRect(), box.getBoundingClientRect()];
  const left = here.left + parseFloat(getComputedStyle(row).paddingLeft);
  if (seen.left < left || seen.right > here.right) box.scrollLeft += seen.left - left - box.clientWidth / 3;
}
