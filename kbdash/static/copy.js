// Copies the link of what is shown. The address bar is always up to date, even while only a part of the page runs
// again, so the parameters are taken from it; host and path come from the server, which knows the direct address
// behind an iframe.
export default function ({ parentElement, data, setTriggerValue }) {
  const button = parentElement.querySelector(".copy");
  const label = parentElement.querySelector(".label");
  const said = parentElement.querySelector(".said");
  const byHand = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.appendChild(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  button.onclick = async () => {
    const link = data.base + window.location.search;
    let done = false;
    try {
      await navigator.clipboard.writeText(link);
      done = true;
    } catch (error) {
      done = byHand(link);
    }
    label.textContent = done ? "Copied" : "Copy link";
    said.textContent = done ? "Link copied" : "Copy the link shown below";
    setTimeout(() => { label.textContent = "Copy link"; said.textContent = ""; }, 2000);
    if (!done) setTriggerValue("refused", link);
  };
}
