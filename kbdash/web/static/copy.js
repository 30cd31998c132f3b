// Copies the link of what is shown, or `data.link` if the server sends a full one. Parameters come from the address
// bar, which is always up to date, even when only a fragment reruns; host and path come from the server, which knows
// the direct address behind an iframe.
export default function ({ parentElement, data, setTriggerValue }) {
  const button = parentElement.querySelector(".copy");
  const label = parentElement.querySelector(".label");
  const said = parentElement.querySelector(".said");
  label.textContent = data.label;
  button.onclick = async () => {
    const link = data.link ?? data.base + window.location.search;
    const done = await toClipboard(link);
    label.textContent = done ? "Copied" : data.label;
    said.textContent = done ? "Link copied" : "Copy the link shown below";
    setTimeout(() => {
      label.textContent = data.label;
      said.textContent = "";
    }, 2000);
    if (!done) setTriggerValue("refused", link);
  };
}
