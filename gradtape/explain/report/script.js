// The page makes sense without this. It adds: one card at a time beside the graph, lines and nodes that point at each
// other, arrow keys between nodes, and a switch between light and dark.
(() => {
  const root = document.documentElement;
  root.classList.add("js");

  // light and dark: what the system says, unless the reader chose
  const store = {
    get: () => { try { return localStorage.getItem("gradtape-theme"); } catch { return null; } },
    set: (value) => { try { localStorage.setItem("gradtape-theme", value); } catch { /* not kept: a sandbox */ } },
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  if (store.get()) root.dataset.theme = store.get();
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    store.set(root.dataset.theme);
    name();
  });
  system.addEventListener("change", name);
  name();

  // cards: the chosen one beside its graph
  const nodes = [...document.querySelectorAll("a.node")];
  const nodeOf = (id) => nodes.find((node) => node.getAttribute("href") === "#" + id);
  const show = (id, unfold) => {
    const card = document.getElementById(id);
    const node = nodeOf(id);
    if (!card || !node) return false;
    const picture = card.closest(".picture");
    picture.querySelectorAll(".card.on").forEach((other) => other.classList.remove("on"));
    picture.querySelectorAll("a.node[aria-current]").forEach((other) => other.removeAttribute("aria-current"));
    card.classList.add("on");
    node.setAttribute("aria-current", "true");
    if (unfold) card.querySelectorAll("details").forEach((part) => { part.open = true; });
    document.querySelectorAll("tr.at").forEach((row) => row.classList.remove("at"));
    rowsOf(node.dataset.line).forEach((row) => row.classList.add("at"));
    return true;
  };
  const centre = (node) => {
    const box = node.closest(".canvas");
    const a = node.getBoundingClientRect(), b = box.getBoundingClientRect();
    if (a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom) return;
    box.scrollLeft += a.left + a.width / 2 - b.left - b.width / 2;
    box.scrollTop += a.top + a.height / 2 - b.top - b.height / 2;
  };
  const rowsOf = (line) => [...document.querySelectorAll("tr[data-line]")].filter((row) => row.dataset.line === line);

  nodes.forEach((node, index) => {
    const id = node.getAttribute("href").slice(1);
    node.addEventListener("choose", () => {
      show(id, true);
      node.closest(".picture").scrollIntoView();
      centre(node);
      node.focus({ preventScroll: true });
    });
    node.addEventListener("click", (event) => {
      event.preventDefault();
      show(id, true);
      history.replaceState(null, "", "#" + id);
      document.getElementById(id).focus({ preventScroll: innerWidth > 900 });
    });
    node.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      const other = step && nodes[index + step];
      if (!other) return;
      event.preventDefault();
      other.focus();
      centre(other);
    });
    for (const [on, off] of [["mouseenter", "mouseleave"], ["focus", "blur"]]) {
      node.addEventListener(on, () => rowsOf(node.dataset.line).forEach((row) => row.classList.add("lit")));
      node.addEventListener(off, () => rowsOf(node.dataset.line).forEach((row) => row.classList.remove("lit")));
    }
  });
  document.querySelectorAll("tr[data-line]").forEach((row) => {
    const own = nodes.filter((node) => node.dataset.line === row.dataset.line);
    row.addEventListener("mouseenter", () => own.forEach((node) => node.classList.add("lit")));
    row.addEventListener("mouseleave", () => own.forEach((node) => node.classList.remove("lit")));
  });

  // links to a card from elsewhere bring its graph into view
  const follow = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (!show(id, true)) return;
    const node = nodeOf(id);
    node.closest(".picture").scrollIntoView();
    centre(node);
  };
  addEventListener("hashchange", follow);
  document.querySelectorAll(".picture").forEach((picture) => {
    const first = picture.querySelector("a.node.marked") || picture.querySelector("a.node.target") ||
      picture.querySelector("a.node");
    if (first) show(first.getAttribute("href").slice(1), false);
    if (first) centre(first);
  });
  document.querySelectorAll("tr.at").forEach((row) => row.classList.remove("at"));
  follow();
})();
