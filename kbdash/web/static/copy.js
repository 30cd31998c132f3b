// Buttons that copy a link: `link` if the server sends a full one, otherwise that of what is shown. Its parameters come
// from the address bar, which is always up to date, even when only a fragment reruns; host and path come from the
// server, which knows the direct address behind an iframe.
export default function ({ parentElement, data, setTriggerValue }) {
  const row = parentElement.querySelector(".row");
  const said = parentElement.querySelector(".said");
  while (row.children.length > data.links.length) row.lastChild.remove();
  data.links.forEach(({ label, link, base }, place) => {
    // A button stays the same element from run to run, and keeps the focus.
    const button = row.children[place] ?? row.appendChild(document.createElement("button"));
    button.type = "button";
    button.className = "copy";
    button.textContent = label;
    button.onclick = async () => {
      const done = await toClipboard(link ?? base + window.location.search);
      button.textContent = done ? "Copied" : label;
      said.textContent = done ? "Link copied" : "Copy the link shown below";
      setTimeout(() => {
        button.textContent = label;
        said.textContent = "";
      }, 2000);
      if (!done) setTriggerValue("refused", place);
    };
  });
}
