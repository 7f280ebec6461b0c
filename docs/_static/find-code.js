// The box above the list of codes: finds the pages whose messages share most words with the text that is typed.
"use strict";
(() => {
  const box = document.getElementById("find-code");
  const list = document.getElementById("found-codes");
  const codes = window.gradtapeCodes || [];
  const wordsOf = (text) => text.toLowerCase().match(/[a-z_][a-z0-9_]+/g) || [];
  const pages = codes.map((entry) => {
    const weights = new Map();
    for (const [part, weight] of [[entry.title, 3], [entry.others, 2], [entry.ours, 1]]) {
      for (const word of wordsOf(part)) weights.set(word, Math.max(weight, weights.get(word) || 0));
    }
    return { ...entry, weights, text: `${entry.title} ${entry.ours} ${entry.others}`.toLowerCase() };
  });
  const frequency = new Map();
  for (const page of pages) for (const word of page.weights.keys()) frequency.set(word, 1 + (frequency.get(word) || 0));

  function search(typed) {
    const code = typed.match(/\bGT\d{1,3}\b/i);
    if (code) return pages.filter((page) => page.code.startsWith(code[0].toUpperCase()));
    const words = [...new Set(wordsOf(typed))];
    if (!words.length) return [];
    const phrase = typed.toLowerCase().replace(/\s+/g, " ").trim();
    const scored = pages.map((page) => {
      let score = phrase.length > 8 && page.text.includes(phrase) ? 100 : 0;
      for (const word of words) {
        const weight = page.weights.get(word);
        if (weight) score += weight * Math.log(1 + pages.length / frequency.get(word));
      }
      return { page, score };
    });
    const best = Math.max(...scored.map((each) => each.score));
    return scored
      .filter((each) => each.score > 0 && each.score >= 0.4 * best)
      .sort((one, other) => other.score - one.score)
      .slice(0, 6)
      .map((each) => each.page);
  }

  box.addEventListener("input", () => {
    list.replaceChildren(
      ...search(box.value).map((page) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = `${page.code}.html`;
        link.textContent = `${page.code}: ${page.title}`;
        item.append(link);
        return item;
      }),
    );
  });
})();
