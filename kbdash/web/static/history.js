// What the browser's history and a Space's frame need to know about the address.

// Inside a Space only the parameters of the outer page are ours, so the page is sent as one of them.
function tell() {
  if (window.parent === window) return;
  const page = window.location.pathname.split("/").pop();
  const search = window.location.search.slice(1);
  const queryString = [page && `page=${page}`, search].filter(Boolean).join("&");
  window.parent.postMessage({ queryString, hash: "" }, "https://huggingface.co");
}

function keepHistory() {
  const history = window.history;
  if (history.kbdash) return;
  history.kbdash = true;
  const push = history.pushState.bind(history);
  let halfway = null;

  // When it opens a page with parameters, Streamlit first pushes the new parameters with the old path, then the new
  // path. Back would land on that intermediate entry, so the second push replaces the first.
  history.pushState = (state, unused, url) => {
    const target = new URL(url ?? "", window.location.href);
    const samePath = target.pathname === window.location.pathname;
    if (!samePath && halfway === window.location.href && target.search === window.location.search) {
      history.replaceState(state, unused, url);
    } else {
      push(state, unused, url);
    }
    halfway = samePath ? window.location.href : null;
    tell();
  };
  window.addEventListener("popstate", () => {
    halfway = null;
    tell();
  });
}
