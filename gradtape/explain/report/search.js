// Search: what the words are found in (source lines, nodes, verdicts, rows of tables) is listed, jumped to and marked.
(() => {
  const SHOWN = 60;
  const form = document.getElementById("search"), input = form.querySelector("input");
  const list = document.getElementById("found"), said = document.getElementById("foundcount");
  const one = (text) => text.toLowerCase().replace(/[×]/g, "x").replace(/(\d)\s*[x,]\s*(?=\d)/g, "$1, ").replace(/\s+/g, " ");
  const shapes = (part) => [...part.querySelectorAll(".shape")]
    .map((shape) => "(" + [...shape.querySelectorAll(".axis")].map((axis) => axis.textContent).join(", ") + ")").join(" ");
  const textOf = (part, within) => part.querySelector(within)?.textContent.trim() ?? "";

  let entries = null;
  const collect = () => {
    entries = [];
    const add = (kind, element, title, where, more, go) =>
      entries.push({ kind, element, title, where, head: one(title + " " + where), text: one([title, where, more].join(" ")), go });
    document.querySelectorAll("li.verdict").forEach((item) =>
      add("verdict", item, textOf(item, "h3"), "", item.textContent, () => reach(item)));
    document.querySelectorAll("a.node").forEach((node) => {
      const card = document.getElementById(node.getAttribute("href").slice(1));
      add("node", node, textOf(card, "h4"), textOf(node, ".where"), card.textContent + " " + shapes(card), () => node.dispatchEvent(new Event("choose")));
    });
    document.querySelectorAll("tr[data-line]").forEach((row) => {
      const file = row.closest(".sheet").querySelector("h3").textContent, place = file + ":" + textOf(row, ".ln");
      add("line", row, textOf(row, ".code"), place, shapes(row) + " " + row.dataset.line, () => reach(row, ".ln a"));
    });
    document.querySelectorAll("table.sources tbody tr, table.layers tbody tr, table.timed tbody tr").forEach((row) =>
      add(row.closest("table").dataset.kind, row, textOf(row, "th"), "", row.textContent + " " + shapes(row), () => reach(row, "a")));
  };
  const reach = (element, focused) => {
    element.scrollIntoView({ block: "center" });
    const target = focused && element.querySelector(focused);
    if (target) target.focus({ preventScroll: true });
    element.classList.remove("flash");
    void element.getBoundingClientRect();
    element.classList.add("flash");
  };

  let matches = [], at = -1;
  const choose = (index) => {
    at = index;
    [...list.children].forEach((item, k) => item.setAttribute("aria-selected", k === at));
    const chosen = list.children[at];
    if (chosen) { input.setAttribute("aria-activedescendant", chosen.id); chosen.scrollIntoView({ block: "nearest" }); }
    else input.removeAttribute("aria-activedescendant");
  };
  const open = (on) => { list.hidden = !on; input.setAttribute("aria-expanded", on); };
  const go = (index) => {
    const entry = matches[index];
    if (!entry) return;
    choose(index);
    open(false);
    entry.go();
  };
  const find = () => {
    if (!entries) collect();
    document.querySelectorAll(".hit").forEach((element) => element.classList.remove("hit"));
    const words = one(input.value).trim().split(/(?<!,) /).filter(Boolean);
    const rank = (entry) => words.every((word) => entry.head.startsWith(word)) ? 0 : words.every((word) => entry.head.includes(word)) ? 1 : 2;
    matches = words.length ? entries.filter((entry) => words.every((word) => entry.text.includes(word))) : [];
    matches.sort((a, b) => rank(a) - rank(b));
    matches.forEach((entry) => entry.element.classList.add("hit"));
    document.documentElement.classList.toggle("finding", words.length > 0 && matches.length > 0);
    list.replaceChildren(...matches.slice(0, SHOWN).map((entry, index) => {
      const item = document.createElement("li"), parts = [["small", entry.kind], ["code", entry.title], ["span", entry.where]];
      item.id = "found" + index;
      item.setAttribute("role", "option");
      parts.forEach(([tag, text]) => { const part = document.createElement(tag); part.textContent = text; item.append(part, " "); });
      item.addEventListener("mousedown", (event) => { event.preventDefault(); go(index); });
      return item;
    }));
    said.textContent = words.length ? matches.length + " found" : "";
    choose(-1);
    open(matches.length > 0);
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", find);
  input.addEventListener("focus", () => { if (input.value) open(matches.length > 0); });
  input.addEventListener("blur", () => open(false));
  input.addEventListener("keydown", (event) => {
    const shown = list.children.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && shown) { event.preventDefault(); open(true); choose((at + step + shown) % shown); }
    else if (event.key === "Enter") { event.preventDefault(); go(Math.max(at, 0)); }
    else if (event.key === "Escape") {
      if (!list.hidden) { event.preventDefault(); open(false); } else { input.value = ""; find(); }
    }
  });
  addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, textarea, select");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") { event.preventDefault(); input.focus(); input.select(); }
    else if ((event.key === "n" || event.key === "N") && matches.length) {
      const shown = list.children.length;
      go((at + (event.key === "n" ? 1 : -1) + shown) % shown);
    }
  });
})();
