// Reports to the server what charts and columns depend on, whenever it changes: whether the window is wide, and
// whether the theme is dark.

function reportWidth({ data, setStateValue }) {
  const wide = window.matchMedia("(min-width: 1600px)");
  const tell = () => {
    if (wide.matches !== data.wide) setStateValue("wide", wide.matches);
  };
  tell();
  wide.addEventListener("change", tell);
  return () => wide.removeEventListener("change", tell);
}

// Streamlit calls components again when the theme changes, but does not run the script, which draws the charts.
function reportTheme({ data, setStateValue }) {
  const dark = getComputedStyle(document.querySelector('[data-testid="stApp"]')).colorScheme === "dark";
  if (dark !== data.dark) setStateValue("dark", dark);
}
