// Reports to the server when the window is wide and whenever that changes; a narrow window sends nothing at first.

function reportWidth({ data, setStateValue }) {
  const wide = window.matchMedia("(min-width: 1600px)");
  const tell = () => {
    if (wide.matches !== data.wide) setStateValue("wide", wide.matches);
  };
  tell();
  wide.addEventListener("change", tell);
  return () => wide.removeEventListener("change", tell);
}
