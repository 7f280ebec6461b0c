// Tables are sorted by the heading that is clicked, or that Enter is pressed on: upwards, downwards, as they were.
(() => {
  const words = new Intl.Collator(undefined, { numeric: true });
  const valueOf = (cell) => {
    const shape = cell.querySelector(".shape"), text = cell.textContent.trim();
    if (shape) return [...shape.querySelectorAll(".axis")].reduce((product, axis) => product * (parseFloat(axis.textContent) || 1), 1);
    if (cell.dataset.value) return parseFloat(cell.dataset.value);
    if (!cell.classList.contains("number")) return text;
    if (/^(NaN|-?inf)/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
    const number = parseFloat(text.replace(/\s/g, ""));
    return Number.isNaN(number) ? -Infinity : number;
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b || 0 : words.compare(a, b);
  document.querySelectorAll("table.sortable").forEach((table) => {
    const body = table.tBodies[0], first = [...body.rows], heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button"), next = { none: "ascending", ascending: "descending", descending: "none" };
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const order = next[head.getAttribute("aria-sort")], sign = order === "descending" ? -1 : 1;
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", order);
        const keys = new Map(first.map((row) => [row, valueOf(row.cells[column])]));
        const rows = order === "none" ? first : [...first].sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
        body.append(...rows);
      });
    });
  });
})();
