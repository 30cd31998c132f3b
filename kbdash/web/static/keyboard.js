// The search for people and boards, and the keys of the whole app. Names become text nodes, never markup.
const WAIT = 150; // debounce: milliseconds without typing before people are searched
const MOST = 8;
const STORED = "kbdash-keys";
let shown = null; // the search of the open page: a later run replaces an earlier one

const used = () => localStorage.getItem(STORED) !== "off";

/** Whether a key belongs to an input or a picker that has the focus. */
function isTaken(event) {
  const combined = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
  const at = event.composedPath()[0];
  // A closed dialog's input keeps the focus until the page is drawn again: nobody writes there.
  const writes =
    at instanceof Element &&
    (at.matches("input, textarea, select") || at.isContentEditable) &&
    !at.closest("dialog:not([open])");
  return event.defaultPrevented || event.isComposing || combined || writes;
}

function press(name) {
  const button = document.querySelector(`.st-key-submission-${name} button:not([disabled])`);
  if (button) button.click();
  return Boolean(button);
}

function onKey(event) {
  if (!shown || isTaken(event) || shown.isOpen() || !used()) {
    return;
  }
  const actions = { "/": shown.open, "?": shown.explain, "[": () => press("previous"), "]": () => press("next") };
  const action = actions[event.key];
  if (action && action() !== false) event.preventDefault();
}

/** Boards that contain every word; those that begin with the first word come first. */
function boardsWith(boards, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = boards.filter(({ name, where }) => words.every((word) => `${name} ${where}`.toLowerCase().includes(word)));
  const first = ({ name }) => (words[0] && name.toLowerCase().startsWith(words[0]) ? 0 : 1);
  return fits.toSorted((one, other) => first(one) - first(other)).slice(0, MOST);
}

async function peopleWith(root, text, signal) {
  const asked = new URLSearchParams({ find: text, limit: String(MOST) });
  const answer = await fetch(`${root}/api/find_users.json?${asked}`, { signal });
  if (!answer.ok) return [];
  const { rows } = await answer.json();
  return rows.map((row) => ({
    name: row.user_name || `user ${row.user_id}`,
    where: "person",
    to: `/user?${new URLSearchParams({ user: row.user_id })}`,
  }));
}

function offerSearch({ parentElement, data, setTriggerValue }) {
  const find = (selector) => parentElement.querySelector(selector);
  const [search, keys, input, list, said] = [".search", ".keys", ".search input", "#found", ".said"].map(find);
  let found = [];
  let at = 0;
  let timer = 0;
  let asking = new AbortController();

  const choose = (to, apart) => {
    search.close();
    if (apart) window.open(data.root + to, "_blank", "noopener");
    else setTriggerValue("follow", to);
  };

  const point = (place) => {
    at = found.length ? (place + found.length) % found.length : 0;
    const links = [...list.querySelectorAll("a")];
    links.forEach((link, number) => link.setAttribute("aria-selected", String(number === at)));
    if (links[at]) {
      links[at].scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", links[at].id);
    } else input.removeAttribute("aria-activedescendant");
  };

  const draw = (items) => {
    found = items;
    list.replaceChildren(
      ...items.map(({ name, where, to }, number) => {
        const [item, link, who, what] = ["li", "a", "bdi", "small"].map((tag) => document.createElement(tag));
        item.role = "presentation";
        link.id = `found-${number}`;
        link.role = "option";
        who.textContent = name;
        what.textContent = where;
        link.href = data.root + to;
        link.tabIndex = -1;
        link.append(who, what);
        link.onclick = (event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
          event.preventDefault();
          choose(to, false);
        };
        item.append(link);
        return item;
      }),
    );
    point(0);
  };

  const look = () => {
    const text = input.value.trim();
    const boards = boardsWith(data.boards, text);
    clearTimeout(timer);
    asking.abort();
    asking = new AbortController();
    draw(boards);
    said.textContent = "";
    if (text.length < 2) return;
    timer = setTimeout(async () => {
      const people = await peopleWith(data.root, text, asking.signal).catch(() => null);
      if (people === null || input.value.trim() !== text) return;
      draw([...people, ...boards]);
      said.textContent = found.length ? "" : "No person and no board matches.";
    }, WAIT);
  };

  input.oninput = look;
  input.onkeydown = (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) point(at + steps[event.key]);
    else if (event.key === "Enter" && found[at]) choose(found[at].to, event.ctrlKey || event.metaKey);
    else return;
    event.preventDefault();
  };
  for (const dialog of [search, keys]) {
    dialog.onclick = (event) => {
      if (event.target === dialog) dialog.close();
    };
  }
  const use = find(".use");
  use.onchange = () => localStorage.setItem(STORED, use.checked ? "on" : "off");
  find(".close").onclick = () => keys.close();

  const own = {
    isOpen: () => search.open || keys.open,
    open: () => {
      input.value = "";
      look();
      search.showModal();
      input.focus();
    },
    explain: () => {
      use.checked = used();
      keys.showModal();
    },
  };
  const opener = find(".open");
  opener.onclick = own.open;
  shown = own;
  opener.disabled = false; // from now on it does something, and so do the keys
  if (search.open) look(); // a run that ended while the reader types: the list belongs to the new run
  window.kbdashKeys ??= document.addEventListener("keydown", (event) => window.kbdashOnKey(event)) ?? true;
  window.kbdashOnKey = onKey;
  return () => {
    if (shown === own) shown = null;
  };
}
