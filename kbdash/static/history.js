// Opening a page with parameters, Streamlit first pushes the new parameters onto the old path, then the new path.
// Back would land on that halfway entry, a view nobody asked for; so the second push replaces the first.
export default function () {
  const history = window.history;
  if (history.kbdash) return;
  history.kbdash = true;
  const push = history.pushState.bind(history);
  let halfway = null;
  history.pushState = (state, unused, url) => {
    const target = new URL(url ?? "", window.location.href);
    const samePath = target.pathname === window.location.pathname;
    if (!samePath && halfway === window.location.href && target.search === window.location.search) {
      history.replaceState(state, unused, url);
    } else {
      push(state, unused, url);
    }
    halfway = samePath ? window.location.href : null;
  };
  window.addEventListener("popstate", () => { halfway = null; });
}
