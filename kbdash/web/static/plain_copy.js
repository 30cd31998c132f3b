// Removes the invisible characters that escape user text from text that is copied from a page.
const INVISIBLE = /[\u2060\u2068\u2069]/g;

function copyPlain(event) {
  const text = String(window.getSelection() ?? "");
  const plain = text.replace(INVISIBLE, "");
  if (plain === text) return;
  event.clipboardData.setData("text/plain", plain);
  event.preventDefault();
}

function copyWithoutEscapes() {
  document.addEventListener("copy", copyPlain);
  return () => document.removeEventListener("copy", copyPlain);
}
