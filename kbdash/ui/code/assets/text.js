// Small things about text that viewer and diff share.

const LINE_END = /\r\n|\n|\r/;
const TAB = 4;

/** The lines of a text without their ends; a last end closes the last line and does not start another. */
function linesOf(text) {
  const lines = text.split(LINE_END);
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

/** Put a text on the clipboard; true when it is there. */
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.cssText = "position:fixed;opacity:0";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** Say on a button, for a moment, what came of pressing it. */
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

/** Move a scrolling box so that an element stands in its upper third, also while heights are still estimates. */
function bringInto(box, element, tries = 4) {
  const distance =
    element.getBoundingClientRect().top - box.getBoundingClientRect().top - Math.round(box.clientHeight / 3);
  if (Math.abs(distance) < 2) return;
  const before = box.scrollTop;
  box.scrollTop += distance;
  if (tries > 0 && box.scrollTop !== before) requestAnimationFrame(() => bringInto(box, element, tries - 1));
}
